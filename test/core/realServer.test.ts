import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import { ownersAt, ownersOf } from '../../src/core/ownership.ts';
import type { ObservedEvent } from '../../src/core/traceEvent.ts';
import { changeLabel } from '../../src/core/versionChange.ts';
import { createNamespace, sharedApiServer, type ApiServer } from '../apiserver/apiServer.ts';
import { requestJson } from '../apiserver/request.ts';
import { TraceBuilder } from './traceBuilder.ts';

const MERGE = 'application/merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

describe('what a real API server says, as versions and actors', function () {
  this.timeout(120_000);
  let server: ApiServer;
  let namespace = '';
  before(async function () {
    server = await sharedApiServer(this);
    namespace = await createNamespace(server, 'core');
  });

  it('managed fields name the one manager that wrote, and nobody where that is not sure', async () => {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const trace = new TraceBuilder();
    trace.name = { group: 'apps', resource: 'deployments', namespace, name: 'demo' };
    trace.kind = 'Deployment';
    const step = async (method: string, at: string, body: object, type?: string): Promise<void> => {
      const object = (await requestJson(server, method, at, body, type)) as JsonObject;
      trace.seen(object, { change: trace.events.length === 0 ? 'ADDED' : 'MODIFIED' });
    };
    const labels = { app: 'demo' };
    await step('POST', `${path}?fieldManager=maker`, {
      metadata: { name: 'demo' },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'x:1' }] } },
      },
    });
    await step('PATCH', `${path}/demo?fieldManager=editor`, { spec: { replicas: 2 } }, MERGE);
    await step(
      'PATCH',
      `${path}/demo/status?fieldManager=controller`,
      { status: { observedGeneration: 2, replicas: 1 } },
      MERGE,
    );
    await step(
      'PATCH',
      `${path}/demo?fieldManager=applier&force=true`,
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'demo' }, spec: { replicas: 3 } },
      APPLY,
    );
    await step('PATCH', `${path}/demo?fieldManager=labeller`, { metadata: { labels: { tier: 'x' } } }, MERGE);
    await step('PATCH', `${path}/demo?fieldManager=remover`, { metadata: { labels: null } }, MERGE);
    const versions = trace.at.incarnations[0]?.versions ?? [];
    assert.deepEqual(
      versions.map(({ actor, changed }) => [actor?.manager, changeLabel(changed)]),
      [
        ['maker', 'unknown'],
        ['editor', 'spec'],
        ['controller', 'status'],
        ['applier', 'spec'],
        ['labeller', 'metadata'],
        [undefined, 'metadata'],
      ],
    );
    const [, , , applied] = trace.events as ObservedEvent[];
    const owners = ownersAt(ownersOf(applied?.managedFields), [{ field: 'spec' }, { field: 'replicas' }]);
    assert.deepEqual(
      owners.map(({ manager, operation }) => [manager, operation]),
      [['applier', 'Apply']],
    );
  });

  it('J9: a list item, a read and the answer of a write are one version', async () => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const trace = new TraceBuilder();
    trace.name = { group: 'coordination.k8s.io', resource: 'leases', namespace, name: 'l' };
    trace.kind = 'Lease';
    const made = (await requestJson(server, 'POST', path, {
      metadata: { name: 'l' },
      spec: { renewTime: '2026-01-02T03:04:05.123450Z' },
    })) as JsonObject;
    trace.seen(made, { via: 'write' });
    const list = (await requestJson(server, 'GET', path)) as { items: JsonObject[] };
    const [item] = list.items;
    assert.ok(item !== undefined && !('kind' in item));
    trace.seen(item, { via: 'list' });
    trace.seen((await requestJson(server, 'GET', `${path}/l`)) as JsonObject, { via: 'get' });
    assert.equal(trace.at.incarnations[0]?.versions.length, 1);
    const [written, listed, read] = trace.events as ObservedEvent[];
    assert.deepEqual(listed?.body, written?.body);
    assert.deepEqual(read?.body, written?.body);
    assert.deepEqual(read?.body?.['spec'], { renewTime: '2026-01-02T03:04:05.123450Z' });
  });
});
