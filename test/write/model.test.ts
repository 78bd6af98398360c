import assert from 'node:assert/strict';
import type { ServerRequest } from '../../src/base/server.ts';
import { isJsonObject, parseJson, stringifyJson, type JsonObject } from '../../src/codec/json.ts';
import type { Intent } from '../../src/write/intent.ts';
import { modify } from '../../src/write/modify.ts';
import type { FinalOutcome, Strategy } from '../../src/write/outcome.ts';
import type { FakeServerOptions } from './fakeServer.ts';
import { releaseField } from '../../src/write/releaseField.ts';
import { explore, type Faults, type Run, type WriterSpec } from './model.ts';

const none: Faults = { lost: 0, lag: 0, deletes: 0, recreations: 0 };
const initial: JsonObject = { data: { count: '0' } };

/** A writer that modifies; its intent is made anew for every run. */
function by(intent: () => Intent): WriterSpec['write'] {
  return async (server, target, options) => modify(server, target, intent(), options);
}

/** Adds to the counter, computed anew from every read. */
function add(amount: number): () => Intent {
  return () => ({ kind: 'function', compute: (current) => added(current, amount) });
}

function added(current: JsonObject, amount: number): JsonObject {
  const data = isJsonObject(current['data']) ? current['data'] : {};
  return { ...current, data: { ...data, count: String(Number(data['count']) + amount) } };
}

/** The token swap: the content of the first read, sent again with the token of the newest one. */
function addWithoutRecomputing(amount: number): () => Intent {
  return () => {
    let first: JsonObject | undefined;
    return {
      kind: 'function',
      compute: (current) => {
        first ??= added(current, amount);
        return first;
      },
    };
  };
}

/** Sets a key of its own, as edits. */
function setKey(key: string): () => Intent {
  return () => ({ kind: 'changes', set: [[[{ field: 'data' }, { field: key }], 'set']], remove: [] });
}

/** Writers who each add one: what two of them send from one read is the same, under the same field manager. */
function twins(count: number, strategy: Strategy, more: Partial<WriterSpec> = {}): WriterSpec[] {
  return Array.from({ length: count }, () => ({
    write: by(add(1)),
    pinned: true,
    ...more,
    options: { strategy, ...more.options },
  }));
}

/** Writers who add 1, 2, 4: every sum tells who is in it. */
function adders(count: number, strategy: Strategy, intent: (amount: number) => () => Intent = add): WriterSpec[] {
  return Array.from({ length: count }, (_, index) => ({
    write: by(intent(2 ** index)),
    pinned: true,
    options: { strategy },
  }));
}

function keys(count: number, strategy: Strategy): WriterSpec[] {
  return Array.from({ length: count }, (_, index) => ({
    write: by(setKey(`k${index}`)),
    pinned: true,
    options: { strategy, fieldManager: `m${index}` },
  }));
}

/** A claim is given up by whoever created the object, while others write. */
function releaser(): WriterSpec {
  return {
    write: async (server, target, options) =>
      releaseField(server, target, [{ field: 'data' }, { field: 'count' }], options),
    pinned: true,
    options: { fieldManager: 'creator' },
  };
}

const dataOf = (object: JsonObject | undefined): JsonObject => (isJsonObject(object?.['data']) ? object['data'] : {});

function entriesOf(object: JsonObject | undefined): JsonObject[] {
  const metadata = isJsonObject(object?.['metadata']) ? object['metadata'] : {};
  const fields = metadata['managedFields'];
  return Array.isArray(fields) ? fields.filter(isJsonObject) : [];
}

const nothingStored: readonly FinalOutcome[] = [
  'unchanged',
  'contended',
  'unavailable',
  'needs-decision',
  'field-conflict',
  'invalid',
];

/** What must hold in every run, whatever happened in it. */
function checkRun(
  run: Run,
  expected: (before: JsonObject, after: JsonObject, writer: number) => void,
  pinned: boolean,
): void {
  const story = run.steps.join(', ');
  for (const { writer, before, object, uid } of run.commits) {
    if (writer === undefined) continue;
    assert.ok(before !== undefined, `a write made an object: ${story}`);
    if (pinned) assert.equal(uid, 'uid-1', `a write crossed into another incarnation: ${story}`);
    try {
      expected(dataOf(before), dataOf(object), writer);
    } catch (error) {
      throw new Error(`an update was lost: ${story}`, { cause: error });
    }
  }
  for (const [writer, report] of run.reports.entries()) {
    const own = run.commits.filter((commit) => commit.writer === writer);
    assert.ok(own.length <= 1, `writer ${writer} was stored ${own.length} times: ${story}`);
    assert.ok(new Set(own.map(({ uid }) => uid)).size <= 1, `writer ${writer} wrote to two incarnations: ${story}`);
    const saysStored = report.outcome === 'written';
    if (saysStored) assert.equal(own.length, 1, `writer ${writer} says written and is not: ${story}`);
    if (nothingStored.includes(report.outcome)) {
      assert.equal(own.length, 0, `writer ${writer} says ${report.outcome} and was stored: ${story}`);
    }
    const lost = report.attempts.some(({ outcome, settled }) => outcome === 'uncertain' && settled !== 'not-stored');
    if (own.length === 1 && !saysStored)
      assert.ok(lost, `writer ${writer} was stored and says ${report.outcome}: ${story}`);
    assert.ok(
      (run.requests[writer] ?? 0) <= 3 * 4 + 2,
      `writer ${writer} sent ${run.requests[writer]} requests: ${story}`,
    );
  }
}

function countsOneMore(before: JsonObject, after: JsonObject): void {
  assert.deepEqual(after, { ...before, count: String(Number(before['count']) + 1) });
}

function addsItsAmount(before: JsonObject, after: JsonObject, writer: number): void {
  assert.deepEqual(after, { ...before, count: String(Number(before['count']) + 2 ** writer) });
}

function setsOwnKey(before: JsonObject, after: JsonObject, writer: number): void {
  assert.deepEqual(after, { ...before, [`k${writer}`]: 'set' });
}

const conditional: readonly Strategy[] = ['replace', 'json-patch', 'merge-patch', 'strategic'];

describe('the small model of the safe write', function () {
  this.timeout(300_000);
  let total = 0;
  after(() => {
    process.stdout.write(`    the model ran ${total} interleavings\n`);
  });

  type Check = Parameters<typeof checkRun>[1];

  const explored = async (
    writers: readonly WriterSpec[],
    faults: Faults,
    expected: Check,
    server: FakeServerOptions = {},
  ): Promise<void> => {
    const pinned = writers.every((writer) => writer.pinned);
    total += await explore({ initial, writers, faults, server }, (run) => checkRun(run, expected, pinned));
  };

  for (const strategy of conditional) {
    it(`${strategy}: three writers of one counter lose nothing, in any order`, async () => {
      await explored(twins(3, strategy), none, countsOneMore);
      await explored(adders(3, strategy), none, addsItsAmount);
    });

    it(`${strategy}: nor with a server that is behind and a lost answer`, async () => {
      await explored(twins(2, strategy), { ...none, lost: 1, lag: 1 }, countsOneMore);
      await explored(adders(2, strategy), { ...none, lost: 1, lag: 1 }, addsItsAmount);
    });

    it(`${strategy}: nor when the object goes, or another takes its name, at any moment`, async () => {
      await explored(twins(2, strategy), { ...none, deletes: 1, lag: 1 }, countsOneMore);
      await explored(adders(2, strategy), { ...none, recreations: 1, lag: 1, lost: 1 }, addsItsAmount);
    });
  }

  for (const strategy of [...conditional, 'apply'] as const) {
    it(`${strategy}: edits of three writers are carried over each other`, async () => {
      total += await explore({ initial, writers: keys(3, strategy), faults: none }, (run) => {
        checkRun(run, setsOwnKey, true);
        assert.deepEqual(
          new Set(run.reports.map(({ outcome }) => outcome)),
          new Set(['written']),
          run.steps.join(', '),
        );
      });
    });

    it(`${strategy}: edits lose nothing and are never stored twice, whatever goes wrong`, async () => {
      await explored(keys(2, strategy), { ...none, lost: 1, lag: 1 }, setsOwnKey);
      await explored(keys(2, strategy), { ...none, lost: 1, recreations: 1 }, setsOwnKey);
    });
  }

  for (const strategy of [...conditional, 'apply'] as const) {
    it(`${strategy}: neither where tokens repeat in the next life, nor where writing to a free name creates`, async () => {
      const faults = { ...none, recreations: 1, deletes: 1, lost: 1 };
      await explored(keys(2, strategy), faults, setsOwnKey, { tokensRepeat: true });
      await explored(keys(2, strategy), faults, setsOwnKey, { upserts: true });
    });
  }

  it('three writers who write the same, with a lost answer', async () => {
    await explored(twins(3, 'replace'), { ...none, lost: 1 }, countsOneMore);
  });

  for (const strategy of [...conditional, 'apply'] as const) {
    it(`three writers by ${strategy}, with a deletion, a recreation, a lost answer, or a server that is behind`, async () => {
      for (const fault of ['deletes', 'recreations', 'lost', 'lag'] as const) {
        const faults = { ...none, [fault]: 1 };
        if (strategy === 'apply') await explored(keys(3, strategy), faults, setsOwnKey);
        else await explored(adders(3, strategy), faults, addsItsAmount);
      }
    });
  }

  it('two recreations and two lost answers', async () => {
    await explored(adders(2, 'replace'), { ...none, recreations: 2, lost: 2 }, addsItsAmount);
    await explored(twins(2, 'merge-patch'), { ...none, lost: 2, deletes: 1 }, countsOneMore);
  });

  it('a writer that was given no UID stays with the incarnation that it read first', async () => {
    await explored(twins(2, 'replace', { pinned: false }), { ...none, recreations: 1, lag: 1 }, countsOneMore);
  });

  it('lost answers of writers with managers of their own are told apart', async () => {
    const writers = ['a', 'b'].map((fieldManager) => ({
      write: by(add(1)),
      pinned: true,
      options: { fieldManager, soleManager: true },
    }));
    total += await explore({ initial, writers, faults: { ...none, lost: 2 } }, (run) => {
      checkRun(run, countsOneMore, true);
      const onlyAfter = !run.steps.some((step) => step.includes('before commit'));
      if (onlyAfter)
        assert.ok(
          run.reports.every(({ outcome }) => outcome === 'written'),
          run.steps.join(', '),
        );
    });
  });

  it('where nobody may watch, or all happens within a second, nothing is claimed that cannot be told', async () => {
    const sole = ['a', 'b'].map((fieldManager) => ({
      write: by(add(1)),
      pinned: true,
      options: { fieldManager, soleManager: true },
    }));
    for (const server of [{ noWatch: true }, { oneSecond: true }, { noWatch: true, oneSecond: true }]) {
      const faults = { ...none, lost: 2, lag: 1 };
      await explored(twins(2, 'replace'), faults, countsOneMore, server);
      await explored(adders(2, 'replace'), faults, addsItsAmount, server);
      await explored(sole, faults, countsOneMore, server);
      await explored(keys(2, 'apply'), faults, setsOwnKey, server);
      await explored(keys(2, 'merge-patch'), faults, setsOwnKey, server);
    }
  });

  it('a claim that is given up changes no value and no claim of others, whatever goes wrong', async () => {
    const others = (object: JsonObject | undefined, except: string): string =>
      stringifyJson(entriesOf(object).filter(({ manager }) => manager !== except));
    const check = (run: Run, releasers: number): void => {
      const isReleaser = (writer: number): boolean => writer < releasers;
      checkRun(
        run,
        (before, after, writer) =>
          isReleaser(writer) ? assert.deepEqual(after, before) : setsOwnKey(before, after, writer),
        true,
      );
      for (const { writer, before, object } of run.commits) {
        if (writer === undefined || !isReleaser(writer)) continue;
        const own = entriesOf(object).find(({ manager }) => manager === 'creator');
        assert.ok(!stringifyJson(own ?? {}).includes('f:count'), run.steps.join(', '));
        assert.equal(others(object, 'creator'), others(before, 'creator'), run.steps.join(', '));
      }
    };
    for (const faults of [
      none,
      { ...none, lost: 1, lag: 1 },
      { ...none, lost: 1, recreations: 1 },
      { ...none, lost: 2 },
    ]) {
      const writers = [releaser(), ...keys(2, 'replace').slice(1)];
      total += await explore({ initial, writers, faults }, (run) => check(run, 1));
    }
    const writers = [releaser(), ...keys(3, 'apply').slice(1)];
    total += await explore({ initial, writers, faults: none }, (run) => check(run, 1));
  });

  it('finds the claim that a release without a token brings back or takes away', async () => {
    const spec = {
      initial,
      writers: [releaser(), ...keys(2, 'replace').slice(1)],
      faults: none,
      tamper: without('resourceVersion'),
    };
    const exploring = explore(spec, (run) => {
      for (const { writer, before, object } of run.commits)
        if (writer === 0) assert.equal(entriesOf(object).length, entriesOf(before).length - 1, 'a claim was lost');
    });
    await assert.rejects(exploring, /a claim was lost/);
  });

  it('finds the loss of the token swap', async () => {
    const writers = adders(2, 'replace', addWithoutRecomputing);
    const exploring = explore({ initial, writers, faults: none }, (run) => checkRun(run, addsItsAmount, true));
    await assert.rejects(exploring, /an update was lost/);
  });

  it('finds the loss when writes go without a token', async () => {
    for (const strategy of conditional) {
      const spec = { initial, writers: adders(2, strategy), faults: none, tamper: without('resourceVersion') };
      await assert.rejects(
        explore(spec, (run) => checkRun(run, addsItsAmount, true)),
        /an update was lost/,
      );
    }
  });

  it('finds the write across incarnations when writes go without a UID', async () => {
    for (const strategy of [...conditional, 'apply'] as const) {
      const faults = { ...none, recreations: 1 };
      const spec = {
        initial,
        writers: keys(1, strategy),
        faults,
        server: { tokensRepeat: true },
        tamper: without('uid'),
      };
      await assert.rejects(
        explore(spec, (run) => checkRun(run, setsOwnKey, true)),
        /crossed into another incarnation/,
      );
    }
  });

  it('finds the object that a write without a UID brings back', async () => {
    for (const strategy of ['replace', 'apply'] as const) {
      const faults = { ...none, deletes: 1 };
      const spec = { initial, writers: keys(1, strategy), faults, server: { upserts: true }, tamper: without('uid') };
      await assert.rejects(
        explore(spec, (run) => checkRun(run, setsOwnKey, true)),
        /a write made an object/,
      );
    }
  });
});

/** Takes a member of metadata out of every write. */
function without(field: 'uid' | 'resourceVersion'): (request: ServerRequest) => ServerRequest {
  return (request) => {
    if (request.body === undefined) return request;
    const body = parseJson(request.body);
    if (Array.isArray(body)) {
      const rest = body.filter((operation) => !isJsonObject(operation) || operation['path'] !== `/metadata/${field}`);
      return { ...request, body: stringifyJson(rest) };
    }
    if (!isJsonObject(body) || !isJsonObject(body['metadata'])) return request;
    const { [field]: _gone, ...metadata } = body['metadata'];
    return { ...request, body: stringifyJson({ ...body, metadata }) };
  };
}
