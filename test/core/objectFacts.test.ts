import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { JsonObject } from '../../src/codec/json.ts';
import { describeGeneration, generationOf } from '../../src/core/generation.ts';
import { describeOwner, ownersAt, ownersOf } from '../../src/core/ownership.ts';
import type { Path } from '../../src/codec/path.ts';
import { formatPath, parsePath } from '../../src/codec/path.ts';
import { referencesOf, uidMentions } from '../../src/core/references.ts';
import { BADGE_COLOURS, tokenBadge, tokenBadges } from '../../src/core/tokenBadge.ts';

function path(text: string): Path {
  const found = parsePath(text);
  assert.ok('path' in found);
  return found.path;
}

describe('field ownership', () => {
  const managedFields = [
    {
      manager: 'helm',
      operation: 'Apply',
      apiVersion: 'apps/v1',
      time: '2026-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:metadata': { 'f:labels': { 'f:app.kubernetes.io/name': {} }, 'f:finalizers': { 'v:"a.test/x"': {} } },
        'f:spec': {
          'f:replicas': {},
          'f:selector': {},
          'f:template': {
            'f:spec': {
              'f:containers': {
                'k:{"name":"web"}': {
                  '.': {},
                  'f:image': {},
                  'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {} } },
                },
              },
            },
          },
        },
      },
    },
    {
      manager: 'hpa',
      operation: 'Update',
      subresource: 'scale',
      apiVersion: 'autoscaling/v1',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    },
    {
      manager: 'edit',
      operation: 'Update',
      apiVersion: 'apps/v1',
      fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:tier': {} } } },
    },
  ];

  it('is parsed from FieldsV1 with keys, set values and containers', () => {
    const owners = ownersOf(managedFields);
    assert.deepEqual(
      owners.map((owner) => describeOwner(owner)),
      ['helm (Apply)', 'hpa (Update, scale)', 'edit (Update)'],
    );
    assert.deepEqual(owners[0]?.paths.map(formatPath), [
      '.metadata.labels["app.kubernetes.io/name"]',
      '.metadata.finalizers[="a.test/x"]',
      '.spec.replicas',
      '.spec.selector',
      '.spec.template.spec.containers[name="web"]',
      '.spec.template.spec.containers[name="web"].image',
      '.spec.template.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"]',
    ]);
  });

  it('G4: names all owners of a field, Update entries too', () => {
    const at = (text: string): string[] => ownersAt(ownersOf(managedFields), path(text)).map(({ manager }) => manager);
    assert.deepEqual(at('.spec.replicas'), ['helm', 'hpa']);
    assert.deepEqual(at('.spec.selector.matchLabels.app'), ['helm']);
    assert.deepEqual(at('.metadata.labels.tier'), ['edit']);
    assert.deepEqual(at('.metadata.labels.other'), []);
    assert.deepEqual(at('.metadata.labels'), ['helm', 'edit']);
    assert.deepEqual(at('.spec'), ['helm', 'hpa']);
    assert.deepEqual(at('.status'), []);
  });

  it('what is not understood is left out', () => {
    const owners = ownersOf([
      null,
      'x',
      {},
      { manager: 'm', operation: 'Update', fieldsV1: { 'z:?': {}, 'k:{': {}, 'f:a': {} } },
    ]);
    assert.deepEqual(
      owners.map(({ manager, paths }) => [manager, paths.map(formatPath)]),
      [['m', ['.a']]],
    );
    assert.deepEqual(ownersOf(undefined), []);
  });
});

describe('the equality badge of a token', () => {
  it('is the same for equal tokens and different for different ones, among any', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { minLength: 2, maxLength: 60 }), (tokens) => {
        const codes = tokens.map((token) => tokenBadge('U1', token, tokens).code);
        assert.equal(new Set(codes).size, tokens.length);
        const all = tokenBadges('U1', tokens);
        assert.deepEqual(
          tokens.map((token) => all.get(token)?.code),
          codes,
        );
      }),
    );
  });

  it('stays unique among thousands, and says nothing of their order', () => {
    const tokens = Array.from({ length: 20_000 }, (_, index) => `${1_000_000 + index}`);
    const codes = [...tokenBadges('U1', tokens).values()].map(({ code }) => code);
    assert.equal(new Set(codes).size, tokens.length);
    assert.notDeepEqual(codes.slice(0, 50), codes.slice(0, 50).toSorted());
    assert.ok([...tokenBadges('U1', tokens).values()].every(({ colour }) => colour >= 0 && colour < BADGE_COLOURS));
  });

  it('has a short form and differs between objects', () => {
    assert.match(tokenBadge('U1', 'v1', []).code, /^[a-z]{2}·[0-9a-f]{2}$/);
    assert.notEqual(tokenBadge('U1', 'v1', []).code, tokenBadge('U2', 'v1', []).code);
  });
});

describe('references of an object', () => {
  it('by UID and by name are found where they stand', () => {
    const pod: JsonObject = {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: {
        name: 'p',
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'R1', controller: true }],
      },
      spec: {
        serviceAccountName: 'sa',
        nodeName: 'n1',
        imagePullSecrets: [{ name: 'pull' }],
        volumes: [
          { name: 'a', secret: { secretName: 's' } },
          { name: 'b', persistentVolumeClaim: { claimName: 'c' } },
          { name: 'd', configMap: { name: 'm' } },
        ],
        containers: [
          {
            name: 'web',
            env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 's2', key: 'k' } } }],
            envFrom: [{ configMapRef: { name: 'm2' } }],
          },
        ],
      },
    };
    assert.deepEqual(
      referencesOf(pod).map(({ path, kind, name, uid }) => [formatPath(path), kind, name, uid]),
      [
        ['.metadata.ownerReferences[0]', 'ReplicaSet', 'rs', 'R1'],
        ['.spec.serviceAccountName', 'ServiceAccount', 'sa', undefined],
        ['.spec.nodeName', 'Node', 'n1', undefined],
        ['.spec.imagePullSecrets[0]', 'Secret', 'pull', undefined],
        ['.spec.volumes[0].secret.secretName', 'Secret', 's', undefined],
        ['.spec.volumes[1].persistentVolumeClaim.claimName', 'PersistentVolumeClaim', 'c', undefined],
        ['.spec.volumes[2].configMap', 'ConfigMap', 'm', undefined],
        ['.spec.containers[0].env[0].valueFrom.secretKeyRef', 'Secret', 's2', undefined],
        ['.spec.containers[0].envFrom[0].configMapRef', 'ConfigMap', 'm2', undefined],
      ],
    );
  });

  it('D7: claimRef is one with namespace and UID, as are targetRef, involvedObject and scaleTargetRef', () => {
    const claimRef = {
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      namespace: 'lab',
      name: 'demo',
      uid: 'U1',
      resourceVersion: 'v3',
    };
    const [reference, ...more] = referencesOf({
      kind: 'PersistentVolume',
      apiVersion: 'v1',
      metadata: {},
      spec: { claimRef },
    });
    assert.deepEqual(
      [reference?.sort, reference?.namespace, reference?.name, reference?.uid],
      ['object', 'lab', 'demo', 'U1'],
    );
    assert.deepEqual(more, []);
    const event = {
      involvedObject: { kind: 'Pod', name: 'p', uid: 'P1' },
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' } },
    };
    assert.deepEqual(
      referencesOf(event).map(({ name }) => name),
      ['p', 'd'],
    );
  });

  it('D5: a known UID is found in any string, another is not', () => {
    const uuid = '0d1c9f6e-52a1-4f0e-9f65-0f6a3f8a1b11';
    const object = {
      metadata: { uid: 'U1' },
      data: { lb: 'service-uid=U1', volume: `pvc-${uuid}`, free: 'U1x' },
      status: { related: [{ uid: 'U1' }, { uid: 'other' }] },
    };
    const mentions = uidMentions(object, (uid) => uid === 'U1' || uid === uuid);
    assert.deepEqual(
      mentions.map(({ path, uid }) => [formatPath(path), uid]),
      [
        ['.data.lb', 'U1'],
        ['.data.volume', uuid],
        ['.status.related[0].uid', 'U1'],
      ],
    );
  });
});

describe('E3: what generations say', () => {
  const of = (generation?: number, observedGeneration?: number, conditions: [string, number?][] = []): string =>
    String(
      describeGeneration(
        generationOf({
          metadata: generation === undefined ? {} : { generation },
          status: {
            ...(observedGeneration === undefined ? {} : { observedGeneration }),
            conditions: conditions.map(([type, seen]) => ({
              type,
              ...(seen === undefined ? {} : { observedGeneration: seen }),
            })),
          },
        }),
      ),
    );
  const cases: [string, string][] = [
    [of(7, 7, [['Ready', 6]]), 'seen, Ready from generation 6'],
    [of(7, 6, [['Ready']]), 'not yet seen'],
    [of(7, 7, [['Ready', 7], ['Old']]), 'current'],
    [of(7, 7), 'current'],
    [of(undefined, 7), 'none'],
    [of(7), 'observed generation not reported'],
    [
      of(7, undefined, [
        ['A', 7],
        ['B', 5],
      ]),
      'seen, B from generation 5',
    ],
    [of(7, undefined, [['A', 6]]), 'not yet seen'],
    [of(7, 8), 'observed generation is ahead of the object'],
  ];
  for (const [index, [found, expected]] of cases.entries())
    it(`case ${index + 1}: ${expected}`, () => assert.equal(found, expected));
});
