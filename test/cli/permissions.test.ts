import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/base/clock.ts';
import type { Json, JsonObject } from '../../src/codec/json.ts';
import { parseYaml } from '../../src/codec/yaml.ts';
import { relatedObjects } from '../../src/editor/around/relatedObjects.ts';
import { connectCluster, type Cluster } from '../../src/kube/cluster.ts';
import { discover } from '../../src/kube/discovery.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { createObject } from '../../src/write/createObject.ts';
import { modify } from '../../src/write/modify.ts';
import { at, changes, RealServer, textAt } from '../write/realServer.ts';
import { BundledCli } from '../write/runCli.ts';
import { Place } from './place.ts';

/** The Roles of the page: their rules, and the rights that the table below each explains. */
function rolesOf(page: string): Map<string, { rules: JsonObject[]; explained: string[] }> {
  const roles = new Map<string, { rules: JsonObject[]; explained: string[] }>();
  for (const section of page.split(/^## /m)) {
    const yaml = /```yaml\n([\s\S]*?)```/.exec(section)?.[1];
    if (yaml === undefined) continue;
    const role = parseYaml(yaml).value;
    const explained = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, verb = '']) => verb);
    roles.set(textAt(role, 'metadata', 'name'), { rules: at(role, 'rules') as JsonObject[], explained });
  }
  return roles;
}

const verbsOf = (rule: JsonObject): string[] => rule['verbs'] as string[];
const fromRoot = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url));
const lessons = fromRoot('src/lab/data/lessons');
const page = readFileSync(fromRoot('docs/permissions.md'), 'utf8');
const roles = rolesOf(page);
const signal = (): AbortSignal => AbortSignal.timeout(30_000);

/** A feature as a user with a Role sees it: what comes of it, with all rights and with one less. */
interface Feature {
  readonly role: string;
  readonly what: string;
  readonly run: (place: Place) => Promise<string>;
  readonly allowed: string;
  /** What comes of it without a right that it needs. Left out: it is only tried with all of them. */
  readonly without?: Readonly<Record<string, string>>;
}

const set = (name: string, ...more: string[]): string[] => ['modify', 'cm', name, '--set', '.data.b="2"', ...more];

const features: Feature[] = [
  {
    role: 'versions-viewer',
    what: 'one object',
    run: async (place) => {
      await place.make('one');
      return (await place.run(['get', 'cm', 'one'])).told;
    },
    allowed: '0',
    without: { get: '5 cannot get configmaps' },
  },
  {
    role: 'versions-viewer',
    what: 'all objects',
    run: async (place) => (await place.run(['get', 'cm,deploy'])).told,
    allowed: '0',
    without: { list: '5 cannot list configmaps' },
  },
  {
    role: 'versions-viewer',
    what: 'a watch',
    run: async (place) => {
      await place.make('seen');
      const { told, said } = await place.run(['watch', 'cm'], [], 2_500);
      return `${told}, ${said.includes('/seen ') ? 'listed' : 'nothing listed'}`;
    },
    allowed: '130, listed',
    without: { list: '5 cannot list configmaps, nothing listed', watch: '5 cannot watch configmaps, listed' },
  },
  {
    role: 'versions-viewer',
    what: 'objects around one',
    run: async (place) => {
      const owner = await place.deployment();
      const uid = textAt(owner, 'metadata', 'uid');
      const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid }];
      await place.make('owned', { metadata: { ownerReferences } });
      const discovery = await discover(place.alice, signal());
      const { related, unread } = await relatedObjects(place.alice, discovery, owner, signal());
      return `${related.map(({ name }) => name).join()}; ${unread.includes('configmaps') ? 'not known' : 'known'}`;
    },
    allowed: 'owned; known',
    without: { list: '; not known' },
  },
  ...(['replace', 'json-patch', 'merge-patch', 'strategic', 'apply'] as const).map((strategy): Feature => ({
    role: strategy === 'replace' ? 'versions-editor' : 'versions-patcher',
    what: `an edit by ${strategy}`,
    run: async (place) => {
      const { target } = await place.make(`edit-${strategy}`);
      const { told } = await place.run(set(target.name, '--strategy', strategy));
      return told;
    },
    allowed: '0',
    without: {
      get: '5 cannot get configmaps',
      update: '5 cannot update configmaps',
      patch: '5 cannot patch configmaps',
    },
  })),
  ...(['replace', 'merge-patch'] as const).flatMap((strategy) =>
    (['status', 'scale'] as const).map((part): Feature => {
      const verb = strategy === 'replace' ? 'update' : 'patch';
      return {
        role: strategy === 'replace' ? 'versions-editor' : 'versions-patcher',
        what: `the ${part} by ${strategy}`,
        run: async (place) => {
          await place.deployment().catch(() => undefined);
          const change = part === 'scale' ? '.spec.replicas=3' : '.status.replicas=3';
          const args = ['modify', 'deploy', 'web', '--subresource', part, '--strategy', strategy, '--set', change];
          return (await place.run(args)).told;
        },
        allowed: '0',
        without: {
          get: `5 cannot get deployments${part === 'scale' ? '/scale' : ''}`,
          [verb]: `5 cannot ${verb} deployments/${part}`,
        },
      };
    }),
  ),
  ...(['replace', 'merge-patch'] as const).map((strategy): Feature => ({
    role: strategy === 'replace' ? 'versions-editor' : 'versions-patcher',
    what: `a lost answer to a write by ${strategy}, and somebody who writes right after it`,
    run: async (place) => {
      const { target } = await place.make(`lost-${strategy}`);
      const server = place.cutting(() => place.other(target, { data: { a: 'theirs' } }));
      const options = { clock: systemClock, strategy, backoff: { baseMs: 1, capMs: 5 } };
      return (await modify(server, target, changes({ 'data/a': 'mine' }), options)).outcome;
    },
    allowed: 'written',
    without: { get: 'forbidden', update: 'forbidden', patch: 'forbidden', watch: 'needs-decision' },
  })),
  {
    role: 'versions-deleter',
    what: 'a deletion',
    run: async (place) => {
      const { object } = await place.make('old');
      return (await place.run(['delete', 'cm', 'old', '--uid', textAt(object, 'metadata', 'uid')])).told;
    },
    allowed: '0',
    without: { delete: '5 cannot delete configmaps' },
  },
  {
    role: 'versions-deleter',
    what: 'a deletion at a version that is no more',
    run: async (place) => {
      const { target, object } = await place.make('changed');
      await place.other(target, { data: { a: 'theirs' } });
      const metadata = ['uid', 'resourceVersion'].map((field) => textAt(object, 'metadata', field));
      const ran = await place.run([
        'delete',
        'cm',
        'changed',
        '--uid',
        metadata[0] ?? '',
        '--token',
        metadata[1] ?? '',
      ]);
      assert.equal(await place.value(target), 'theirs');
      return `${ran.told}, ${ran.said.includes('.data.a: base') ? 'with what changed' : 'without'}`;
    },
    allowed: '3, with what changed',
    without: { delete: '5 cannot delete configmaps, without', get: '3, without', list: '3, without' },
  },
  {
    role: 'versions-creator',
    what: 'a creation',
    run: async (place) => {
      const options = { clock: systemClock };
      const report = await createObject(place.alice, place.configMap('new'), { metadata: { name: 'new' } }, options);
      return report.outcome;
    },
    allowed: 'written',
    without: { create: 'forbidden' },
  },
  {
    role: 'versions-creator',
    what: 'a lost answer to a creation',
    run: async (place) => {
      const server = place.cutting(async () => undefined);
      const options = { clock: systemClock, backoff: { baseMs: 1, capMs: 5 } };
      return (await createObject(server, place.configMap('lost'), { metadata: { name: 'lost' } }, options)).outcome;
    },
    allowed: 'written',
    without: { create: 'forbidden', get: 'unknown' },
  },
  {
    role: 'versions-recorder',
    what: 'a recording',
    run: async (place) => {
      await place.make('touched');
      const { told, said } = await place.run(['record'], ['get', 'cm', 'touched', '-n', place.namespace]);
      return `${told}, ${said.includes('configmaps cannot be watched') ? 'not followed' : 'followed'}`;
    },
    allowed: '0, followed',
    without: { list: '0 cannot list configmaps, not followed', watch: '0 cannot watch configmaps, not followed' },
  },
  {
    role: 'versions-lessons',
    what: 'a lesson',
    run: async (place) =>
      (await place.run(['lab', 'lesson', `${lessons}/03-generation-and-status.yaml`, '--solve'])).told,
    allowed: '0',
    without: {
      get: '5 cannot get configmaps',
      create: '5 cannot create configmaps',
      update: '5 cannot update configmaps',
      delete: '5 cannot delete deployments',
    },
  },
  {
    role: 'versions-lessons',
    what: 'a lesson with apply',
    run: async (place) =>
      (await place.run(['lab', 'lesson', `${lessons}/05-ownership-and-apply.yaml`, '--solve'])).told,
    allowed: '0',
    without: {
      get: '5 cannot get configmaps',
      create: '5 cannot create configmaps',
      patch: '5 cannot patch configmaps',
      delete: '5 cannot delete configmaps',
    },
  },
  {
    role: 'versions-lessons',
    what: 'every lesson',
    run: async (place) => {
      const told: string[] = [];
      for (const file of readdirSync(lessons)) {
        const ran = await place.run(['lab', 'lesson', join(lessons, file), '--solve']);
        if (ran.code !== 0) told.push(`${file}: ${ran.told}`);
      }
      return told.join('; ');
    },
    allowed: '',
  },
  ...(
    [
      ['the replay', ['replay'], {}],
      ['contention by read-modify-write', ['contention'], { patch: '0, 0 left' }],
      ['contention by apply', ['contention', '--strategy', 'apply'], { update: '0, 0 left' }],
    ] as const
  ).map(([what, args, otherwise]): Feature => ({
    role: 'versions-labs',
    what,
    run: async (place) => {
      const before = await place.left();
      const { told } = await place.run(['lab', ...args]);
      return `${told}, ${(await place.left()) - before} left`;
    },
    allowed: '0, 0 left',
    without: {
      get: '5 cannot get configmaps, 1 left',
      create: '5 cannot create configmaps, 0 left',
      update: '5 cannot update configmaps, 0 left',
      patch: '5 cannot patch configmaps, 0 left',
      delete: '5 cannot delete configmaps, 1 left',
      ...otherwise,
    },
  })),
];

/** What a client does behind the recorder is its own affair. */
const besides: Readonly<Record<string, JsonObject[]>> = {
  'versions-recorder': [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }],
};

describe('the Roles of the page on permissions', function () {
  this.timeout(180_000);
  let real: RealServer;
  let cli: BundledCli;
  let folder: string;
  let kubeconfig: string;
  let alice: Cluster;
  let user: string;

  before(async function () {
    real = await RealServer.start(this);
    cli = await BundledCli.make();
    folder = await mkdtemp(join(tmpdir(), 'object-versions-permissions-'));
    kubeconfig = await real.server.kubeconfig(join(folder, 'alice'), 'alice');
    const config = loadKubeconfig({ paths: [kubeconfig], env: {}, home: '/' });
    alice = connectCluster(config, { userAgent: 'permissions-test', clock: systemClock, env: {} });
    const review = await ask('authentication.k8s.io', 'selfsubjectreviews', {});
    user = textAt(review, 'status', 'userInfo', 'username');
  });
  after(async () => {
    alice?.dispose();
    await cli?.dispose();
    await real?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** What the server says of the user's own rights. */
  async function ask(group: string, resource: string, spec: JsonObject): Promise<Json> {
    const kind = resource === 'selfsubjectreviews' ? 'SelfSubjectReview' : 'SelfSubjectAccessReview';
    const reply = await alice.send(
      {
        method: 'POST',
        path: `/apis/${group}/v1/${resource}`,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ apiVersion: `${group}/v1`, kind, ...spec }),
      },
      signal(),
    );
    return JSON.parse(reply.body) as Json;
  }

  async function place(rules: JsonObject[]): Promise<Place> {
    const created = await real.send('POST', '/api/v1/namespaces', { metadata: { generateName: 'permissions-' } });
    const namespace = textAt(created, 'metadata', 'name');
    const root = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
    const metadata = { name: 'some-rights' };
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name };
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }];
    await real.send('POST', `${root}/roles`, { metadata, rules });
    await real.send('POST', `${root}/rolebindings`, { metadata, roleRef, subjects });
    for (const rule of rules) await untilGranted(namespace, rule);
    return new Place(namespace, real, cli, alice, kubeconfig);
  }

  /** The server takes note of a binding a moment after it is stored. */
  async function untilGranted(namespace: string, rule: JsonObject): Promise<void> {
    const [group, resource, verb] = ['apiGroups', 'resources', 'verbs'].map((field) => textAt(rule, field, '0'));
    const [name = '', subresource] = (resource ?? '').split('/');
    const resourceAttributes = {
      namespace,
      verb: verb ?? '',
      group: group ?? '',
      resource: name,
      ...(subresource === undefined ? {} : { subresource }),
    };
    for (;;) {
      const review = await ask('authorization.k8s.io', 'selfsubjectaccessreviews', { spec: { resourceAttributes } });
      if (at(review, 'status', 'allowed') === true) return;
      await systemClock.delay(20);
    }
  }

  it('are those that are tried here', () => {
    assert.deepEqual([...roles.keys()].sort(), [...new Set(features.map(({ role }) => role))].sort());
  });

  for (const [role, { rules, explained }] of roles) {
    const verbs = [...new Set(rules.flatMap(verbsOf))];
    const own = features.filter((feature) => feature.role === role);

    it(`${role}: every right is explained, and makes a difference`, () => {
      assert.deepEqual(explained.sort(), verbs.toSorted());
      assert.deepEqual(
        verbs.filter((verb) => !own.some(({ without = {} }) => Object.hasOwn(without, verb))),
        [],
      );
    });

    for (const missing of [undefined, ...verbs])
      it(`${role}${missing === undefined ? ' allows what it is for' : ` without ${missing}: what is missing is said`}`, async () => {
        const left = rules
          .map((rule) => ({ ...rule, verbs: verbsOf(rule).filter((verb) => verb !== missing) }))
          .filter((rule) => verbsOf(rule).length > 0);
        const here = await place([...left, ...(besides[role] ?? [])]);
        for (const { what, run, allowed, without } of own)
          if (missing === undefined) assert.equal(await run(here), allowed, what);
          else if (without !== undefined) assert.equal(await run(here), without[missing] ?? allowed, what);
      });
  }
});
