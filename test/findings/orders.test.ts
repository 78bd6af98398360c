import assert from 'node:assert/strict';
import type { Json, JsonObject } from '../../src/codec/json.ts';
import type { ObjectName, TraceEvent } from '../../src/core/traceEvent.ts';
import { Play, type Level, type Order } from './play.ts';
import { configMap, data, findingsOf, toy } from './scenario.ts';

const lease: ObjectName = { group: 'coordination.k8s.io', resource: 'leases', namespace: 'lab', name: 'leader' };
const deployment: ObjectName = { group: 'apps', resource: 'deployments', namespace: 'lab', name: 'web' };
const pod = (name: string): ObjectName => ({ group: '', resource: 'pods', namespace: 'lab', name });
const map = configMap();
const demo = toy();

interface Case {
  /** What is told above information, as `id/kind name`, in every order of the events. */
  readonly told: readonly string[];
  /** What an audit log of whole answers tells; the same unless given. */
  readonly audit?: readonly string[];
  readonly play: (p: Play) => void;
}

const orders: readonly Order[] = ['watch-first', 'answer-first', 'watch-late', 'unfollowed'];
const levels: readonly Level[] = ['RequestResponse', 'Request', 'Metadata'];

function tellings(events: Parameters<typeof findingsOf>[0]): string[] {
  return findingsOf(events)
    .filter((finding) => finding.severity !== 'info')
    .map(
      (finding) =>
        `${finding.kind === undefined ? finding.id : `${finding.id}/${finding.kind}`} ${finding.object.name}`,
    )
    .sort();
}

/** What traces that were written by hand leave out, or say otherwise than a recorder would. */
const byHand: Readonly<Record<string, (event: TraceEvent) => TraceEvent>> = {
  'without starts': (event) => withoutStart(event),
  'one time for all': (event) => ({ ...withoutStart(event), at: 5 }),
  'a millisecond each': (event) => ({ ...withoutStart(event), at: event.seq }),
  'without streams': (event) => {
    if (event.type !== 'observed' && event.type !== 'absent') return event;
    const { stream: _stream, ...rest } = event;
    return rest;
  },
};

function withoutStart(event: TraceEvent): TraceEvent {
  if (event.type !== 'write') return event;
  const { startedAt: _startedAt, ...rest } = event;
  return rest;
}

/** Less is known at the lower levels: the kind may be one of it. */
function idOf(telling: string): string {
  return telling.replace(/\/\S+/, '');
}

function cases(all: Readonly<Record<string, Case>>): void {
  for (const [title, { told, audit, play }] of Object.entries(all)) {
    it(title, () => {
      const p = new Play();
      play(p);
      for (const [how, rewritten] of Object.entries(byHand))
        for (const order of orders) assert.deepEqual(tellings(p.trace(order).map(rewritten)), told, `${order}, ${how}`);
      for (const order of orders) assert.deepEqual(tellings(p.trace(order)), told, order);
      for (const level of levels) {
        const found = tellings(p.audit(level));
        if (level === 'RequestResponse') assert.deepEqual(found, audit ?? told, level);
        else
          for (const finding of found)
            assert.ok(
              told.some((item) => idOf(item) === idOf(finding)),
              `${level}: ${finding}`,
            );
      }
    });
  }
}

const finalizers = (...items: string[]): JsonObject => ({ metadata: { finalizers: items } });
const conditions = (...types: string[]): JsonObject => ({
  status: { conditions: types.map((type) => ({ type, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' })) },
});
const scale = (replicas: number, image = 'a:1'): JsonObject => ({
  spec: { replicas, template: { spec: { containers: [{ name: 'web', image }] } } },
});

/** Runs one read-modify-write of a key, again after each refusal. */
function add(p: Play, actor: string, key: string, value: string): void {
  for (;;) {
    const read = p.get(actor, map);
    const rv = p.tokenOf(map);
    const values = { ...(read['data'] as JsonObject), [key]: value };
    if (p.put(actor, map, data(values), { rv, uid: p.uidOf(map) }) !== 'version-conflict') return;
  }
}

describe('lost updates in every order of events', () => {
  cases({
    'a token swap over the change of a known client': {
      told: ['lost-update/token-swap demo'],
      play: (p) => {
        p.create('A', map, data({ ann: '1' }));
        p.get('A', map);
        p.get('B', map);
        p.put('B', map, data({ ann: '1', bob: '1' }), { rv: p.tokenOf(map) });
        p.get('A', map);
        p.put('A', map, data({ ann: '1', cyd: '1' }), { rv: p.tokenOf(map) });
      },
    },
    'a token swap over the change of somebody that went past the recorder': {
      told: ['lost-update/token-swap demo'],
      play: (p) => {
        p.create('A', map, data({ ann: '1' }));
        p.get('A', map);
        p.put('', map, data({ ann: '1', bob: '1' }), { rv: p.tokenOf(map) });
        p.get('A', map);
        p.put('A', map, data({ ann: '1', cyd: '1' }), { rv: p.tokenOf(map) });
      },
    },
    'a token swap that puts a changed value back': {
      told: ['lost-update/token-swap demo'],
      play: (p) => {
        p.create('B', map, data({ mode: 'a', n: '0' }));
        p.get('A', map);
        p.put('B', map, data({ mode: 'b', n: '0' }), { rv: p.tokenOf(map) });
        p.get('A', map);
        p.put('A', map, data({ mode: 'a', n: '1' }), { rv: p.tokenOf(map) });
      },
    },
    'a token swap after a refusal, with the refused body': {
      told: ['lost-update/token-swap demo'],
      play: (p) => {
        p.create('B', map, data({ ann: '1' }));
        p.get('A', map);
        const old = p.tokenOf(map);
        p.put('B', map, data({ ann: '1', bob: '1' }), { rv: old });
        p.put('A', map, data({ ann: '1', cyd: '1' }), { rv: old });
        p.get('A', map);
        p.put('A', map, data({ ann: '1', cyd: '1' }), { rv: p.tokenOf(map) });
      },
    },
    'a token swap over two writers': {
      told: ['lost-update/token-swap demo'],
      play: (p) => {
        p.create('A', map, data({ ann: '1' }));
        p.get('A', map);
        p.get('B', map);
        p.put('B', map, data({ ann: '1', bob: '1' }), { rv: p.tokenOf(map) });
        p.get('C', map);
        p.put('C', map, data({ ann: '1', bob: '1', cat: '1' }), { rv: p.tokenOf(map) });
        p.get('A', map);
        p.put('A', map, data({ ann: '1', cyd: '1' }), { rv: p.tokenOf(map) });
      },
    },
    'a PUT without a token over an unseen change': {
      told: ['lost-update/unconditional-overwrite demo'],
      play: (p) => {
        p.create('B', map, data({ ann: '1' }));
        p.get('A', map);
        p.put('B', map, data({ ann: '1', bob: '1' }), { rv: p.tokenOf(map) });
        p.put('A', map, data({ ann: '1', x: '1' }));
      },
    },
    'a PUT without a token by one that holds a cache which is behind': {
      told: ['lost-update/unconditional-overwrite demo'],
      play: (p) => {
        p.create('B', map, data({ ann: '1' }));
        p.list('A', map);
        p.watch('A', map);
        p.hold('A');
        p.put('B', map, data({ ann: '1', bob: '1' }), { rv: p.tokenOf(map) });
        p.put('A', map, data({ ann: '1', x: '1' }));
        p.release('A');
      },
    },
    'a merge patch of conditions without the entry of another': {
      told: ['lost-update/list-clobber demo'],
      play: (p) => {
        p.create('B', demo, conditions('Ready'));
        p.get('A', demo);
        p.put('B', demo, conditions('Ready', 'Backup'), { rv: p.tokenOf(demo), sub: 'status' });
        p.patch('A', demo, { status: { conditions: [{ type: 'Ready', status: 'False' }] } }, { sub: 'status' });
      },
    },
    'a status PUT with a fresh token and an old list': {
      told: ['lost-update/status demo'],
      play: (p) => {
        p.create('B', demo, conditions('Ready'));
        p.get('A', demo);
        p.put('B', demo, conditions('Ready', 'Backup'), { rv: p.tokenOf(demo), sub: 'status' });
        p.get('A', demo);
        p.put('A', demo, conditions('Ready', 'Synced'), { rv: p.tokenOf(demo), sub: 'status' });
      },
    },
    'a merge patch that drops a finalizer of another': {
      told: ['lost-update/finalizer demo'],
      play: (p) => {
        p.create('C', demo, finalizers('a.test/x'));
        p.get('A', demo);
        p.get('B', demo);
        p.patch('B', demo, finalizers('a.test/x', 'b.test/y'));
        p.patch('A', demo, finalizers('a.test/x', 'c.test/z'));
      },
    },
    'a removal by index that hits the neighbour': {
      told: ['lost-update/index-patch demo'],
      play: (p) => {
        p.create('C', demo, finalizers('a.test/a', 'b.test/b'));
        p.get('A', demo);
        p.put('B', demo, finalizers('b.test/b', 'c.test/c'), { rv: p.tokenOf(demo) });
        p.patch('A', demo, [{ op: 'remove', path: '/metadata/finalizers/1' }], {
          type: 'json-patch',
          gives: finalizers('b.test/b'),
        });
      },
    },
    'a deploy tool that sends a remembered whole object over the autoscaler': {
      told: ['lost-update/unconditional-overwrite web'],
      play: (p) => {
        p.create('deployer', deployment, scale(2));
        p.get('hpa', deployment);
        p.put('hpa', deployment, scale(7), { rv: p.tokenOf(deployment) });
        p.put('deployer', deployment, scale(2, 'a:2'));
      },
    },
    'a merge patch that puts an older value of another field owner back': {
      told: ['lost-update/unconditional-overwrite web'],
      play: (p) => {
        p.create('deployer', deployment, scale(2));
        p.get('tool', deployment);
        p.get('hpa', deployment);
        p.put('hpa', deployment, scale(7), { rv: p.tokenOf(deployment) });
        p.patch('tool', deployment, { metadata: { labels: { tier: 'x' } }, spec: { replicas: 2 } });
      },
    },
  });
});

describe('correct or harmless, in every order of events', () => {
  cases({
    'two clients that add keys by read, compute, write, retry': {
      told: [],
      play: (p) => {
        p.create('A', map, data({}));
        for (let round = 0; round < 12; round += 1) {
          add(p, 'A', `a${round}`, '1');
          add(p, 'B', `b${round}`, '1');
        }
      },
    },
    'two that write one autoscaler in two versions of its API, of which one puts its metrics in another order': {
      told: [],
      play: (p) => {
        const hpa: ObjectName = {
          group: 'autoscaling',
          resource: 'horizontalpodautoscalers',
          namespace: 'lab',
          name: 'web',
        };
        const metric = (name: string, averageUtilization: number): JsonObject => ({
          type: 'Resource',
          resource: { name, target: { type: 'Utilization', averageUtilization } },
        });
        const scaled = (maxReplicas: number, ...metrics: Json[]): JsonObject => ({ spec: { maxReplicas, metrics } });
        const [cpu, memory] = [metric('cpu', 50), metric('memory', 60)];
        p.create('A', hpa, scaled(5, cpu, memory));
        for (let round = 0; round < 8; round += 1) {
          p.get('old', hpa);
          p.put('old', hpa, scaled(6 + 2 * round, memory, cpu), { rv: p.tokenOf(hpa) });
          p.wait(400);
          p.get('A', hpa);
          p.put('A', hpa, scaled(7 + 2 * round, cpu, memory), { rv: p.tokenOf(hpa) });
          p.wait(400);
        }
      },
    },
    'one that merges in all metrics of an autoscaler without reading them, beside one whose version of the API gives them in another order':
      {
        told: [],
        play: (p) => {
          const hpa: ObjectName = {
            group: 'autoscaling',
            resource: 'horizontalpodautoscalers',
            namespace: 'lab',
            name: 'web',
          };
          const metrics = (...names: string[]): JsonObject => ({
            metrics: names.map((name) => ({ type: 'Resource', resource: { name } })),
          });
          p.create('A', hpa, { spec: { maxReplicas: 5, ...metrics('cpu', 'memory') } });
          p.get('B', hpa);
          for (let round = 0; round < 4; round += 1) {
            p.get('old', hpa);
            p.put(
              'old',
              hpa,
              { spec: { maxReplicas: 6 + round, ...metrics('memory', 'cpu') } },
              { rv: p.tokenOf(hpa) },
            );
            p.wait(400);
            p.patch('B', hpa, { spec: metrics('cpu', 'memory') });
            p.wait(400);
          }
        },
      },
    'heavy contention with backoff: each loses several times in a row': {
      told: [],
      play: (p) => {
        p.create('A', map, data({ n: '0' }));
        for (let round = 0; round < 15; round += 1) {
          p.get('A', map);
          const rv = p.tokenOf(map);
          p.get('B', map);
          p.put('B', map, data({ n: String(round) }), { rv });
          p.put('A', map, data({ n: 'a' }), { rv });
          p.wait(10 * 1.5 ** round);
        }
      },
    },
    'an informer with a resync writes status only on a difference': {
      told: [],
      play: (p) => {
        p.create('user', demo, { spec: { size: 1 } });
        p.list('op', demo);
        p.watch('op', demo);
        for (let round = 1; round < 6; round += 1) {
          p.get('user', demo);
          p.put('user', demo, { spec: { size: round + 1 } }, { rv: p.tokenOf(demo) });
          p.put('op', demo, { status: { size: round + 1 } }, { rv: p.tokenOf(demo), sub: 'status' });
          p.wait(2_000);
        }
      },
    },
    'two controllers write their own conditions by the current status': {
      told: [],
      play: (p) => {
        p.create('user', demo, conditions('Ready'));
        p.list('A', demo);
        p.watch('A', demo);
        p.list('B', demo);
        p.watch('B', demo);
        p.put('B', demo, conditions('Ready', 'Backup'), { rv: p.tokenOf(demo), sub: 'status' });
        p.put('A', demo, conditions('Ready', 'Backup', 'Synced'), { rv: p.tokenOf(demo), sub: 'status' });
        p.put('B', demo, conditions('Ready', 'Synced'), { rv: p.tokenOf(demo), sub: 'status' });
        p.put('A', demo, conditions('Ready'), { rv: p.tokenOf(demo), sub: 'status' });
      },
    },
    'its own finalizer added, and removed when the object goes': {
      told: [],
      play: (p) => {
        p.create('user', demo, finalizers('other.test/z'));
        p.get('A', demo);
        p.put('A', demo, finalizers('other.test/z', 'a.test/x'), { rv: p.tokenOf(demo) });
        p.wait(5_000);
        p.get('A', demo);
        p.put('A', demo, finalizers('other.test/z'), { rv: p.tokenOf(demo) });
        p.remove('user', demo);
      },
    },
    'an autoscaler and a deployer that leave each other alone': {
      told: [],
      play: (p) => {
        p.create('deployer', deployment, scale(2));
        for (let round = 0; round < 5; round += 1) {
          p.patch('hpa', deployment, { spec: { replicas: 3 + round } });
          p.patch('deployer', deployment, { metadata: { annotations: { build: String(round) } } });
          p.wait(1_000);
        }
      },
    },
    'a person scales, and later sets it back on purpose': {
      told: [],
      play: (p) => {
        p.create('deployer', deployment, scale(2));
        p.get('ann', deployment);
        p.put('ann', deployment, scale(5), { rv: p.tokenOf(deployment) });
        p.wait(60_000);
        p.get('bob', deployment);
        p.put('bob', deployment, scale(2), { rv: p.tokenOf(deployment) });
      },
    },
    'a controller that sees drift and sets its field again': {
      told: [],
      play: (p) => {
        p.create('op', map, data({ mode: 'a', x: '1' }));
        p.watch('op', map);
        p.get('ann', map);
        p.put('ann', map, data({ mode: 'b', x: '1' }), { rv: p.tokenOf(map) });
        p.get('op', map);
        p.put('op', map, data({ mode: 'a', x: '1' }), { rv: p.tokenOf(map) });
      },
    },
    'dry runs change nothing and lose nothing': {
      told: [],
      play: (p) => {
        p.create('A', map, data({ ann: '1' }));
        p.get('B', map);
        p.put('A', map, data({ ann: '1', a: '1' }), { rv: p.tokenOf(map) });
        for (let round = 0; round < 8; round += 1) p.put('B', map, data({ ann: '1' }), { dryRun: true });
      },
    },
    'a leader election with a candidate that loses all the time': {
      told: [],
      play: (p) => {
        p.create('one', lease, { spec: { holderIdentity: 'one', renewTime: '0' } });
        for (let round = 0; round < 20; round += 1) {
          p.get('two', lease);
          const rv = p.tokenOf(lease);
          p.put('one', lease, { spec: { holderIdentity: 'one', renewTime: String(round + 1) } }, { rv });
          p.put('two', lease, { spec: { holderIdentity: 'two', renewTime: String(round) } }, { rv });
          p.wait(200);
        }
      },
    },
    'a lease that is renewed without anybody in between': {
      told: [],
      play: (p) => {
        p.create('one', lease, { spec: { holderIdentity: 'one', renewTime: '0' } });
        p.watch('one', lease);
        for (let round = 0; round < 30; round += 1)
          p.put(
            'one',
            lease,
            { spec: { holderIdentity: 'one', renewTime: String(round + 1) } },
            { rv: p.tokenOf(lease) },
          );
      },
    },
    'a rolling restart: pods of one owner with generated names': {
      told: [],
      play: (p) => {
        const owner = p.create('user', demo, { spec: { replicas: 3 } });
        p.list('rs', pod('x'));
        p.watch('rs', pod('x'));
        p.watch('rs', demo);
        for (let index = 0; index < 6; index += 1) {
          p.create('rs', pod(`web-${'abcdef'[index]}${index}`), {
            metadata: {
              generateName: 'web-',
              ownerReferences: [{ apiVersion: 'v1', kind: 'Toy', name: 'demo', uid: owner }],
            },
            spec: { image: 'a' },
          });
          if (index >= 3)
            p.remove('rs', pod(`web-${'abcdef'[index - 3]}${index - 3}`), {
              uid: p.uidOf(pod(`web-${'abcdef'[index - 3]}${index - 3}`)),
            });
          p.wait(500);
        }
      },
    },
    'a test suite that creates, deletes and creates the same names again': {
      told: [],
      play: (p) => {
        for (let round = 0; round < 8; round += 1) {
          p.create('e2e', map, data({ round: String(round) }));
          p.get('e2e', map);
          p.put('e2e', map, data({ round: 'x' }), { rv: p.tokenOf(map) });
          p.remove('e2e', map);
          p.get('e2e', map);
        }
      },
    },
    'a delete of an object that somebody changed meanwhile is not another incarnation': {
      told: [],
      play: (p) => {
        p.create('B', map, data({ a: '1' }));
        p.list('A', map);
        p.put('B', map, data({ a: '2' }), { rv: p.tokenOf(map) });
        p.remove('A', map);
      },
    },
    'only lastTransitionTime differs': {
      told: [],
      play: (p) => {
        const at = (time: string, more: JsonObject = {}): JsonObject => ({
          status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: time }], ...more },
        });
        p.create('B', demo, at('1'));
        p.get('A', demo);
        p.put('B', demo, at('2'), { rv: p.tokenOf(demo), sub: 'status' });
        p.put('A', demo, at('1', { n: 1 }), { sub: 'status' });
      },
    },
    'lists in another order hold the same': {
      told: [],
      play: (p) => {
        const env = (...names: string[]): JsonObject => ({
          spec: { env: names.map((name) => ({ name, value: name })) },
        });
        p.create('B', demo, env('a', 'b'));
        p.get('A', demo);
        p.put('B', demo, env('b', 'a'), { rv: p.tokenOf(demo) });
        p.get('A', demo);
        p.put('A', demo, { spec: { ...(env('a', 'b')['spec'] as JsonObject), size: 2 } }, { rv: p.tokenOf(demo) });
      },
    },
    'a client without a version that nobody else disturbs': {
      told: [],
      play: (p) => {
        p.create('A', map, data({ n: '0' }));
        for (let round = 1; round < 8; round += 1) {
          p.put('A', map, data({ n: String(round) }));
          p.wait(3_000);
        }
      },
    },
    'a watch that delivers the versions of its own writes late': {
      told: [],
      play: (p) => {
        p.create('op', demo, { spec: { size: 0 } });
        p.list('op', demo);
        p.watch('op', demo);
        p.hold('op');
        for (let round = 0; round < 5; round += 1) {
          p.put('op', demo, { status: { n: round } }, { rv: p.tokenOf(demo), sub: 'status' });
          p.wait(700);
        }
        p.release('op');
        p.put('op', demo, { status: { n: 9 } }, { rv: p.tokenOf(demo), sub: 'status' });
      },
    },
    'an actor that reads its own write back and then sets the earlier value': {
      told: [],
      play: (p) => {
        p.create('deployer', deployment, scale(2));
        p.list('ctl', deployment);
        for (let round = 0; round < 6; round += 1) {
          p.patch('ctl', deployment, { spec: { replicas: 3 - (round % 2) } });
          p.list('ctl', deployment);
          p.get('ctl', deployment);
          p.wait(3_000);
        }
      },
    },
    'patches that name one field, each actor its own': {
      told: [],
      play: (p) => {
        p.create('user', demo, { spec: { size: 1 } });
        for (let round = 0; round < 6; round += 1) {
          p.patch('A', demo, { metadata: { annotations: { a: String(round % 2) } } });
          p.patch('B', demo, { metadata: { annotations: { b: String(round % 2) } } });
          p.wait(500);
        }
      },
    },
    'a create that is answered with AlreadyExists once, then read and used': {
      told: [],
      play: (p) => {
        p.create('B', map, data({ a: '1' }));
        for (let round = 0; round < 6; round += 1) {
          p.create('A', map, data({ a: '1' }));
          p.get('A', map);
          p.wait(300);
        }
      },
    },
    'a relist after a 410 shows what the watch had shown': {
      told: [],
      play: (p) => {
        p.create('user', demo, { spec: { size: 1 } });
        p.list('op', demo);
        p.watch('op', demo);
        p.put('user', demo, { spec: { size: 2 } }, { rv: p.tokenOf(demo) });
        p.wait(4_000);
        p.list('op', demo);
        p.put('op', demo, { status: { size: 2 } }, { rv: p.tokenOf(demo), sub: 'status' });
      },
    },
    'a counter that two clients count up, every read fresh': {
      told: [],
      play: (p) => {
        p.create('A', map, data({ n: '0' }));
        for (let round = 0; round < 10; round += 1)
          for (const actor of ['A', 'B']) {
            const read = p.get(actor, map);
            const n = Number((read['data'] as JsonObject)['n']);
            p.put(actor, map, data({ n: String(n + 1) }), { rv: p.tokenOf(map) });
          }
      },
    },
    'kubectl apply beside a controller that adds an annotation': {
      told: [],
      play: (p) => {
        const body = (image: string): Json => ({
          spec: { template: { spec: { containers: [{ name: 'web', image }] } } },
        });
        p.create('kubectl', deployment, scale(2));
        p.watch('ctl', deployment);
        for (let round = 0; round < 4; round += 1) {
          p.patch('ctl', deployment, { metadata: { annotations: { revision: String(round) } } });
          p.get('kubectl', deployment);
          p.patch('kubectl', deployment, body(`a:${round + 2}`), {
            type: 'strategic',
            gives: { ...scale(2, `a:${round + 2}`), metadata: { annotations: { revision: String(round) } } },
          });
          p.wait(2_000);
        }
      },
    },
  });
});

describe('other findings in every order of events', () => {
  cases({
    'sixty refused PUTs in a second': {
      told: ['hot-conflict-loop/self-conflict demo'],
      play: (p) => {
        p.create('user', demo, { spec: { size: 1 } });
        p.get('A', demo);
        const rv = p.tokenOf(demo);
        p.put('A', demo, { status: { n: 1 } }, { rv, sub: 'status' });
        for (let round = 0; round < 59; round += 1) {
          p.put('A', demo, { status: { n: 2 } }, { rv, sub: 'status' });
          p.wait(-35);
        }
        p.get('A', demo);
        p.put('A', demo, { status: { n: 2 } }, { rv: p.tokenOf(demo), sub: 'status' });
      },
    },
    'a PUT that lands on the next incarnation': {
      told: ['stale-incarnation-write/overwrite demo'],
      play: (p) => {
        p.create('B', map, data({ a: '1' }));
        p.get('A', map);
        p.remove('B', map);
        p.create('B', map, data({ b: '1' }));
        p.put('A', map, data({ x: '1' }));
      },
    },
    'a delete of the next incarnation': {
      told: ['stale-incarnation-write/delete demo'],
      play: (p) => {
        p.create('B', map, data({ a: '1' }));
        p.list('A', map);
        p.remove('B', map);
        p.create('B', map, data({ b: '1' }));
        p.remove('A', map);
      },
    },
    'the same with the UID is refused': {
      told: [],
      play: (p) => {
        p.create('B', map, data({ a: '1' }));
        p.list('A', map);
        const uid = p.uidOf(map);
        p.remove('B', map);
        p.create('B', map, data({ b: '1' }));
        p.remove('A', map, { uid });
        p.put('A', map, data({ x: '1' }), { uid });
      },
    },
    "an annotation that holds a dead object's UID": {
      told: ['stale-reference registry'],
      play: (p) => {
        const uid = p.create('B', map, data({ a: '1' }));
        p.remove('B', map);
        p.create('B', map, data({ a: '2' }));
        p.create('C', configMap('registry'), data({ lb: `service-uid=${uid}` }));
      },
    },
    'a write of what nothing changes, over and over': {
      told: ['no-op-writes demo'],
      play: (p) => {
        p.create('B', map, data({ a: '1' }));
        for (let round = 0; round < 12; round += 1) {
          p.get('A', map);
          p.put('A', map, data({ a: '1' }), { rv: p.tokenOf(map) });
          p.wait(500);
        }
      },
    },
    'a controller woken by its own heartbeat': {
      told: ['update-loop demo'],
      audit: [],
      play: (p) => {
        p.create('user', demo, { spec: { size: 1 } });
        p.list('op', demo);
        p.watch('op', demo);
        for (let round = 0; round < 20; round += 1)
          p.put('op', demo, { status: { count: round } }, { rv: p.tokenOf(demo), sub: 'status' });
      },
    },
    'a create that is refused over and over': {
      told: ['already-exists-loop demo'],
      play: (p) => {
        p.create('B', map, data({ a: '1' }));
        for (let round = 0; round < 7; round += 1) p.create('A', map, data({ a: '1' }));
      },
    },
    'two that undo each other at the head of a list without keys': {
      told: ['ownership-fight demo'],
      play: (p) => {
        const rules = (...values: number[]): JsonObject => ({ spec: { rules: values.map((value) => ({ value })) } });
        p.create('A', demo, rules(1, 2, 3));
        for (let round = 0; round < 6; round += 1)
          for (const [actor, content] of [
            ['B', rules(2, 3)],
            ['A', rules(1, 2, 3)],
          ] as const) {
            p.get(actor, demo);
            p.put(actor, demo, content, { rv: p.tokenOf(demo) });
            p.wait(400);
          }
      },
    },
    'two that undo each other': {
      told: ['ownership-fight demo'],
      play: (p) => {
        p.create('A', map, data({ mode: 'a' }));
        for (let round = 0; round < 6; round += 1)
          for (const [actor, mode] of [
            ['B', 'b'],
            ['A', 'a'],
          ] as const) {
            p.get(actor, map);
            p.put(actor, map, data({ mode }), { rv: p.tokenOf(map) });
            p.wait(400);
          }
      },
    },
    'a token that nobody was given': {
      told: ['invented-token demo'],
      play: (p) => {
        p.create('B', map, data({ a: '1' }));
        p.get('A', map);
        p.put('A', map, data({ a: '2' }), { rv: '999999' });
      },
    },
    'a patch that puts its own newer value back, by one whose cache does not show that yet': {
      told: ['stale-read/own-write web'],
      play: (p) => {
        p.create('deployer', deployment, scale(2));
        const old = p.get('ctl', deployment);
        p.patch('ctl', deployment, { spec: { replicas: 3 } });
        p.wait(2_000);
        p.get('ctl', deployment, { cached: true, shown: old });
        p.patch('ctl', deployment, { spec: { replicas: 2 } });
      },
    },
    'a read from a cache that is behind its own write, and a write on that': {
      told: ['stale-read/own-write demo'],
      play: (p) => {
        p.create('A', map, data({ n: '0' }));
        const old = p.get('A', map);
        const rv = p.tokenOf(map);
        p.put('A', map, data({ n: '1' }), { rv });
        p.wait(2_000);
        p.get('A', map, { cached: true, shown: old });
        p.put('A', map, data({ n: '1', m: '1' }), { rv });
      },
    },
  });
});
