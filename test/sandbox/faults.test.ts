import assert from 'node:assert/strict';

import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { at, Caller, CONFIG_MAPS, configMap, eventually } from './apiCalls.ts';

describe('sandbox: faults on request', () => {
  let sandbox: Sandbox;
  let caller: Caller;

  beforeEach(async () => {
    sandbox = await startSandbox();
    caller = new Caller(sandbox);
  });
  afterEach(async () => {
    caller.close();
    await sandbox.stop();
  });

  it('a throttled request is answered 429 with Retry-After and not executed, as often as asked', async () => {
    sandbox.faults.add({ kind: 'throttle', retryAfterSeconds: 3, times: 1, match: { verb: 'create' } });
    const refused = await caller.send('POST', CONFIG_MAPS, configMap('a'));
    assert.deepEqual(
      [refused.status, refused.headers['retry-after'], refused.body['reason']],
      [429, '3', 'TooManyRequests'],
    );
    assert.equal((await caller.send('GET', `${CONFIG_MAPS}/a`)).status, 404);
    assert.equal((await caller.send('POST', CONFIG_MAPS, configMap('a'))).status, 201);
  });

  it('a lost answer comes after the commit', async () => {
    sandbox.faults.add({ kind: 'lost-answer', times: 1, match: { resource: 'configmaps', verb: 'create' } });
    await assert.rejects(caller.send('POST', CONFIG_MAPS, configMap('a')));
    assert.equal((await caller.send('GET', `${CONFIG_MAPS}/a`)).status, 200);
  });

  it('a server error of each code is answered as a Status', async () => {
    for (const code of [500, 502, 503, 504] as const) {
      sandbox.faults.add({ kind: 'error', code, times: 1 });
      const reply = await caller.send('GET', CONFIG_MAPS);
      assert.deepEqual([reply.status, reply.body['kind'], reply.body['code']], [code, 'Status', code]);
    }
  });

  it('latency delays what it matches and nothing else', async () => {
    sandbox.faults.add({ kind: 'latency', ms: 150, match: { verb: 'list' } });
    const before = performance.now();
    await caller.send('GET', `${CONFIG_MAPS}/none`);
    const between = performance.now();
    await caller.send('GET', CONFIG_MAPS);
    assert.ok(performance.now() - between >= 140);
    assert.ok(between - before < 140);
  });

  it('a mutating webhook changes what is stored, owned by nobody who asked for it', async () => {
    sandbox.faults.add({ kind: 'mutate', patch: { metadata: { labels: { injected: 'yes' } } } });
    const { body } = await caller.send('POST', CONFIG_MAPS, configMap('a'));
    assert.equal(at(body, 'metadata.labels.injected'), 'yes');
  });

  it('a cut watch breaks off, an expired one ends with the event of code 410', async () => {
    const path = `${CONFIG_MAPS}?watch=true`;
    const cut = await caller.stream(path);
    assert.equal(sandbox.cutWatches({ resource: 'configmaps' }), 1);
    await eventually('the watch is cut', () => cut.ended === 'cut');
    const expired = await caller.stream(path);
    assert.equal(sandbox.expireWatches(), 1);
    await eventually('the watch ends', () => expired.ended === 'cleanly');
    assert.deepEqual([at(expired.lines[0], 'type'), at(expired.lines[0], 'object.code')], ['ERROR', 410]);
  });

  it('after a compaction the past can neither be listed nor watched from', async () => {
    const first = (await caller.send('POST', CONFIG_MAPS, configMap('a'))).body;
    await caller.send('POST', CONFIG_MAPS, configMap('b'));
    sandbox.store.compact();
    const token = String(at(first, 'metadata.resourceVersion'));
    const list = await caller.send('GET', `${CONFIG_MAPS}?resourceVersion=${token}&resourceVersionMatch=Exact`);
    assert.equal(list.status, 410);
    const watch = await caller.stream(`${CONFIG_MAPS}?watch=true&resourceVersion=${token}`);
    await eventually('the error arrives', () => watch.lines.length > 0);
    assert.equal(at(watch.lines[0], 'object.reason'), 'Expired');
  });

  it('restored storage gives tokens out again for other contents, and ends the watches', async () => {
    await caller.send('POST', CONFIG_MAPS, configMap('a'));
    const backup = sandbox.snapshot();
    const watch = await caller.stream(`${CONFIG_MAPS}?watch=true`);
    const lost = await caller.patch(`${CONFIG_MAPS}/a`, { data: { k: 'lost' } });
    assert.ok(sandbox.restore(backup));
    await eventually('the watch ends', () => watch.ended === 'cleanly');
    assert.equal(at((await caller.send('GET', `${CONFIG_MAPS}/a`)).body, 'data.k'), 'v');
    const again = await caller.patch(`${CONFIG_MAPS}/a`, { data: { k: 'other' } });
    assert.equal(at(again.body, 'metadata.resourceVersion'), at(lost.body, 'metadata.resourceVersion'));
    assert.notEqual(at(again.body, 'data.k'), at(lost.body, 'data.k'));
  });

  it('the reads of a lagging address show the past, its writes do not', async () => {
    await caller.send('POST', CONFIG_MAPS, configMap('a', 'old'));
    const lagging = new Caller(sandbox, { url: await sandbox.openLaggingAddress(400) });
    await eventually('the past is reached', async () => (await lagging.send('GET', `${CONFIG_MAPS}/a`)).status === 200);
    const fresh = await caller.patch(`${CONFIG_MAPS}/a`, { data: { k: 'new' } });
    assert.equal(at((await lagging.send('GET', `${CONFIG_MAPS}/a`)).body, 'data.k'), 'old');
    const stale = (await lagging.send('GET', `${CONFIG_MAPS}/a`)).body;
    assert.equal((await lagging.send('PUT', `${CONFIG_MAPS}/a`, stale)).status, 409);
    await eventually(
      'it catches up',
      async () =>
        at((await lagging.send('GET', `${CONFIG_MAPS}/a`)).body, 'metadata.resourceVersion') ===
        at(fresh.body, 'metadata.resourceVersion'),
    );
    lagging.close();
  });

  it('the control endpoint does all of this for the admin and nothing for alice', async () => {
    const alice = new Caller(sandbox, { token: sandbox.userToken });
    assert.equal((await alice.send('GET', '/sandbox/faults')).status, 403);
    assert.equal((await caller.send('POST', '/sandbox/faults', { kind: 'nonsense' })).status, 400);
    const { status, body } = await caller.send('POST', '/sandbox/faults', { kind: 'error', code: 503, times: 2 });
    assert.equal(status, 201);
    assert.deepEqual((await caller.send('GET', '/sandbox/faults')).body, {
      faults: [{ id: body['id'], fault: { kind: 'error', code: 503, times: 2 }, left: 2 }],
    });
    assert.equal((await caller.send('GET', CONFIG_MAPS)).status, 503);
    assert.equal((await caller.send('DELETE', `/sandbox/faults/${String(body['id'])}`)).status, 200);
    assert.equal((await caller.send('GET', CONFIG_MAPS)).status, 200);
    const { body: taken } = await caller.send('POST', '/sandbox/snapshot');
    assert.equal((await caller.send('POST', '/sandbox/restore', taken)).status, 200);
    assert.equal((await caller.send('POST', '/sandbox/restore', { snapshot: 'none' })).status, 400);
    assert.equal((await caller.send('POST', '/sandbox/compact')).status, 200);
    assert.match(
      String((await caller.send('POST', '/sandbox/lagging-address', { lagMs: 10 })).body['url']),
      /^https:\/\/127\.0\.0\.1:/,
    );
    assert.equal((await caller.send('POST', '/sandbox/nothing')).status, 404);
    alice.close();
  });
});
