import assert from 'node:assert/strict';
import { message } from '../../src/base/message.ts';
import { FindingStore, type Report } from '../../src/core/findings/findingStore.ts';
import { english } from '../../src/core/timeline/translate.ts';
import { configMap, Scenario } from './scenario.ts';

const report = (key: string, part: string, at: number): Report => ({
  key,
  part,
  id: 'lost-update',
  cluster: 'c1',
  object: { group: '', resource: 'configmaps', namespace: 'lab', name: key, uid: 'u' },
  actors: ['A'],
  fields: [],
  events: [at],
  at,
  explanation: message`lost`,
  remedy: message`read again`,
});

describe('the findings of a log', () => {
  it('that happen thousands of times take the room of one, and are counted once each', () => {
    const store = new FindingStore(100, english);
    for (let at = 1; at <= 3_000; at += 1) store.report(report('often', `part ${at}`, at));
    for (let at = 2_500; at <= 3_000; at += 1) store.report(report('often', `part ${at - 500}`, at));
    store.report(report('once', '', 9));
    assert.equal(store.dropped, 0);
    assert.deepEqual(
      store.all().map(({ object, count, firstAt, lastAt }) => [object.name, count, firstAt, lastAt]),
      [
        ['often', 3_000, 1, 3_000],
        ['once', 1, 9, 9],
      ],
    );
  });

  it('are of one incarnation each, whatever their key, and are taken back so', () => {
    const store = new FindingStore(100, english);
    const told = report('one', 'part', 1);
    store.report(told);
    store.report({ ...told, object: { ...told.object, uid: 'v' } });
    assert.deepEqual(
      store.all().map(({ object, count }) => [object.uid, count]),
      [
        ['u', 1],
        ['v', 1],
      ],
    );
    store.retract({ key: 'one', uid: 'u' }, 'part');
    assert.deepEqual(
      store.all().map(({ object }) => object.uid),
      ['v'],
    );
  });

  it('count each refused creation of a loop once, however long it is', () => {
    const s = new Scenario();
    s.stream(configMap(), 'U1', 'v1', {});
    for (let at = 0; at < 1_200; at += 1)
      s.write('A', configMap(), 'create', { outcome: 'already-exists', code: 409, body: {} });
    const [loop, ...others] = s.findings().filter(({ severity }) => severity !== 'info');
    assert.deepEqual(others, []);
    assert.deepEqual([loop?.id, loop?.count], ['already-exists-loop', 1_200]);
    assert.match(loop?.explanation ?? '', /tried 1200 times/);
  });
});
