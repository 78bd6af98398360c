import type { Clock } from '../../src/base/clock.ts';
import type { Server } from '../../src/base/server.ts';
import { isJsonObject, parseJson, stringifyJson, type Json, type JsonObject } from '../../src/codec/json.ts';
import type { ListSchema } from '../../src/core/listSchema.ts';
import type { Intent } from '../../src/write/intent.ts';
import { modify } from '../../src/write/modify.ts';
import type { Strategy } from '../../src/write/outcome.ts';

/** Who contends, for what. */
export interface ContendSpec {
  readonly namespace: string;
  readonly name: string;
  readonly writers: number;
  readonly updates: number;
  /** Appliers count in a key of their own; all others in one. */
  readonly strategy: Strategy;
  readonly clock: Clock;
  readonly schema?: ListSchema;
}

/** What came of it. `counter` is the sum that is stored at the end. */
export interface Contention {
  readonly accepted: number;
  readonly requests: number;
  readonly seconds: number;
  readonly counter: number;
}

/** Makes the ConfigMap in which writers count. */
export async function makeCounter(server: Server, namespace: string, name: string): Promise<void> {
  const answer = await server.send(
    {
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/configmaps`,
      headers: { 'content-type': 'application/json' },
      body: stringifyJson({ metadata: { name }, data: { count: '0' } }),
    },
    AbortSignal.timeout(30_000),
  );
  if (answer.status !== 201) throw new Error(`The counter was not made: ${answer.body}`);
}

/** Lets writers add to a counter, each until all of its updates are accepted. */
export async function contend(server: Server, spec: ContendSpec): Promise<Contention> {
  let requests = 0;
  const counting: Server = {
    send: async (request, signal) => {
      requests += 1;
      return server.send(request, signal);
    },
  };
  const target = {
    group: '',
    version: 'v1',
    resource: 'configmaps',
    kind: 'ConfigMap',
    namespaced: true,
    namespace: spec.namespace,
    name: spec.name,
  };
  let accepted = 0;
  const write = async (writer: number): Promise<void> => {
    const applies = spec.strategy === 'apply';
    const intent = addOne(applies ? `count-${writer}` : 'count');
    for (let done = 0; done < spec.updates;) {
      const report = await modify(counting, target, intent, {
        clock: spec.clock,
        strategy: spec.strategy,
        ...(applies ? { fieldManager: `writer-${writer}` } : {}),
        ...(spec.schema === undefined ? {} : { schema: spec.schema }),
        // A writer that gives up after the default number of attempts would only be asked again.
        maxAttempts: 1000,
        timeoutMs: 300_000,
      });
      if (report.outcome !== 'written') throw new Error(`A writer ended ${report.outcome}: ${String(report.message)}`);
      done += 1;
      accepted += 1;
    }
  };
  const begin = performance.now();
  await Promise.all(Array.from({ length: spec.writers }, async (_, writer) => write(writer)));
  const seconds = (performance.now() - begin) / 1000;
  return { accepted, requests, seconds, counter: await sum(server, spec) };
}

function addOne(key: string): Intent {
  return {
    kind: 'function',
    compute: (current) => ({
      ...current,
      data: { ...dataOf(current), [key]: String(numberOf(dataOf(current)[key]) + 1) },
    }),
  };
}

async function sum(server: Server, { namespace, name }: ContendSpec): Promise<number> {
  const path = `/api/v1/namespaces/${namespace}/configmaps/${name}`;
  const object = parseJson((await server.send({ method: 'GET', path }, AbortSignal.timeout(30_000))).body);
  return Object.values(dataOf(object)).reduce<number>((total, value) => total + numberOf(value), 0);
}

function dataOf(object: Json): JsonObject {
  const data = isJsonObject(object) ? object['data'] : undefined;
  return isJsonObject(data) ? data : {};
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'string' ? Number(value) : 0;
}
