// Core: from the bytes of a trace to its projections, beside bare JSON.parse of the same bytes, in turn in one process, by the
// processor time of the thread that does the work.
// One JSON object on stdout; exits with 1 where a target is missed.
import { EventLog } from '../../src/core/eventLog.ts';
import { TraceReader } from '../../src/core/trace.ts';
import { changeLabel } from '../../src/core/versionChange.ts';
import { traceLines } from './traceFixture.ts';

const EVENTS = 60_000;
const RUNS = 5;
const CHUNK = 1024 * 1024;
const TARGET = 0.4;

const bytes = Buffer.from([...traceLines(EVENTS)].join(''));

/** What a reader of traces does: pieces of bytes, lines, events, history, and every version's change and actor. */
function project(): number {
  const decoder = new TextDecoder();
  const reader = new TraceReader();
  const log = new EventLog();
  for (let at = 0; at < bytes.length; at += CHUNK) {
    log.replay(reader.push(decoder.decode(bytes.subarray(at, at + CHUNK), { stream: true })));
  }
  log.replay(reader.end());
  let changes = 0;
  for (const { incarnations } of log.history.names.values()) {
    for (const { versions } of incarnations) {
      for (const version of versions)
        if (changeLabel(version.changed) !== 'unknown' && version.actorKnown !== undefined) changes += 1;
    }
  }
  return changes;
}

function parseOnly(): number {
  let count = 0;
  for (const line of new TextDecoder().decode(bytes).split('\n')) {
    if (line !== '') count += JSON.parse(line) === null ? 0 : 1;
  }
  return count;
}

/** Processor time of this thread: what else the machine does meanwhile counts for neither side. */
function seconds(work: () => number): number {
  const start = process.threadCpuUsage();
  if (work() === 0) throw new Error('nothing was done');
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1e6;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

seconds(project);
seconds(parseOnly);
const times = { project: [] as number[], parse: [] as number[] };
for (let run = 0; run < RUNS; run += 1) {
  globalThis.gc?.();
  times.parse.push(seconds(parseOnly));
  globalThis.gc?.();
  times.project.push(seconds(project));
}
const perSecond = { project: EVENTS / median(times.project), parse: EVENTS / median(times.parse) };
const ratio = perSecond.project / perSecond.parse;
const holds = ratio >= TARGET;
process.stdout.write(
  `${JSON.stringify({
    name: 'core: events per second from bytes to projections, as a share of bare JSON.parse',
    ratio: Number(ratio.toFixed(3)),
    target: `>= ${TARGET}`,
    holds,
    sides: {
      'reader, log, history, changes and actors': {
        eventsPerSecond: Math.round(perSecond.project),
        seconds: times.project,
      },
      'decode, split, JSON.parse': { eventsPerSecond: Math.round(perSecond.parse), seconds: times.parse },
    },
    input: { events: EVENTS, megabytes: Math.round(bytes.length / 1e6) },
    node: process.version,
  })}\n`,
);
if (!holds) process.exitCode = 1;
