import type { Json, JsonObject } from '../../src/codec/json.ts';
import { observedFrom } from '../../src/core/observe.ts';
import { printTraceLine, traceHeader } from '../../src/core/trace.ts';
import type { TraceEvent } from '../../src/core/traceEvent.ts';

/** A seeded source of numbers in [0, 1): the same fixture every time. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * The lines of a recorded hour of a busy namespace: Deployments with whole bodies whose status moves most of the time,
 * writes, reads, deletions and recreations.
 */
export function* traceLines(events: number, objects = 200): Iterable<string> {
  const random = seeded(7);
  const at0 = 1_780_000_000_000;
  const lives = Array.from({ length: objects }, (_, index) => ({
    uid: uid(index, 0),
    life: 0,
    revision: 0,
    generation: 1,
    image: 0,
    there: false,
  }));
  yield printTraceLine(traceHeader('bench', { c1: { label: 'bench' } }, at0));
  let token = 100;
  for (let seq = 1; seq <= events; seq += 1) {
    const index = Math.floor(random() * objects);
    const one = lives[index];
    if (one === undefined) continue;
    const at = at0 + seq * 4;
    token += 1;
    const dice = random();
    const name = { group: 'apps', resource: 'deployments', namespace: 'lab', name: `demo-${index}` };
    const base = { seq, at, cluster: 'c1' };
    let event: TraceEvent;
    if (one.there && dice < 0.002) {
      event = {
        ...base,
        via: 'watch',
        type: 'absent',
        name,
        uid: one.uid,
        token: `${token}`,
        how: 'event',
        stream: 's1',
      };
      Object.assign(one, {
        uid: uid(index, one.life + 1),
        life: one.life + 1,
        revision: 0,
        generation: 1,
        there: false,
      });
    } else if (one.there && dice < 0.06) {
      const given = [{ namespace: 'lab', name: name.name, uid: one.uid, token: `${token}` }];
      event = {
        ...base,
        via: 'recorder',
        type: 'read',
        actor: { client: 'op' },
        verb: 'get',
        scope: name,
        given,
        cacheAllowed: false,
      };
    } else if (one.there && dice < 0.12) {
      event = {
        ...base,
        via: 'recorder',
        type: 'write',
        actor: { client: 'op' },
        verb: 'replace',
        name,
        outcome: 'version-conflict',
        code: 409,
      };
    } else {
      const isNew = !one.there;
      one.there = true;
      one.revision += 1;
      if (!isNew && dice > 0.9) {
        one.generation += 1;
        one.image += 1;
      }
      const context = {
        cluster: 'c1',
        via: 'watch' as const,
        at,
        resource: { group: 'apps', resource: 'deployments', version: 'v1', kind: 'Deployment' },
        stream: 's1',
        change: isNew ? ('ADDED' as const) : ('MODIFIED' as const),
        keepBody: true,
        secretKey: '',
      };
      const seen = observedFrom(deployment(name.name, one, token), context);
      if (seen === undefined) continue;
      event = { ...seen, seq };
    }
    yield printTraceLine(event);
  }
}

function uid(index: number, life: number): string {
  return `${index.toString(16).padStart(8, '0')}-0000-4000-8000-${life.toString(16).padStart(12, '0')}`;
}

function deployment(
  name: string,
  one: { uid: string; revision: number; generation: number; image: number },
  token: number,
): JsonObject {
  const time = `2026-01-01T00:${`${Math.floor(one.revision / 60) % 60}`.padStart(2, '0')}:${`${one.revision % 60}`.padStart(2, '0')}Z`;
  const entry = (manager: string, fieldsV1: Json, more: JsonObject = {}): Json => ({
    manager,
    operation: 'Update',
    apiVersion: 'apps/v1',
    time,
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...more,
  });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name,
      namespace: 'lab',
      uid: one.uid,
      resourceVersion: `${token}`,
      generation: one.generation,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app: name, 'app.kubernetes.io/part-of': 'bench' },
      annotations: { 'deployment.kubernetes.io/revision': `${one.image}` },
      managedFields: [
        entry(
          'kubectl',
          {
            'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
            'f:spec': {
              'f:replicas': {},
              'f:template': {
                'f:spec': { 'f:containers': { 'k:{"name":"web"}': { '.': {}, 'f:image': {}, 'f:name': {} } } },
              },
            },
          },
          { time: `2026-01-01T00:00:00.${one.image}Z` },
        ),
        entry(
          'kube-controller-manager',
          {
            'f:status': {
              'f:availableReplicas': {},
              'f:conditions': { '.': {}, 'k:{"type":"Available"}': { '.': {}, 'f:status': {}, 'f:type': {} } },
              'f:observedGeneration': {},
            },
          },
          { subresource: 'status' },
        ),
      ],
    },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: [
            {
              name: 'web',
              image: `registry.example/web:${one.image}`,
              resources: { requests: { cpu: '100m', memory: '64Mi' } },
              ports: [{ containerPort: 8080, protocol: 'TCP' }],
            },
          ],
          restartPolicy: 'Always',
        },
      },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    },
    status: {
      observedGeneration: one.generation,
      replicas: 3,
      readyReplicas: one.revision % 4,
      availableReplicas: one.revision % 3,
      conditions: [
        {
          type: 'Available',
          status: one.revision % 2 === 0 ? 'True' : 'False',
          lastUpdateTime: time,
          lastTransitionTime: time,
          reason: 'MinimumReplicasAvailable',
        },
      ],
    },
  };
}
