// A recorded hour with a million events, made here: from the file on disk through the log to the timeline's picture, in bounded
// memory, and each event at the cost of the first. By the processor time of this thread.
// One JSON object on stdout; exits with 1 where a target is missed.
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventLog } from '../../src/core/eventLog.ts';
import { matchFilter } from '../../src/core/timeline/filterMatch.ts';
import { layOut } from '../../src/core/timeline/layout.ts';
import { TimelineProjection } from '../../src/core/timeline/project.ts';
import { fitted } from '../../src/core/timeline/scale.ts';
import { sceneOf } from '../../src/core/timeline/scene.ts';
import { TimelineStore } from '../../src/core/timeline/store.ts';
import { english } from '../../src/core/timeline/translate.ts';
import { TraceReader } from '../../src/core/trace.ts';
import { readTraceFile } from '../../src/storage/traceFile.ts';
import { hourLines } from './hourFixture.ts';

const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 1_000_000);
const PART = EVENTS / 5;
const MAX_GROWTH = 2;
const MAX_HEAP_MB = 1500;
const MAX_PICTURE_MS = 1500;

const folder = await mkdtemp(join(tmpdir(), 'hour-bench-'));
const path = join(folder, 'hour.ovtrace.jsonl');

async function write(): Promise<void> {
  const file = createWriteStream(path);
  let text = '';
  for (const line of hourLines(EVENTS)) {
    text += line;
    if (text.length < 1 << 20) continue;
    if (!file.write(text)) await once(file, 'drain');
    text = '';
  }
  file.end(text);
  await once(file, 'finish');
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

try {
  await write();
  const log = new EventLog();
  const projection = new TimelineProjection({
    clusterLabel: (id) => id,
    translate: english,
    eventAt: (seq) => log.eventAt(seq),
  });
  const parts: number[] = [];
  let since = cpuMs();
  let taken = 0;
  for await (const events of readTraceFile(path, new TraceReader())) {
    projection.add(log.replay(events), log.history);
    taken += events.length;
    if (taken < PART * (parts.length + 1)) continue;
    parts.push(Math.round(cpuMs() - since));
    since = cpuMs();
  }
  globalThis.gc?.();
  const heapMb = Math.round(process.memoryUsage().heapUsed / 1e6);
  const model = projection.model();
  const start = cpuMs();
  const store = new TimelineStore(model);
  const match = matchFilter(store, { terms: [] });
  const scene = sceneOf({
    store,
    match,
    layout: layOut(store, match, { sort: 'name', collapsed: new Set(), opened: new Set(), compact: false }),
    annotationDim: () => false,
    scale: fitted(store.firstAt, store.lastAt, 1000),
    top: 0,
    height: 700,
    timeZoneOffsetMin: 0,
    translate: english,
    now: store.lastAt,
  });
  const pictureMs = Math.round(cpuMs() - start);
  const growth = Math.max(...parts.slice(1)) / (parts[0] ?? 1);
  const holds =
    taken === EVENTS &&
    growth <= MAX_GROWTH &&
    heapMb <= MAX_HEAP_MB &&
    pictureMs <= MAX_PICTURE_MS &&
    scene.bars.length > 0;
  process.stdout.write(
    `${JSON.stringify({
      name: 'hour: a recorded hour with a million events, from its file to the first picture',
      ratio: Number(growth.toFixed(2)),
      target: `no fifth costs more than ${MAX_GROWTH} times the first; heap <= ${MAX_HEAP_MB} MB; picture <= ${MAX_PICTURE_MS} ms`,
      holds,
      cpuMsOfEachFifth: parts,
      heapMb,
      pictureMs,
      marks: store.marks.length,
      input: { events: taken, megabytes: Math.round((await stat(path)).size / 1e6) },
      node: process.version,
    })}\n`,
  );
  if (!holds) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
