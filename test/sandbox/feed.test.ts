import assert from 'node:assert/strict';

import { endingWrite } from '../../src/core/endingWrite.ts';
import { nameKey } from '../../src/core/history.ts';
import { EventLog } from '../../src/core/eventLog.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import type { NewTraceEvent } from '../../src/core/traceEvent.ts';
import { at, Caller, CONFIG_MAPS, configMap, eventually } from './apiCalls.ts';

describe('sandbox: its own feed', () => {
  let sandbox: Sandbox;
  let caller: Caller;
  let events: NewTraceEvent[];

  beforeEach(async () => {
    sandbox = await startSandbox();
    caller = new Caller(sandbox);
    events = [];
    sandbox.onFeed((more) => events.push(...more));
  });
  afterEach(async () => {
    caller.close();
    await sandbox.stop();
  });

  const writes = (): Extract<NewTraceEvent, { type: 'write' }>[] => events.filter((event) => event.type === 'write');

  it('an accepted write appears with its actor, what it carried and what is stored now, after the version itself', async () => {
    const { body } = await caller.send('POST', CONFIG_MAPS, configMap('a'));
    const types = events.map((event) => event.type);
    assert.deepEqual(types, ['observed', 'write']);
    const [write] = writes();
    assert.deepEqual(
      [write?.outcome, write?.verb, write?.actor.user, write?.actor.manager],
      ['accepted', 'create', 'admin', 'tester'],
    );
    assert.deepEqual(write?.result, { uid: at(body, 'metadata.uid'), token: at(body, 'metadata.resourceVersion') });
  });

  it('refused writes appear, each with its own outcome', async () => {
    const { body } = await caller.send('POST', CONFIG_MAPS, configMap('a'));
    await caller.patch(`${CONFIG_MAPS}/a`, { data: { k: 'w' } });
    await caller.send('PUT', `${CONFIG_MAPS}/a`, body);
    await caller.send('POST', CONFIG_MAPS, configMap('a'));
    await caller.send('DELETE', `${CONFIG_MAPS}/a`, { preconditions: { uid: 'other' } });
    await caller.send('PUT', `${CONFIG_MAPS}/a`, configMap('a', 'w'));
    await caller.send('PUT', `${CONFIG_MAPS}/none`, configMap('none'));
    await caller.send('PATCH', `${CONFIG_MAPS}/a?fieldManager=m`, configMap('a', 'z'), {
      'content-type': 'application/apply-patch+yaml',
    });
    const alice = new Caller(sandbox, { token: sandbox.userToken });
    await alice.send('DELETE', `${CONFIG_MAPS}/a`);
    alice.close();
    assert.deepEqual(
      writes().map((write) => write.outcome),
      [
        'accepted',
        'accepted',
        'version-conflict',
        'already-exists',
        'uid-mismatch',
        'unchanged',
        'not-found',
        'field-conflict',
        'forbidden',
      ],
    );
  });

  it('who ended an object is told by the answers, whatever kind it is and whatever held it', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    await caller.send('POST', CONFIG_MAPS, configMap('a'));
    await caller.send('DELETE', `${CONFIG_MAPS}/a`);
    await caller.send('POST', pods, pod);
    await caller.send('DELETE', `${pods}/p`);
    const services = '/api/v1/namespaces/default/services';
    await caller.send('POST', services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's' },
      spec: { ports: [{ port: 80 }] },
    });
    await caller.send('DELETE', `${services}/s`);
    const held = { ...configMap('held'), metadata: { name: 'held', finalizers: ['example.test/hold'] } };
    await caller.send('POST', CONFIG_MAPS, held);
    await caller.send('DELETE', `${CONFIG_MAPS}/held`);
    await caller.patch(`${CONFIG_MAPS}/held`, { metadata: { finalizers: null } });
    const log = new EventLog();
    log.appendAll(events);
    const ended = [...log.history.uids.values()].filter(({ end }) => end !== undefined);
    assert.deepEqual(
      ended.map((incarnation) => {
        const at = log.history.names.get(nameKey(incarnation.cluster, incarnation.name));
        const ending = endingWrite(at ?? assert.fail(), incarnation);
        return [incarnation.name.name, ending?.write.verb, ending?.known];
      }),
      [
        ['a', 'delete', 'gone'],
        ['p', 'delete', 'unheld'],
        ['s', 'delete', 'version'],
        ['held', 'patch', 'released'],
      ],
    );
  });

  it('a lost answer is uncertain, though the version is there', async () => {
    sandbox.faults.add({ kind: 'lost-answer', times: 1 });
    await assert.rejects(caller.send('POST', CONFIG_MAPS, configMap('a')));
    assert.equal(writes()[0]?.outcome, 'uncertain');
    assert.ok(events.some((event) => event.type === 'observed'));
  });

  it('the values of a Secret are in no event', async () => {
    const secret = { metadata: { name: 's' }, stringData: { password: 'hunter2-clear' } };
    await caller.send('POST', '/api/v1/namespaces/default/secrets', secret);
    await caller.send('PUT', '/api/v1/namespaces/default/secrets/s', {
      ...secret,
      data: { other: Buffer.from('hunter3-clear').toString('base64') },
    });
    await caller.send(
      'PATCH',
      '/api/v1/namespaces/default/secrets/s',
      [{ op: 'add', path: '/data/x', value: Buffer.from('hunter4').toString('base64') }],
      { 'content-type': 'application/json-patch+json' },
    );
    const text = JSON.stringify(events);
    for (const value of ['hunter2-clear', 'hunter3-clear', 'hunter4']) {
      assert.ok(!text.includes(value) && !text.includes(Buffer.from(value).toString('base64')), value);
    }
  });

  it('but the UID that a delete of one demands is told', async () => {
    const path = '/api/v1/namespaces/default/secrets';
    const { body } = await caller.send('POST', path, { metadata: { name: 's' } });
    const preconditions = { uid: String(at(body, 'metadata.uid')) };
    await caller.send('DELETE', `${path}/s`, { preconditions });
    assert.deepEqual(writes().at(-1)?.preconditions, preconditions);
  });

  it('nor in what a refusal repeats of it', async () => {
    const path = '/api/v1/namespaces/default/secrets';
    const merge = { 'content-type': 'application/merge-patch+json' };
    await caller.send('POST', path, { metadata: { name: 's' }, stringData: { kept: 'hunter5' } });
    await caller.send('PATCH', `${path}/s`, { stringData: { password: ['ZEBRA'] } }, merge);
    await caller.send('PATCH', `${path}/s`, { data: { password: '%%ZEBRA' } }, merge);
    await caller.send('POST', path, {
      metadata: { name: 'bad name' },
      stringData: { password: 'ZEBRA' },
      type: 'ZEBRA',
    });
    await caller.send('POST', path, { metadata: { name: 'kind' }, data: 'ZEBRA' });
    assert.deepEqual(
      writes().map((write) => write.outcome),
      ['accepted', 'invalid', 'invalid', 'invalid', 'invalid'],
    );
    const said = JSON.stringify(writes().map(({ message, causes }) => [message, causes]));
    for (const value of ['ZEBRA', 'hunter5', Buffer.from('hunter5').toString('base64')])
      assert.ok(!said.includes(value), `${value} in ${said}`);
  });

  it('reads name the versions given', async () => {
    const { body } = await caller.send('POST', CONFIG_MAPS, configMap('a'));
    await caller.send('GET', `${CONFIG_MAPS}/a`);
    const read = events.find((event) => event.type === 'read');
    assert.equal(read?.given[0]?.token, at(body, 'metadata.resourceVersion'));
  });

  it('the stream is a trace: a header, what is stored, then what happens', async () => {
    await caller.send('POST', CONFIG_MAPS, configMap('before'));
    const stream = await caller.stream('/sandbox/feed');
    await eventually('the header comes', () => stream.lines.length > 0);
    await caller.send('POST', CONFIG_MAPS, configMap('after'));
    await eventually('the write comes', () => stream.lines.some((line) => line['type'] === 'write'));
    assert.equal(stream.lines[0]?.['trace'], 'object-versions');
    assert.ok(stream.lines.some((line) => line['type'] === 'observed' && at(line, 'name.name') === 'before'));
    const numbers = stream.lines.slice(1).map((line) => line['seq']);
    assert.deepEqual(
      numbers,
      numbers.map((_number, index) => index + 1),
    );
    stream.close();
  });
});
