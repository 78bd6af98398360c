import assert from 'node:assert/strict';
import type { Json, JsonObject } from '../../src/codec/json.ts';
import type { Finding } from '../../src/core/findings/finding.ts';
import type { ObjectName } from '../../src/core/traceEvent.ts';
import { lanesOf, projected } from '../core/timeline/demoModel.ts';
import { Play } from './play.ts';
import { findingsOf, Scenario } from './scenario.ts';

const named = (resource: string, name: string, namespace = 'lab'): ObjectName => ({
  group: '',
  resource,
  namespace,
  name,
});
const settings = named('configmaps', 'settings');
const keys = named('secrets', 'keys');
const pod = named('pods', 'web-1');
const claim = named('persistentvolumeclaims', 'files');
const volume = named('persistentvolumes', 'pv-1', '');

const time = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
const born = (second: number, more: JsonObject = {}): JsonObject => ({
  ...more,
  metadata: { creationTimestamp: time(second) },
});
const map = (second: number, value: string, more: JsonObject = {}): JsonObject =>
  born(second, { data: { mode: value, rest: 'same' }, ...more });

const environment = (source: JsonObject): JsonObject => ({
  containers: [{ name: 'app', env: [{ name: 'MODE', valueFrom: source }] }],
});
const ofKey = (key: string): JsonObject => environment({ configMapKeyRef: { name: 'settings', key } });
const allOf: JsonObject = { containers: [{ name: 'app', envFrom: [{ configMapRef: { name: 'settings' } }] }] };
const mounting = (source: JsonObject, mount: JsonObject = {}): JsonObject => ({
  containers: [{ name: 'app', volumeMounts: [{ name: 'v', mountPath: '/v', ...mount }] }],
  volumes: [{ name: 'v', ...source }],
});

/** A Pod as it is while its container runs since a second; null: it says of nothing when it started. */
function running(spec: JsonObject, second: number | null = 5, more: JsonObject = {}): JsonObject {
  const startedAt: JsonObject = second === null ? {} : { startedAt: time(second) };
  return {
    spec,
    status: {
      phase: 'Running',
      ...(second === null ? {} : { startTime: time(5) }),
      containerStatuses: [{ name: 'app', state: { running: startedAt } }],
    },
    ...more,
  };
}

interface Told {
  readonly of?: ObjectName;
  readonly spec: JsonObject;
  readonly old?: JsonObject;
  readonly now?: JsonObject;
  readonly second?: number | null;
  readonly also?: (s: Scenario) => void;
}

/** Something is there, a Pod takes it, it is made anew: what is told of the Pod. */
function told({ of = settings, spec, old = map(1, 'a'), now = map(20, 'b'), second = 5, also }: Told): Finding[] {
  const s = new Scenario();
  s.stream(of, 'O1', 'o1', old);
  s.stream(pod, 'P', 'p1', { spec, status: { phase: 'Pending' } });
  s.stream(pod, 'P', 'p2', running(spec, second));
  s.gone(of, 'O1');
  s.stream(of, 'O2', 'o2', now);
  also?.(s);
  s.wait(31_000);
  s.stream(named('configmaps', 'else'), 'E', 'e1', {});
  assert.deepEqual(s.told(), [], 'nothing is worse than information');
  return s.findings().filter(({ id }) => id === 'stale-use');
}

const fields = (play: Told): readonly string[] => told(play).flatMap((finding) => finding.fields);

describe('what a Pod took by name from an incarnation that is gone', () => {
  it('is told of its environment, at the recreation, with both UIDs', () => {
    const [finding, ...more] = told({ spec: allOf });
    assert.deepEqual(more, []);
    assert.equal(finding?.object.name, 'web-1');
    assert.deepEqual(finding.fields, ['.spec.containers[0].envFrom[0].configMapRef']);
    assert.deepEqual([finding.severity, finding.sureness], ['info', 'certain']);
    assert.deepEqual(finding.details, { took: 'O1', live: 'O2', name: 'settings', how: 'environment' });
    assert.deepEqual(finding.events, [3, 4, 5]);
    assert.equal(finding.firstAt, 1_000_500);
    assert.match(finding.explanation, /What the two hold differs\.$/);
  });

  it('is one key of it, and no finding where that holds the same in both', () => {
    assert.deepEqual(fields({ spec: ofKey('mode') }), ['.spec.containers[0].env[0].valueFrom.configMapKeyRef']);
    assert.deepEqual(fields({ spec: ofKey('rest') }), []);
    assert.deepEqual(fields({ spec: ofKey('gone'), old: map(1, 'a', { data: { gone: '1' } }) }).length, 1);
    assert.deepEqual(fields({ spec: allOf, now: map(20, 'a') }), []);
  });

  it('is told without a word of what differs where the contents were not seen', () => {
    const [finding] = told({ spec: allOf, old: born(1), now: born(20) });
    assert.doesNotMatch(finding?.explanation ?? 'What the two', /What the two/);
    const hashed = told({
      spec: allOf,
      also: (s) => {
        for (const event of s.events)
          if (event.type === 'observed' && event.uid === 'O2') {
            delete event.body;
            event.leaves = { '.data.mode': '00000000000001', '.data.rest': '00000000000002' };
          }
      },
    });
    assert.doesNotMatch(hashed[0]?.explanation ?? 'What the two', /What the two/);
  });

  it('is a Secret as well, by the keyed hashes of its values', () => {
    const spec = environment({ secretKeyRef: { name: 'keys', key: 'k' } });
    const secret = (second: number, value: string): JsonObject => born(second, { data: { k: `hidden:${value}` } });
    assert.equal(fields({ of: keys, spec, old: secret(1, 'a'), now: secret(20, 'b') }).length, 1);
    assert.equal(fields({ of: keys, spec, old: secret(1, 'a'), now: secret(20, 'a') }).length, 0);
  });

  it('is no more once the container, or the Pod, started anew in half a minute, or ended', () => {
    const ended =
      (object: JsonObject, uid = 'P') =>
      (s: Scenario): void =>
        s.stream(pod, uid, `${uid}9`, object);
    assert.deepEqual(fields({ spec: allOf, also: ended(running(allOf, 25)) }), []);
    assert.deepEqual(fields({ spec: allOf, also: (s) => s.gone(pod, 'P') }), []);
    const terminating = { metadata: { deletionTimestamp: time(21) } };
    assert.deepEqual(fields({ spec: allOf, also: ended(running(allOf, 5, terminating)) }), []);
    assert.deepEqual(fields({ spec: allOf, also: ended({ spec: allOf, status: { phase: 'Succeeded' } }) }), []);
    assert.deepEqual(fields({ spec: allOf, also: (s) => s.gone(settings, 'O2') }), []);
    assert.equal(
      fields({ spec: allOf, also: ended(running(allOf, 5, { metadata: { labels: { a: 'b' } } })) }).length,
      1,
    );
  });

  it('was not taken where the container started after the new one was made, whatever was seen first', () => {
    assert.deepEqual(fields({ spec: allOf, second: 20 }), []);
    assert.deepEqual(fields({ spec: allOf, second: 30 }), []);
  });

  it('was not taken of one that was made after the container had started', () => {
    assert.deepEqual(fields({ spec: allOf, old: map(6, 'a') }), []);
  });

  it('is likely where only the order in which they were seen says so', () => {
    assert.equal(told({ spec: allOf, second: null })[0]?.sureness, 'likely');
    assert.equal(told({ spec: allOf, now: { data: { mode: 'b' } } })[0]?.sureness, 'likely');
  });

  it('is not taken yet by a Pod that waits', () => {
    const s = new Scenario();
    s.stream(settings, 'O1', 'o1', map(1, 'a'));
    s.stream(pod, 'P', 'p1', { spec: allOf, status: { phase: 'Pending' } });
    s.gone(settings, 'O1');
    s.stream(settings, 'O2', 'o2', map(20, 'b'));
    s.stream(pod, 'P', 'p2', running(allOf, 22));
    assert.deepEqual(
      s.findings().map(({ id }) => id),
      ['recreated'],
    );
  });

  it('of two incarnations in a row is told of the one that was taken', () => {
    const uids = (found: Finding[]): Json[] =>
      found.map(({ details }) => [details?.['took'], details?.['live']] as Json);
    const again = (s: Scenario, value = 'c'): void => {
      s.gone(settings, 'O2');
      s.stream(settings, 'O3', 'o3', map(59, value));
    };
    assert.deepEqual(uids(told({ spec: allOf, also: again })), [['O1', 'O3']]);
    assert.deepEqual(uids(told({ spec: allOf, also: (s) => again(s, 'a') })), []);
    assert.deepEqual(uids(told({ spec: allOf, also: (s) => again(s.wait(31_000)) })), [['O1', 'O2']]);
  });
});

describe('volumes by name', () => {
  const configMap = { configMap: { name: 'settings' } };
  const projected = { projected: { sources: [{ configMap: { name: 'settings' } }] } };

  it('of a Secret or ConfigMap are renewed by the kubelet: that is no finding', () => {
    for (const source of [configMap, projected]) assert.deepEqual(fields({ spec: mounting(source) }), []);
    const secret = mounting({ secret: { secretName: 'keys' } });
    assert.deepEqual(fields({ of: keys, spec: secret }), []);
  });

  it('are not renewed where they were immutable, or mounted with subPath', () => {
    const old = map(1, 'a', { immutable: true });
    assert.deepEqual(fields({ spec: mounting(configMap), old }), ['.spec.volumes[0].configMap']);
    assert.deepEqual(fields({ spec: mounting(projected), old }), ['.spec.volumes[0].projected.sources[0].configMap']);
    const secret = mounting({ projected: { sources: [{ secret: { name: 'keys' } }] } }, { subPath: 'mode' });
    assert.deepEqual(fields({ of: keys, spec: secret }), ['.spec.volumes[0].projected.sources[0].secret']);
    assert.equal(told({ spec: mounting(configMap, { subPath: 'mode' }) })[0]?.details?.['how'], 'sub-path');
  });

  it('of a claim stay those that were mounted, also where the container starts again', () => {
    const spec = mounting({ persistentVolumeClaim: { claimName: 'files' } });
    const play: Told = { of: claim, spec, old: born(1), now: born(20) };
    assert.deepEqual(fields(play), ['.spec.volumes[0].persistentVolumeClaim.claimName']);
    assert.equal(fields({ ...play, also: (s) => s.stream(pod, 'P', 'p9', running(spec, 25)) }).length, 1);
  });
});

describe('an account by name', () => {
  const account = named('serviceaccounts', 'robot');
  const spec = (sources: Json[]): JsonObject => ({
    serviceAccountName: 'robot',
    serviceAccount: 'robot',
    containers: [{ name: 'app' }],
    volumes: [{ name: 'api', projected: { sources } }],
  });

  it('is told where the Pod holds tokens of it, which are bound to its UID', () => {
    const play = (sources: Json[]): Told => ({ of: account, spec: spec(sources), old: born(1), now: born(20) });
    assert.deepEqual(fields(play([{ serviceAccountToken: { path: 'token' } }])), ['.spec.serviceAccountName']);
    assert.deepEqual(fields(play([{ downwardAPI: {} }])), []);
  });
});

describe('a volume by the name that its claim has', () => {
  const bound = { spec: { volumeName: 'pv-1' }, status: { phase: 'Bound' } };
  const of = (second: number, uid?: string): JsonObject =>
    born(second, { spec: uid === undefined ? {} : { claimRef: { namespace: 'lab', name: 'files', uid } } });

  function findings(old: JsonObject, now: JsonObject): string[] {
    const s = new Scenario();
    s.stream(volume, 'V1', 'v1', old);
    s.stream(claim, 'C', 'c1', bound);
    s.gone(volume, 'V1');
    s.stream(volume, 'V2', 'v2', now);
    return s
      .findings()
      .flatMap((finding) => (finding.id === 'stale-use' ? [`${finding.fields.join()} ${finding.sureness}`] : []));
  }

  it('is another one now, unless that was made for this very claim, or the old one was never bound to it', () => {
    assert.deepEqual(findings(of(1, 'C'), of(20)), ['.spec.volumeName certain']);
    assert.deepEqual(findings(of(1, 'C'), of(20, 'C')), []);
    assert.deepEqual(findings(of(1, 'other'), of(20)), []);
    assert.deepEqual(findings(of(1), of(20)), []);
  });
});

describe('the timeline', () => {
  it('marks it on the Pod, at the recreation, with a link to the end of what was taken', () => {
    const s = new Scenario();
    s.stream(settings, 'O1', 'o1', map(1, 'a'));
    s.stream(pod, 'P', 'p1', running(allOf));
    s.gone(settings, 'O1');
    s.stream(settings, 'O2', 'o2', map(20, 'b'));
    const findings = s.findings().map((finding) => ({ ...finding, object: { ...finding.object, cluster: 'c1' } }));
    const model = projected(s.events, findings).projection.model();
    const { annotations } = model;
    const lanes = lanesOf(model);
    assert.deepEqual(
      annotations.map(({ lane, from, glyph, originLane, originAt, text }) => ({
        on: lanes[lane]?.name,
        from: s.events.findIndex(({ at }) => at === from),
        glyph,
        origin: lanes[originLane ?? -1]?.name,
        end: s.events.findIndex(({ at }) => at === originAt),
        text,
      })),
      [
        {
          on: 'web-1',
          from: 3,
          glyph: 'finding',
          origin: 'settings',
          end: 2,
          text: 'uses what it took of a gone incarnation: .spec.containers[0].envFrom[0].configMapRef',
        },
      ],
    );
    assert.deepEqual(
      lanes.map(({ findings: count }) => count),
      [0, 0],
    );
  });
});

describe('every source that shows bodies', () => {
  it('tells it in whatever order it learns, and a correct twin is silent', () => {
    for (const restarts of [false, true]) {
      const p = new Play();
      p.create('user', settings, { data: { mode: 'a' } });
      p.wait(2_000).create('user', pod, { spec: allOf });
      p.wait(2_000);
      const run = (): JsonObject => ({
        phase: 'Running',
        containerStatuses: [{ name: 'app', state: { running: { startedAt: new Date(p.at).toISOString() } } }],
      });
      p.put('kubelet', pod, { spec: allOf, status: run() }, { sub: 'status' });
      p.wait(2_000).remove('user', settings);
      p.create('user', settings, { data: { mode: 'b' } });
      p.wait(2_000);
      if (restarts) p.put('kubelet', pod, { spec: allOf, status: run() }, { sub: 'status' });
      p.wait(60_000).create('user', named('configmaps', 'else'));
      const traces = (['watch-first', 'answer-first', 'watch-late', 'unfollowed'] as const).map((order) =>
        p.trace(order),
      );
      for (const events of [...traces, p.audit('RequestResponse')]) {
        const found = findingsOf(events).filter(({ id }) => id !== 'recreated');
        assert.deepEqual(
          found.map(({ id, object, sureness }) => [id, object.name, sureness]),
          restarts ? [] : [['stale-use', 'web-1', 'certain']],
        );
      }
      for (const level of ['Metadata', 'Request'] as const)
        assert.deepEqual(
          findingsOf(p.audit(level)).filter(({ id }) => id === 'stale-use'),
          [],
        );
    }
  });
});

describe('names that are looked up anew each time', () => {
  it('are no finding when what has them is recreated', () => {
    const s = new Scenario();
    const scaler: ObjectName = {
      group: 'autoscaling',
      resource: 'horizontalpodautoscalers',
      namespace: 'lab',
      name: 'web',
    };
    const deployment: ObjectName = { group: 'apps', resource: 'deployments', namespace: 'lab', name: 'web' };
    const binding: ObjectName = {
      group: 'rbac.authorization.k8s.io',
      resource: 'rolebindings',
      namespace: 'lab',
      name: 'b',
    };
    s.stream(settings, 'O1', 'o1', map(1, 'a'));
    s.stream(deployment, 'D1', 'd1', born(1, { spec: { template: { metadata: {}, spec: allOf } } }));
    s.stream(scaler, 'H', 'h1', {
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
    });
    s.stream(binding, 'B', 'b1', {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [{ kind: 'ServiceAccount', name: 'x' }],
    });
    s.gone(deployment, 'D1');
    s.stream(deployment, 'D2', 'd2', born(20, { spec: { template: { metadata: {}, spec: allOf } } }));
    s.gone(settings, 'O1');
    s.stream(settings, 'O2', 'o2', map(21, 'b'));
    assert.deepEqual(
      s.findings().map(({ id }) => id),
      ['recreated', 'recreated'],
    );
  });
});
