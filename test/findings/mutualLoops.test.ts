import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import { configMap, Scenario } from './scenario.ts';

const map = configMap();

/** What A and B, who both watch an object, write in turn; `content` by the number of the write. */
function inTurn(content: (step: number) => JsonObject, pauseMs = 0): Scenario {
  const s = new Scenario();
  s.stream(map, 'U1', 'v0', content(0));
  for (const client of ['A', 'B']) s.watched(client, map, 'U1', 'v0');
  for (let step = 1; step <= 24; step += 1) {
    const writer = step % 2 === 0 ? 'A' : 'B';
    s.wait(pauseMs);
    s.write(writer, map, 'patch', {
      patchType: 'merge-patch',
      body: content(step),
      startedAt: s.at,
      result: { uid: 'U1', token: `v${step}` },
      stored: content(step),
    });
    for (const client of ['A', 'B']) s.watched(client, map, 'U1', `v${step}`);
  }
  return s;
}

const stamped = (step: number): JsonObject => ({
  data: { a: `at ${step - (step % 2)}`, b: `at ${step - ((step + 1) % 2)}` },
});

describe('two controllers on one object', () => {
  it('wake each other where each stamps the object whenever the other one did', () => {
    const s = inTurn(stamped);
    assert.deepEqual(s.told(), ['update-loop/mutual']);
    const [loop] = s.findings().filter(({ id }) => id === 'update-loop');
    assert.deepEqual(loop?.actors.toSorted(), ['A', 'B']);
    assert.deepEqual(loop.fields, ['.data.a', '.data.b']);
  });

  it('do not where one of them repeats what the other asked for, or where each comes by a timer', () => {
    const asked = (step: number): JsonObject => ({
      data: { wanted: `step ${Math.ceil(step / 2)}`, done: `step ${Math.floor(step / 2)}` },
    });
    assert.deepEqual(inTurn(asked).told(), []);
    assert.deepEqual(inTurn(stamped, 400).told(), []);
  });

  it('steal a lock where neither sends its token', () => {
    const lease = { group: 'coordination.k8s.io', resource: 'leases', namespace: 'lab', name: 'leader' };
    for (const isChecked of [false, true]) {
      const s = new Scenario();
      const held = (by: string): JsonObject => ({ spec: { holderIdentity: by } });
      s.stream(lease, 'U1', 'v1', held('nobody'));
      for (const client of ['A', 'B']) s.get(client, lease, 'U1', 'v1');
      const take = (client: string, from: string, to: string): void =>
        s.write(client, lease, 'patch', {
          patchType: 'merge-patch',
          body: held(client),
          ...(isChecked ? { preconditions: { token: from } } : {}),
          result: { uid: 'U1', token: to },
          stored: held(client),
        });
      take('A', 'v1', 'v2');
      if (isChecked) s.get('B', lease, 'U1', 'v2');
      take('B', 'v2', 'v3');
      assert.deepEqual(s.told(), isChecked ? [] : ['lost-update/unconditional-overwrite']);
    }
  });
});
