import assert from 'node:assert/strict';
import { AppError, isAppError, type ErrorCode } from '../../src/base/appError.ts';
import { systemClock } from '../../src/base/clock.ts';
import { SendFailure, type Server } from '../../src/base/server.ts';
import type { Cluster } from '../../src/kube/cluster.ts';
import { discover, type Discovery } from '../../src/kube/discovery.ts';
import { runContention } from '../../src/lab/contention.ts';
import { findLesson } from '../../src/lab/lessonFiles.ts';
import { LessonRun } from '../../src/lab/lessonRun.ts';
import { runReplay } from '../../src/lab/replay.ts';
import { replayTrace } from '../../src/lab/traceReplay.ts';
import { labServers, namesLeft, type LabServer } from './labCluster.ts';
import { recordingIn } from './recording.ts';

interface Given {
  readonly server: Server;
  readonly signal: AbortSignal;
  readonly resources: Discovery;
  readonly namespace: string;
}

const lesson =
  (id: string) =>
  async ({ server, signal, resources, namespace }: Given): Promise<void> => {
    const run = new LessonRun(findLesson(id), { server, signal, resources, namespace, clock: systemClock });
    try {
      await run.start();
      while (run.step !== undefined) {
        await run.solve();
        await run.check();
      }
    } finally {
      await run.end();
    }
  };

/** Every lab as a person's whole run of it. */
const labs: Readonly<Record<string, (given: Given) => Promise<unknown>>> = {
  'the equality-token replay': ({ server, signal, namespace }) =>
    runReplay({ server, signal, namespace, clock: systemClock, suffix: 'interrupted' }),
  'the contention lab': ({ server, signal, namespace }) =>
    runContention({
      server,
      signal,
      namespace,
      clock: systemClock,
      suffix: 'interrupted',
      strategy: 'token-swap',
      actors: 2,
      updates: 2,
      thinkMs: 0,
      seed: 1,
      maxAttempts: 10,
    }),
  'the replay of a recording': ({ server, signal, resources, namespace }) =>
    replayTrace(recordingIn('shop'), { server, signal, resources, namespace, clock: systemClock }),
  'a lesson with deletions': lesson('gone-and-recreated'),
  'a lesson with finalizers': lesson('patch-formats'),
  'a lesson with applies': lesson('ownership-and-apply'),
};

/** A server at whose n-th request the person interrupts: before it is sent, or after it was answered. */
function interruptedAt(server: Server, n: number, when: 'before' | 'after', interrupt: () => void): Server {
  let count = 0;
  return {
    send: async (request, signal) => {
      count += 1;
      const now = count === n;
      if (now && when === 'before') interrupt();
      const reply = await server.send(request, signal);
      if (now && when === 'after') interrupt();
      return reply;
    },
  };
}

/** What a connection fails with. */
const failure = (reached: SendFailure['reached'], code: ErrorCode): SendFailure =>
  new SendFailure('It failed.', reached, new AppError(code, 'It failed.'));

/** A server that does what its n-th request asks, whose answer never arrives. */
function answerLostAt(server: Server, n: number, onLost: () => void): Server {
  let count = 0;
  return {
    send: async (request, signal) => {
      count += 1;
      const isLost = count === n;
      const reply = await server.send(request, signal);
      if (!isLost) return reply;
      onLost();
      throw failure('maybe', 'connection-lost');
    },
  };
}

/** A server that is gone from its n-th request on. */
function goneFrom(server: Server, n: number): Server {
  let count = 0;
  return {
    send: (request, signal) => {
      count += 1;
      return count < n ? server.send(request, signal) : Promise.reject(failure('no', 'unreachable'));
    },
  };
}

/** Every request is one too many on a server that writes to a disk: there every third. */
const strides: Readonly<Record<string, number>> = { 'the real server': 3, 'the sandbox': 1 };

for (const [on, stride] of Object.entries(strides))
  describe(`labs that are interrupted, on ${on}`, function () {
    this.timeout(120_000);
    let server: LabServer;
    let cluster: Cluster;
    let resources: Discovery;
    before(async function () {
      const start = labServers[on];
      assert.ok(start !== undefined);
      server = await start(this);
      ({ cluster } = server);
      resources = await discover(cluster, AbortSignal.timeout(10_000));
    });
    after(() => server?.stop());

    for (const [name, run] of Object.entries(labs))
      for (const when of ['before', 'after'] as const)
        it(`${name} leaves nothing behind, interrupted ${when} any of its requests`, async () => {
          for (let n = 1, wasReached = true; wasReached; n += stride) {
            const interruption = new AbortController();
            const given = {
              server: interruptedAt(cluster, n, when, () => interruption.abort()),
              signal: interruption.signal,
              resources,
              namespace: server.namespace,
            };
            try {
              await run(given);
            } catch (error) {
              assert.ok(isAppError(error, 'cancelled'), `request ${n}: ${String(error)}`);
            }
            wasReached = interruption.signal.aborted;
            assert.deepEqual(await namesLeft(server), [], `request ${n}`);
          }
        });

    for (const [name, run] of Object.entries(labs))
      it(`${name} leaves nothing behind without saying so, whichever answer is lost`, async () => {
        for (let n = 1, wasReached = true; wasReached; n += stride) {
          wasReached = false;
          let said = '';
          const given = {
            server: answerLostAt(cluster, n, () => (wasReached = true)),
            signal: new AbortController().signal,
            resources,
            namespace: server.namespace,
          };
          try {
            await run(given);
          } catch (error) {
            assert.ok(isAppError(error), `request ${n}: ${String(error)}`);
            said = /could not be removed: (.*?)\. /.exec(error.message)?.[1] ?? '';
          }
          const paths = said === '' ? [] : said.split(', ');
          const left = await namesLeft(server);
          for (const path of paths) {
            const headers = { 'content-type': 'application/merge-patch+json' };
            const body = '{"metadata":{"finalizers":null}}';
            await cluster.send({ method: 'PATCH', path, headers, body }, AbortSignal.timeout(5000));
            await cluster.send({ method: 'DELETE', path }, AbortSignal.timeout(5000));
          }
          assert.ok(left.length <= paths.length, `request ${n}: left ${left.join(', ')}, said "${said}"`);
          assert.deepEqual(await namesLeft(server), [], `request ${n}`);
        }
      });

    it('the safe strategies do not go on against a server that is gone', async () => {
      let ahead = 0;
      const hurried = {
        ...systemClock,
        now: () => systemClock.now() + ahead,
        // Pauses are skipped, time limits are not.
        delay: (ms: number, signal?: AbortSignal) => {
          if (ms > 2000) return systemClock.delay(ms, signal);
          ahead += ms;
          return Promise.resolve();
        },
      };
      for (const strategy of ['read-modify-write', 'apply'] as const) {
        const run = runContention({
          server: goneFrom(cluster, 20),
          signal: new AbortController().signal,
          namespace: server.namespace,
          clock: hurried,
          suffix: strategy,
          strategy,
          actors: 1,
          updates: 100_000,
          thinkMs: 0,
          seed: 1,
          maxAttempts: 10,
        });
        await assert.rejects(run, { code: 'unreachable' });
        const path = `/api/v1/namespaces/${server.namespace}/configmaps/versions-contention-${strategy}`;
        await cluster.send({ method: 'DELETE', path }, AbortSignal.timeout(5000));
      }
    });

    it('where the server is gone in the middle, say so and name what is left behind', async () => {
      for (const name of ['the equality-token replay', 'the contention lab', 'the replay of a recording'] as const) {
        const path: string[] = [];
        await assert.rejects(
          async () =>
            labs[name]?.({
              server: goneFrom(cluster, 8),
              signal: new AbortController().signal,
              resources,
              namespace: server.namespace,
            }),
          (error) => {
            assert.ok(isAppError(error, 'unreachable'), String(error));
            path.push(...(/could not be removed: (\S+)\./.exec(error.message)?.slice(1) ?? []));
            return true;
          },
        );
        assert.equal((await namesLeft(server)).length, 1, name);
        assert.ok(path[0] !== undefined, name);
        await cluster.send({ method: 'DELETE', path: path[0] }, AbortSignal.timeout(5000));
        assert.deepEqual(await namesLeft(server), [], name);
      }
    });
  });
