import fc from 'fast-check';

import type { Step } from './exchange.ts';

/** A kind that random sequences are about: where it is, a whole object of it, and changes of it. */
interface Subject {
  readonly path: string;
  make(name: string): Record<string, unknown>;
  readonly merges: readonly unknown[];
  readonly edits: readonly unknown[];
  readonly applied: readonly Record<string, unknown>[];
  readonly status: readonly unknown[];
}

/** The group of the custom resources in random sequences. */
const RANDOM_GROUP = 'random.example.com';

const MERGE = { 'Content-Type': 'application/merge-patch+json' };
const JSON_PATCH = { 'Content-Type': 'application/json-patch+json' };
const STRATEGIC = { 'Content-Type': 'application/strategic-merge-patch+json' };
const APPLY = { 'Content-Type': 'application/apply-patch+yaml' };

const containers = (image: string): unknown => [{ name: 'web', image, env: [{ name: 'A', value: image }] }];
const METADATA = [
  { metadata: { labels: { x: '1' } } },
  { metadata: { labels: { x: null, y: '2' } } },
  { metadata: { annotations: { 'example.com/n': '1' } } },
  { metadata: { finalizers: ['example.com/hold'] } },
  { metadata: { finalizers: null } },
  { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u-1' }] } },
  { metadata: { labels: { 'bad key': 'x' } } },
];
const EDITS = [
  [{ op: 'add', path: '/metadata/labels', value: { z: 'q' } }],
  [{ op: 'test', path: '/metadata/name', value: 'a' }],
  [{ op: 'remove', path: '/metadata/labels' }],
  [{ op: 'remove', path: '/metadata/resourceVersion' }],
  [{ op: 'copy', from: '/metadata/labels', path: '/metadata/annotations' }],
  [{ op: 'add', path: 'x/bogus', value: 1 }],
  [{ op: 'remove', path: '/apiVersion' }],
];

const SUBJECTS: readonly Subject[] = [
  {
    path: '/api/v1/namespaces/{ns}/configmaps',
    make: (name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { k: 'v' } }),
    merges: [
      { data: { k: 'w' } },
      { data: { k: null, n: '1' } },
      { data: null },
      { immutable: true },
      { data: { 'bad key': 'x' } },
      { bogus: 1 },
    ],
    edits: [
      [{ op: 'replace', path: '/data/k', value: 'r' }],
      [
        { op: 'test', path: '/data/k', value: 'v' },
        { op: 'add', path: '/data/j', value: 'x' },
      ],
      [{ op: 'remove', path: '/data/none' }],
    ],
    applied: [
      { data: { k: 'a' } },
      { data: { k: 'v', extra: '1' } },
      { data: {} },
      { metadata: { labels: { x: '1' } } },
      { nothing: 1 },
    ],
    status: [{ status: { phase: 'x' } }],
  },
  {
    path: '/apis/apps/v1/namespaces/{ns}/deployments',
    make: (name) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'd' } },
        template: { metadata: { labels: { app: 'd' } }, spec: { containers: containers('web:1') } },
      },
    }),
    merges: [
      { spec: { replicas: 3 } },
      { spec: { replicas: -1 } },
      { spec: { template: { spec: { containers: containers('web:2') } } } },
      { spec: { selector: { matchLabels: { app: 'e' } } } },
      { spec: { paused: true } },
    ],
    edits: [
      [{ op: 'replace', path: '/spec/replicas', value: 2 }],
      [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'web:3' }],
      [{ op: 'add', path: '/spec/template/spec/containers/-', value: { name: 'side', image: 'side:1' } }],
    ],
    applied: [
      { spec: { replicas: 5 } },
      { spec: { template: { spec: { containers: [{ name: 'web', image: 'web:9' }] } } } },
      { metadata: { labels: { x: '9' } } },
    ],
    status: [
      { status: { replicas: 1 } },
      { status: { observedGeneration: 1 }, metadata: { annotations: { s: '1' } } },
      { spec: { replicas: 9 } },
    ],
  },
  {
    path: '/apis/coordination.k8s.io/v1/namespaces/{ns}/leases',
    make: (name) => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name },
      spec: { holderIdentity: 'a', leaseDurationSeconds: 15 },
    }),
    merges: [{ spec: { holderIdentity: 'b' } }, { spec: { leaseDurationSeconds: 0 } }, { spec: null }],
    edits: [[{ op: 'replace', path: '/spec/holderIdentity', value: 'c' }]],
    applied: [{ spec: { holderIdentity: 'd' } }, { spec: { leaseTransitions: 1 } }],
    status: [{ status: {} }],
  },
  {
    path: '/api/v1/namespaces/{ns}/services',
    make: (name) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { selector: { app: 'd' }, ports: [{ port: 80 }] },
    }),
    merges: [
      { spec: { selector: { app: 'e' } } },
      { spec: { ports: [{ port: 81 }] } },
      { spec: { type: 'NodeNever' } },
      { spec: { sessionAffinity: 'ClientIP' } },
    ],
    edits: [
      [{ op: 'add', path: '/spec/ports/-', value: { port: 82, name: 'b' } }],
      [{ op: 'replace', path: '/spec/ports/0/targetPort', value: 'http' }],
    ],
    applied: [{ spec: { ports: [{ port: 80, protocol: 'TCP', name: 'web' }] } }, { spec: { selector: { app: 'x' } } }],
    status: [{ status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } }],
  },
  {
    path: '/api/v1/namespaces/{ns}/pods',
    make: (name) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { containers: [{ name: 'web', image: 'web:1' }] },
    }),
    merges: [
      { spec: { containers: [{ name: 'web', image: 'web:2' }] } },
      { spec: { activeDeadlineSeconds: 10 } },
      { spec: { tolerations: [{ operator: 'Exists' }] } },
      { spec: { nodeName: 'n' } },
    ],
    edits: [
      [{ op: 'replace', path: '/spec/containers/0/image', value: 'web:3' }],
      [{ op: 'add', path: '/spec/terminationGracePeriodSeconds', value: 5 }],
    ],
    applied: [{ spec: { containers: [{ name: 'web', image: 'web:9' }] } }, { metadata: { labels: { x: '1' } } }],
    status: [
      { status: { phase: 'Running' } },
      { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
      { metadata: { labels: { s: '1' } } },
    ],
  },
  {
    path: '/api/v1/namespaces/{ns}/secrets',
    make: (name) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { k: 'v' } }),
    merges: [
      { stringData: { n: '1' } },
      { data: { k: 'bm90' } },
      { data: { k: '!' } },
      { type: 'other' },
      { immutable: true },
    ],
    edits: [[{ op: 'add', path: '/data/j', value: 'eA==' }]],
    applied: [{ stringData: { k: 'a' } }, { data: { z: 'eA==' } }],
    status: [{ status: {} }],
  },
  {
    path: '/api/v1/namespaces/{ns}/persistentvolumeclaims',
    make: (name) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }),
    merges: [
      { spec: { volumeName: 'v' } },
      { spec: { resources: { requests: { storage: '2Gi' } } } },
      { spec: { accessModes: ['ReadWriteMany'] } },
    ],
    edits: [[{ op: 'replace', path: '/spec/resources/requests/storage', value: '1024Mi' }]],
    applied: [{ metadata: { labels: { x: '1' } } }, { spec: { accessModes: ['ReadWriteOnce'] } }],
    status: [{ status: { phase: 'Bound' } }, { status: { capacity: { storage: '1Gi' } } }],
  },
  {
    path: `/apis/${RANDOM_GROUP}/v1/namespaces/{ns}/widgets`,
    make: (name) => ({
      apiVersion: `${RANDOM_GROUP}/v1`,
      kind: 'Widget',
      metadata: { name },
      spec: { size: 1, parts: [{ id: 'a', n: 1 }] },
    }),
    merges: [
      { spec: { size: 2 } },
      { spec: { size: 'x' } },
      { spec: { unknown: true } },
      { spec: { parts: [{ id: 'a', n: 2 }, { id: 'b' }] } },
      { spec: { tags: ['x', 'y'] } },
      { status: { phase: 'x' } },
      { spec: { level: null } },
    ],
    edits: [
      [{ op: 'add', path: '/spec/parts/-', value: { id: 'c' } }],
      [{ op: 'replace', path: '/spec/level', value: 'high' }],
    ],
    applied: [
      { spec: { size: 3 } },
      { spec: { parts: [{ id: 'b', n: 3 }] } },
      { spec: { tags: ['z'] } },
      { spec: { level: 'wrong' } },
      { status: { phase: 'a' } },
    ],
    status: [
      { status: { phase: 'ok' } },
      { spec: { size: 9 }, status: { phase: 'b' } },
      { metadata: { labels: { s: '1' } } },
    ],
  },
];

/** The definition that random sequences about custom resources need on a server. */
export const RANDOM_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${RANDOM_GROUP}` },
  spec: {
    group: RANDOM_GROUP,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer', minimum: 0 },
                  level: { type: 'string', enum: ['low', 'high'], default: 'low' },
                  tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                  parts: {
                    type: 'array',
                    items: {
                      type: 'object',
                      required: ['id'],
                      properties: { id: { type: 'string' }, n: { type: 'integer' } },
                    },
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['id'],
                  },
                },
              },
              status: { type: 'object', properties: { phase: { type: 'string' } } },
            },
          },
        },
      },
    ],
  },
};

const subject = fc.constantFrom(...SUBJECTS);
const name = fc.constantFrom('a', 'a', 'b');
/** Which version a write names: none, one of an earlier answer, or nonsense. */
const version = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  { weight: 3, arbitrary: fc.nat(7).map((index) => `\${s${index}.metadata.resourceVersion}`) },
  { weight: 1, arbitrary: fc.constantFrom('0', '1', 'abc') },
);
const uid = fc.oneof(
  { weight: 5, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.nat(7).map((index) => `\${s${index}.metadata.uid}`) },
);
const dryRun = fc.oneof(
  { weight: 9, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant({ dryRun: 'All' }) },
);
const manager = fc.constantFrom('m1', 'm2');

type Draft = Omit<Step, 'id'>;

function merged(
  base: Record<string, unknown>,
  more: Record<string, unknown>,
  metadata: Record<string, unknown>,
): Record<string, unknown> {
  return {
    ...base,
    ...more,
    metadata: { ...(base['metadata'] as object), ...(more['metadata'] as object | undefined), ...metadata },
  };
}

const named = (values: { version: string; uid: string }): Record<string, unknown> => ({
  ...(values.version === '' ? {} : { resourceVersion: values.version }),
  ...(values.uid === '' ? {} : { uid: values.uid }),
});

const create = fc
  .tuple(subject, name, fc.constantFrom({}, { labels: { x: '1' } }, { finalizers: ['example.com/hold'] }), dryRun)
  .map(([of, who, metadata, query]): Draft => ({
    method: 'POST',
    path: of.path,
    query,
    body: merged(of.make(who), {}, metadata),
  }));

const replace = fc
  .tuple(subject, name, version, uid, fc.nat(9), dryRun)
  .map(([of, who, token, id, choice, query]): Draft => {
    const change = of.merges[choice % (of.merges.length + 2)] ?? {};
    const safe = JSON.stringify(change).includes('null') ? {} : (change as Record<string, unknown>);
    const base = of.make(who);
    const spec = 'spec' in safe ? { spec: { ...(base['spec'] as object), ...(safe['spec'] as object) } } : safe;
    return {
      method: 'PUT',
      path: `${of.path}/${who}`,
      query,
      body: merged(base, spec, named({ version: token, uid: id })),
    };
  });

const patchOf = (of: Subject, choice: number): unknown =>
  [...of.merges, ...METADATA][choice % (of.merges.length + METADATA.length)];

const mergePatch = fc
  .tuple(subject, name, fc.nat(30), version, fc.boolean(), dryRun)
  .map(([of, who, choice, token, strategic, query]): Draft => {
    const change = patchOf(of, choice) as Record<string, unknown>;
    const body =
      token === ''
        ? change
        : { ...change, metadata: { ...(change['metadata'] as object | undefined), resourceVersion: token } };
    return { method: 'PATCH', path: `${of.path}/${who}`, query, headers: strategic ? STRATEGIC : MERGE, body };
  });

const jsonPatch = fc.tuple(subject, name, fc.nat(30)).map(([of, who, choice]): Draft => ({
  method: 'PATCH',
  path: `${of.path}/${who}`,
  headers: JSON_PATCH,
  body: [...of.edits, ...EDITS][choice % (of.edits.length + EDITS.length)],
}));

const apply = fc
  .tuple(subject, name, fc.nat(9), manager, fc.boolean(), version, dryRun)
  .map(([of, who, choice, by, force, token, query]): Draft => {
    const { apiVersion, kind } = of.make(who);
    const wanted = of.applied[choice % of.applied.length] ?? {};
    return {
      method: 'PATCH',
      path: `${of.path}/${who}`,
      query: { ...query, fieldManager: by, ...(force ? { force: 'true' } : {}) },
      headers: APPLY,
      body: merged(
        { apiVersion, kind, metadata: { name: who } },
        wanted,
        token === '' ? {} : { resourceVersion: token },
      ),
    };
  });

const status = fc.tuple(subject, name, fc.nat(9)).map(([of, who, choice]): Draft => ({
  method: 'PATCH',
  path: `${of.path}/${who}/status`,
  headers: MERGE,
  body: of.status[choice % of.status.length],
}));

const scale = fc.tuple(name, fc.integer({ min: -1, max: 4 }), version).map(([who, replicas, token]): Draft => ({
  method: 'PUT',
  path: `/apis/apps/v1/namespaces/{ns}/deployments/${who}/scale`,
  body: {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: who, ...(token === '' ? {} : { resourceVersion: token }) },
    spec: { replicas },
  },
}));

const remove = fc
  .tuple(
    subject,
    name,
    fc.constantFrom(
      {},
      { propagationPolicy: 'Foreground' },
      { propagationPolicy: 'Orphan' },
      { propagationPolicy: 'Background' },
      { gracePeriodSeconds: 0 },
      { preconditions: { uid: '${s0.metadata.uid}' } },
      { preconditions: { resourceVersion: '${s1.metadata.resourceVersion}' } },
      { dryRun: ['All'] },
    ),
  )
  .map(([of, who, body]): Draft => ({ method: 'DELETE', path: `${of.path}/${who}`, body }));

const read = fc.tuple(subject, name).map(([of, who]): Draft => ({ method: 'GET', path: `${of.path}/${who}` }));
const list = fc
  .tuple(
    subject,
    fc.constantFrom(
      {},
      { labelSelector: 'x=1' },
      { labelSelector: '!x' },
      { fieldSelector: 'metadata.name=a' },
      { limit: '1' },
    ),
  )
  .map(([of, query]): Draft => ({ method: 'GET', path: of.path, query }));

const clear = fc
  .tuple(
    subject,
    fc.constantFrom(
      {},
      { labelSelector: 'x=1' },
      { limit: '1' },
      { fieldSelector: 'metadata.name!=a' },
      { dryRun: 'All' },
    ),
  )
  .map(([of, query]): Draft => ({ method: 'DELETE', path: of.path, query }));

/** What a client gets wrong: the form of a body, its kind, its options. */
const wrong = fc
  .tuple(
    subject,
    name,
    fc.constantFrom('POST', 'PUT', 'PATCH'),
    fc.constantFrom('{', '[]', '{"kind":"Foo"}', '{"apiVersion":"foo/v1"}', '{"metadata":{"labels":1}}', '{"spec":1}'),
    fc.constantFrom({}, { fieldValidation: 'Strict' }, { dryRun: 'x' }, { timeout: 'x' }),
  )
  .map(([of, who, method, body, query]): Draft => ({
    method,
    path: method === 'POST' ? of.path : `${of.path}/${who}`,
    query,
    ...(method === 'PATCH' ? { headers: MERGE } : {}),
    body,
  }));

const step = fc.oneof(
  { weight: 4, arbitrary: create },
  { weight: 3, arbitrary: replace },
  { weight: 4, arbitrary: mergePatch },
  { weight: 2, arbitrary: jsonPatch },
  { weight: 4, arbitrary: apply },
  { weight: 2, arbitrary: status },
  { weight: 1, arbitrary: scale },
  { weight: 2, arbitrary: remove },
  { weight: 1, arbitrary: read },
  { weight: 1, arbitrary: list },
  { weight: 1, arbitrary: clear },
  { weight: 1, arbitrary: wrong },
);

/** Random request sequences; the steps are numbered, so that later ones can name what earlier ones answered. */
export const sequences: fc.Arbitrary<Step[]> = fc
  .array(step, { minLength: 4, maxLength: 14 })
  .map((drafts) => drafts.map((draft, index): Step => ({ ...draft, id: `s${index}` })));
