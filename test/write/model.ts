import { SendFailure, type Server, type ServerReply, type ServerRequest } from '../../src/base/server.ts';
import type { JsonObject } from '../../src/codec/json.ts';
import type { ModifyOptions } from '../../src/write/options.ts';
import type { Report } from '../../src/write/report.ts';
import type { Target } from '../../src/write/target.ts';
import { FakeClock } from './fakeClock.ts';
import { FakeServer, type Commit, type FakeServerOptions } from './fakeServer.ts';

/** What may go wrong in one run, each so many times. */
export interface Faults {
  /** Answers to writes that are lost, before or after the commit. */
  readonly lost: number;
  /** Reads answered with the version before. */
  readonly lag: number;
  /** Deletions of the object. */
  readonly deletes: number;
  /** Deletions followed at once by a creation under the same name. */
  readonly recreations: number;
}

/** One writer: what it wants, and how it goes about it. */
export interface WriterSpec {
  readonly write: (server: Server, target: Target, options: ModifyOptions) => Promise<Report>;
  readonly options?: Partial<ModifyOptions>;
  /** Whether it names the first incarnation as its target. */
  readonly pinned: boolean;
}

/** What all runs of one exploration share. */
export interface ModelSpec {
  readonly initial: JsonObject;
  readonly writers: readonly WriterSpec[];
  readonly faults: Faults;
  readonly server?: FakeServerOptions;
  /** Changes requests on their way: how the checks are taken out to see that the model notices. */
  readonly tamper?: (request: ServerRequest) => ServerRequest;
}

/** All that happened in one run. */
export interface Run {
  readonly reports: readonly Report[];
  readonly commits: readonly (Commit & { readonly writer: number | undefined })[];
  readonly requests: readonly number[];
  /** The choices that led here, readable. */
  readonly steps: readonly string[];
}

interface Waiting {
  readonly writer: number;
  readonly request: ServerRequest;
  readonly since: number;
  readonly answer: (reply: ServerReply) => void;
  readonly fail: (error: Error) => void;
}

/** One thing that can happen next. */
interface Choice {
  readonly label: string;
  readonly act: () => void;
  /** The writer whose plain read this is: plain reads of different writers commute. */
  readonly read?: Waiting;
}

const target: Target = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  namespace: 'lab',
  name: 'demo',
};

/**
 * Every run of the model: each interleaving of the writers' requests with each way to spend the faults. Two plain reads that
 * follow each other are taken in one order only, and writers begin in order, as they are alike.
 * Returns how many runs there were; `check` throws where one is wrong.
 */
export async function explore(spec: ModelSpec, check: (run: Run) => void, limit = Infinity): Promise<number> {
  let prefix: number[] = [];
  let runs = 0;
  for (;;) {
    const { run, taken, widths } = await runOnce(spec, prefix);
    if (run !== undefined) {
      runs += 1;
      check(run);
    }
    let last = taken.length - 1;
    while (last >= 0 && (taken[last] ?? 0) + 1 >= (widths[last] ?? 0)) last -= 1;
    if (last < 0 || runs >= limit) return runs;
    prefix = [...taken.slice(0, last), (taken[last] ?? 0) + 1];
  }
}

async function runOnce(
  spec: ModelSpec,
  prefix: readonly number[],
): Promise<{ run: Run | undefined; taken: number[]; widths: number[] }> {
  const server = new FakeServer(spec.server);
  const first = server.create(spec.initial);
  const waiting: Waiting[] = [];
  const owners = new Map<ServerRequest, number>();
  const requests = spec.writers.map(() => 0);
  const left = { ...spec.faults };
  let step = 0;
  const connect = (writer: number): Server => ({
    send: (sent) =>
      new Promise((answer, fail) => {
        const request = spec.tamper?.(sent) ?? sent;
        owners.set(request, writer);
        requests[writer] = (requests[writer] ?? 0) + 1;
        waiting.push({ writer, request, since: step, answer, fail });
      }),
  });
  const clock = new FakeClock();
  const reports: Report[] = [];
  let failure: unknown;
  for (const [index, writer] of spec.writers.entries()) {
    const uid = (first['metadata'] as JsonObject)['uid'] as string;
    const goal = writer.pinned ? { ...target, uid } : target;
    const options = { clock, maxAttempts: 3, ...writer.options };
    void (async () => {
      try {
        reports[index] = await writer.write(connect(index), goal, options);
      } catch (error) {
        failure = error;
      }
    })();
  }
  const taken: number[] = [];
  const widths: number[] = [];
  const steps: string[] = [];
  const begun = new Set<number>();
  let lastRead: Waiting | undefined;
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    if (failure !== undefined) throw new Error('A write failed.', { cause: failure });
    if (waiting.length === 0) break;
    const choices = choicesOf(server, waiting, left, begun, lastRead, step);
    // All that is left to do has been seen in another order.
    if (choices.length === 0) return { run: undefined, taken, widths };
    const index = prefix[taken.length] ?? 0;
    const choice = choices[index];
    if (choice === undefined) throw new Error(`The model is not deterministic after ${steps.join(', ')}.`);
    taken.push(index);
    widths.push(choices.length);
    steps.push(choice.label);
    lastRead = choice.read;
    step += 1;
    if (spec.server?.oneSecond !== true) server.now += 1000;
    choice.act();
  }
  const commits = server.commits.map((commit) => ({
    ...commit,
    writer: commit.request === undefined ? undefined : owners.get(commit.request),
  }));
  return { run: { reports, commits, requests, steps }, taken, widths };
}

function choicesOf(
  server: FakeServer,
  waiting: Waiting[],
  left: { lost: number; lag: number; deletes: number; recreations: number },
  begun: Set<number>,
  lastRead: Waiting | undefined,
  step: number,
): Choice[] {
  const choices: Choice[] = [];
  const take = (one: Waiting): void => {
    waiting.splice(waiting.indexOf(one), 1);
    begun.add(one.writer);
  };
  for (const one of waiting) {
    const { writer, request } = one;
    if (!begun.has(writer) && writer > begun.size) continue;
    const isRead = request.method === 'GET';
    const isWatch = request.query?.['watch'] === 'true';
    // This read was already waiting when the last read was taken, by a later writer: the other order has been seen.
    const commutes = isRead && lastRead !== undefined && lastRead.writer > writer && one.since < step;
    if (!commutes) {
      choices.push({
        label: `${writer}:${isWatch ? 'WATCH' : request.method}`,
        act: () => {
          take(one);
          one.answer(server.answer(request));
        },
        ...(isRead ? { read: one } : {}),
      });
    }
    const lagging = isRead && !isWatch && left.lag > 0 ? server.lagging() : undefined;
    if (lagging !== undefined) {
      choices.push({
        label: `${writer}:GET(behind)`,
        act: () => {
          left.lag -= 1;
          take(one);
          one.answer(lagging);
        },
      });
    }
    if (!isRead && left.lost > 0) {
      for (const committed of [false, true]) {
        choices.push({
          label: `${writer}:${request.method}(lost ${committed ? 'after' : 'before'} commit)`,
          act: () => {
            left.lost -= 1;
            take(one);
            if (committed) server.answer(request);
            one.fail(new SendFailure('The connection was cut.', 'maybe'));
          },
        });
      }
    }
  }
  if (server.object !== undefined && left.deletes > 0) {
    choices.push({
      label: 'delete',
      act: () => {
        left.deletes -= 1;
        server.remove();
      },
    });
  }
  if (left.recreations > 0) {
    choices.push({
      label: 'recreate',
      act: () => {
        left.recreations -= 1;
        server.remove();
        server.create({ data: { count: '0' } });
      },
    });
  }
  return choices;
}
