import assert from 'node:assert/strict';

import { startScenario, type RunningScenario } from '../../src/sandbox/scenario.ts';
import { at, Caller, CONFIG_MAPS, configMap, eventually, type Answer } from './apiCalls.ts';

const owner = (object: Answer, more: Answer = {}): Answer => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: at(object, 'metadata.name'),
  uid: at(object, 'metadata.uid'),
  ...more,
});

describe('sandbox: garbage collection and namespaces', () => {
  let running: RunningScenario;
  let caller: Caller;

  before(async () => {
    running = await startScenario({ scenario: 'quiet', stepMs: 0 });
    caller = new Caller(running.sandbox);
  });
  after(async () => {
    caller.close();
    await running.stop();
  });

  const create = async (name: string, metadata: Answer = {}): Promise<Answer> =>
    (await caller.send('POST', CONFIG_MAPS, configMap(name, 'v', metadata))).body;
  const isGone = (name: string) => async (): Promise<boolean> =>
    (await caller.send('GET', `${CONFIG_MAPS}/${name}`)).status === 404;

  it('a dependent goes with its last owner', async () => {
    const [a, b] = [await create('owner-a'), await create('owner-b')];
    await create('child', { ownerReferences: [owner(a), owner(b)] });
    await caller.send('DELETE', `${CONFIG_MAPS}/owner-a`);
    await eventually('the reference to the gone owner is dropped', async () => {
      const references = at((await caller.send('GET', `${CONFIG_MAPS}/child`)).body, 'metadata.ownerReferences');
      return Array.isArray(references) && references.length === 1;
    });
    await caller.send('DELETE', `${CONFIG_MAPS}/owner-b`);
    await eventually('the child goes', isGone('child'));
  });

  it('an owner of another incarnation does not count', async () => {
    const first = await create('twice');
    await caller.send('DELETE', `${CONFIG_MAPS}/twice`);
    await create('twice');
    await create('orphan', { ownerReferences: [owner(first)] });
    await eventually('the object of a former owner goes', isGone('orphan'));
    assert.equal((await caller.send('GET', `${CONFIG_MAPS}/twice`)).status, 200);
  });

  it('foreground deletion waits for blocking dependents', async () => {
    const parent = await create('parent');
    await create('held', {
      ownerReferences: [owner(parent, { blockOwnerDeletion: true })],
      finalizers: ['example.com/hold'],
    });
    await caller.send('DELETE', `${CONFIG_MAPS}/parent`, { propagationPolicy: 'Foreground' });
    await eventually(
      'the dependent is terminating',
      async () =>
        at((await caller.send('GET', `${CONFIG_MAPS}/held`)).body, 'metadata.deletionTimestamp') !== undefined,
    );
    assert.equal((await caller.send('GET', `${CONFIG_MAPS}/parent`)).status, 200);
    await caller.patch(`${CONFIG_MAPS}/held`, { metadata: { finalizers: null } });
    await eventually('the parent goes after it', isGone('parent'));
  });

  it('orphaning cuts the references and keeps the dependents', async () => {
    const parent = await create('leaving');
    await create('staying', { ownerReferences: [owner(parent)] });
    await caller.send('DELETE', `${CONFIG_MAPS}/leaving`, { propagationPolicy: 'Orphan' });
    await eventually('the owner goes', isGone('leaving'));
    const { status, body } = await caller.send('GET', `${CONFIG_MAPS}/staying`);
    assert.deepEqual([status, at(body, 'metadata.ownerReferences')], [200, undefined]);
  });

  it('a deleted namespace is emptied and then goes', async () => {
    await caller.send('POST', '/api/v1/namespaces', { metadata: { name: 'passing' } });
    await caller.send('POST', '/api/v1/namespaces/passing/configmaps', configMap('inside'));
    await caller.send(
      'POST',
      '/api/v1/namespaces/passing/configmaps',
      configMap('held', 'v', { finalizers: ['example.com/hold'] }),
    );
    await caller.send('DELETE', '/api/v1/namespaces/passing');
    await eventually(
      'the free object goes',
      async () => (await caller.send('GET', '/api/v1/namespaces/passing/configmaps/inside')).status === 404,
    );
    assert.equal(at((await caller.send('GET', '/api/v1/namespaces/passing')).body, 'status.phase'), 'Terminating');
    await caller.patch('/api/v1/namespaces/passing/configmaps/held', { metadata: { finalizers: null } });
    await eventually(
      'the namespace goes',
      async () => (await caller.send('GET', '/api/v1/namespaces/passing')).status === 404,
    );
  });

  it('a bound Pod goes when its time is over', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    await caller.send('POST', pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i:1' }] } });
    await caller.send('POST', `${pods}/p/binding`, { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } });
    await caller.send('DELETE', `${pods}/p?gracePeriodSeconds=1`);
    await eventually('the Pod goes', async () => (await caller.send('GET', `${pods}/p`)).status === 404);
  });
});
