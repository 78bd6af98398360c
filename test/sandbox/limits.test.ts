import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { startScenario, type RunningScenario } from '../../src/sandbox/scenario.ts';
import { Caller, CONFIG_MAPS, configMap } from './apiCalls.ts';

describe('sandbox: what is too much for it', () => {
  let running: RunningScenario;
  let caller: Caller;
  const errors: unknown[] = [];

  beforeEach(async () => {
    running = await startScenario({ scenario: 'bare', onError: (error) => errors.push(error) });
    caller = new Caller(running.sandbox);
  });
  afterEach(async () => {
    caller.close();
    await running.stop();
  });

  it('an object nested too deeply is refused with 400, whatever the number of levels, and nothing is stored', async () => {
    for (const levels of [600, 4_000, 9_999, 30_000]) {
      const deep = '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
      const body = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"deep"},"data":${deep}}`;
      const created = await caller.send('POST', CONFIG_MAPS, body);
      assert.ok([400, 422].includes(created.status), `${levels}: ${created.status}`);
      await caller.send('POST', CONFIG_MAPS, configMap('flat'));
      const merge = { 'content-type': 'application/merge-patch+json' };
      const patched = await caller.send('PATCH', `${CONFIG_MAPS}/flat`, `{"data":${deep}}`, merge);
      assert.ok([400, 422].includes(patched.status), `${levels}: ${patched.status}`);
    }
    assert.equal((await caller.send('GET', `${CONFIG_MAPS}/deep`)).status, 404);
    assert.deepEqual(errors, []);
  });

  it('so many steps at once are refused; those that are taken end when the scenario does', async () => {
    for (const steps of [1e9, 10_001, 1.5])
      assert.equal((await caller.send('POST', '/sandbox/step', { steps })).status, 400, String(steps));
    assert.equal((await caller.send('POST', '/sandbox/step', { steps: 10_000 })).status, 200);
    const endless = running.step(1e12);
    await delay(50);
    await running.stop();
    assert.deepEqual(await endless, []);
  });

  it('steps end when the client leaves', async () => {
    const left = new AbortController();
    const endless = running.sandbox.onStep?.(1e12, left.signal);
    await delay(20);
    left.abort();
    assert.deepEqual(await endless, []);
  });
});
