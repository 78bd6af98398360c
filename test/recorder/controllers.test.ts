import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sharedApiServer } from '../apiserver/apiServer.ts';
import { run, told, toldOf } from './cli.ts';
import { controllersProgram } from './goProgram.ts';
import { Outcomes } from './outcomes.ts';
import { startRelay } from './relay.ts';

type Expected = Readonly<Record<string, readonly string[]>>;

/** What each planted bug must be called, as `id/kind fields`; its correct twin must be called nothing. */
const UPDATES: Expected = {
  'token-swap': ['lost-update/token-swap .data.bob'],
  'borrowed-token': ['lost-update/token-swap .data.bob'],
  'retry-outside': ['lost-update/token-swap .metadata.labels.paint,.spec.color'],
  'status-swap': ['lost-update/status .status.conditions[type="Backup"]'],
  unconditional: ['lost-update/unconditional-overwrite .data.bob'],
  'blanked-token': ['lost-update/unconditional-overwrite .spec.replicas'],
  'map-replace': ['lost-update/unconditional-overwrite .data.bob'],
  finalizer: ['lost-update/finalizer .metadata.finalizers[="b.test/y"]'],
  'merge-from-finalizer': ['lost-update/finalizer .metadata.finalizers[="b.test/others"]'],
  'list-clobber': ['lost-update/list-clobber .status.conditions[type="Backup"]'],
  'merge-from-list': ['lost-update/list-clobber .spec.parts[name="door"]'],
  'index-patch': ['lost-update/index-patch .metadata.finalizers[="c.test/c"]'],
  'index-image': ['lost-update/index-patch .spec.template.spec.containers[name="proxy"]'],
  'dropped-fields': ['lost-update/dropped-fields .spec.color'],
  'dropped-item-fields': ['lost-update/dropped-fields .spec.parts[name="wheel"].weight'],
  'own-item-lost': ['stale-read/own-write .spec.parts[name="door"]'],
  'invented-token': ['invented-token .metadata.resourceVersion'],
  'force-takeover': ['force-takeover .data.mode'],
  'standing-force': ['force-takeover .spec.replicas'],
  fight: ['ownership-fight .data.mode'],
  'replicas-fight': ['ownership-fight .spec.replicas'],
  'annotation-fight': ['ownership-fight .metadata.annotations["example.test/mode"]'],
  'counter-back': ['lost-update/unconditional-overwrite .data.mode'],
  'status-blank': ['lost-update/status .status.conditions[type="Backup"],.status.readyReplicas,.status.replicas'],
  'secret-blank': ['lost-update/unconditional-overwrite .data.b'],
  'list-token': ['invented-token .metadata.resourceVersion'],
  'zero-token': ['lost-update/unconditional-overwrite .data.bob'],
  'lock-by-hand': ['lost-update/unconditional-overwrite .data.holder'],
  'finalizers-nil': ['lost-update/finalizer .metadata.finalizers[="b.test/volumes"]'],
  'scale-fight': ['ownership-fight .spec.replicas'],
  'sidecar-fight': ['ownership-fight .spec.template.spec.containers[name="mesh"]'],
  'shared-manager': ['ownership-fight .data.mine,.data.yours'],
  'declared-retry': ['lost-update/token-swap .spec.replicas'],
  'built-anew': ['lost-update/dropped-fields .metadata.annotations["audit.test/by"],.metadata.labels.team'],
  'dry-runs': [],
  contention: [],
  interleaved: [],
  adopt: [],
  'ssa-items': [],
  handshake: [],
  'repeated-apply': [],
};
/** What the server fills into the Deployment of `defaulted`. */
const DEFAULTS = [
  '.spec.progressDeadlineSeconds',
  '.spec.replicas',
  '.spec.revisionHistoryLimit',
  '.spec.strategy.rollingUpdate.maxSurge',
  '.spec.strategy.rollingUpdate.maxUnavailable',
  '.spec.strategy.type',
  '.spec.template.spec.containers[name="c"].imagePullPolicy',
  '.spec.template.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"].protocol',
  '.spec.template.spec.containers[name="c"].terminationMessagePath',
  '.spec.template.spec.containers[name="c"].terminationMessagePolicy',
  '.spec.template.spec.dnsPolicy',
  '.spec.template.spec.restartPolicy',
  '.spec.template.spec.schedulerName',
  '.spec.template.spec.terminationGracePeriodSeconds',
];
const LOOPS: Expected = {
  'hot-loop': ['hot-conflict-loop/self-conflict'],
  'self-conflict': ['hot-conflict-loop/self-conflict'],
  'hot-requeue': ['hot-conflict-loop/self-conflict'],
  'apply-loop': ['hot-conflict-loop/field-conflict .data.mode'],
  'already-exists': ['already-exists-loop'],
  'hidden-child': ['already-exists-loop'],
  'update-loop': ['update-loop .metadata.annotations.seen'],
  'status-loop': ['update-loop .status.checkedAt'],
  'ping-pong': ['update-loop .metadata.annotations.peer', 'update-loop .metadata.annotations.peer'],
  'no-op': ['no-op-writes'],
  'resync-no-op': ['no-op-writes'],
  respelled: ['no-op-writes .spec.template.spec.containers[name="app"].resources.limits.cpu'],
  defaulted: [`no-op-writes ${DEFAULTS.join()}`],
  'unseen-children': ['stale-read/duplicate-create', 'stale-read/duplicate-create'],
  'unsynced-children': ['stale-read/duplicate-create', 'stale-read/duplicate-create'],
  'status-retry': ['hot-conflict-loop'],
  'uid-loop': ['hot-conflict-loop/uid-mismatch'],
  'test-loop': ['hot-conflict-loop'],
  'child-heartbeat': ['update-loop .metadata.annotations.last-sync'],
  'criss-cross': ['update-loop .metadata.annotations.seen', 'update-loop .metadata.annotations.seen'],
  'map-order': ['update-loop .spec.template.spec.containers[name="app"].env'],
  'leader-election': [],
  'informer-controller': [],
  'whole-operator': [],
  progress: [],
  'cr-contention': [],
  burst: [],
};
const LISTS: Expected = {
  'lister-blank-late': ['lost-update/unconditional-overwrite .data.bob'],
  'strategic-replace': ['lost-update/list-clobber .spec.template.spec.containers[name="app"].env[name="PROXY"]'],
  'json-finalizers': ['lost-update/finalizer .metadata.finalizers[="b.test/y"]'],
  'status-conditions-patch': ['lost-update/list-clobber .status.conditions[type="Backup"]'],
  'hpa-past': ['force-takeover .spec.replicas', 'ownership-fight .spec.replicas'],
  'ssa-force-fight': [
    'force-takeover .data.mode',
    'force-takeover .data.mode',
    'force-takeover .data.mode',
    'ownership-fight .data.mode',
  ],
  'tolerations-patch': ['lost-update/list-clobber .spec.template.spec.tolerations[key="spot"]'],
  'owners-clobber': ['lost-update/list-clobber .metadata.ownerReferences[uid]'],
  'drift-twice': [],
  'two-instances': [],
};
const INCARNATIONS: Expected = {
  'stale-delete': ['stale-incarnation-write/delete'],
  'old-death-sentence': ['stale-incarnation-write/delete'],
  'stale-overwrite': ['stale-incarnation-write/overwrite'],
  'patched-by-name': ['stale-incarnation-write/overwrite'],
  'carried-value': ['stale-incarnation-write/value .status.externalID'],
  'stale-owner': ['stale-reference .metadata.ownerReferences[0].uid'],
  'stale-registry': ['stale-reference .data.lb-1'],
};
/** Written by somebody who knew the findings only, on other kinds of objects. */
const STRANGERS: Expected = {
  'finalizers-null': ['lost-update/finalizer .metadata.finalizers[="b.test/backup"]'],
  'index-rule': ['lost-update/index-patch .spec.rules[1]'],
  'scale-blank': ['lost-update/unconditional-overwrite .spec.replicas'],
  'workers-map': ['lost-update/token-swap .data.w0'],
  'own-takeover': ['force-takeover .data.mode'],
  'label-request': ['lost-update/token-swap .metadata.labels.needs-work'],
  'claim-repaired': ['stale-reference .spec.claimRef.uid'],
  'many-threads': [],
  'api-versions': [],
};
const LOST: Expected = {
  'lost-update-answer': ['uncertain-write/self-conflict'],
  'lost-create-answer': ['uncertain-write/duplicate-create'],
  'impatient-create': ['uncertain-write/duplicate-create'],
};

const GROUPS = { updates: UPDATES, lists: LISTS, loops: LOOPS, incarnations: INCARNATIONS, strangers: STRANGERS };

describe('Go controllers behind the recorder, on the real server', function () {
  this.timeout(180_000);
  let kubeconfig = '';
  let folder = '';
  let program: string | undefined;
  let outcomes: Outcomes;
  /** What the correct twins leave where no recorder stands between. */
  let unrecorded: ReadonlyMap<string, readonly string[]> = new Map();

  before(async function () {
    const server = await sharedApiServer(this);
    this.timeout(1_200_000);
    folder = await mkdtemp(join(tmpdir(), 'controllers-test-'));
    kubeconfig = await server.kubeconfig(join(folder, 'config'));
    program = await controllersProgram();
    if (program === undefined) {
      process.stderr.write('controllers: there is no Go here, so that no controller ran behind the recorder.\n');
      if (process.env['CI'] === 'true') throw new Error('The controllers need Go.');
      this.skip();
    }
    outcomes = new Outcomes(server, new Set([...Object.keys(LOOPS), 'interleaved']));
    await outcomes.since('good');
    const scenarios = Object.values(GROUPS).flatMap((all) => Object.keys(all));
    await promisify(execFile)(program, ['good', ...scenarios], {
      env: { ...process.env, KUBECONFIG: kubeconfig, DIRECT_KUBECONFIG: kubeconfig },
    });
    unrecorded = await outcomes.since('good');
  });

  after(() => rm(folder, { recursive: true, force: true }));

  /** Records scenarios that run at the same time, each as an actor of its own on objects of its own. */
  async function holds(variant: 'bug' | 'good', all: Expected, config = kubeconfig, relay = ''): Promise<void> {
    const scenarios = Object.keys(all).filter((name) => variant === 'good' || (all[name]?.length ?? 0) > 0);
    const args = ['record', '--kubeconfig', config, '--client', 'controller', '-o', 'json', '--'];
    const ran = await run([...args, program ?? '', variant, ...scenarios], {
      DIRECT_KUBECONFIG: kubeconfig,
      RELAY: relay,
    });
    assert.equal(ran.code, 0, ran.stderr);
    for (const scenario of scenarios) {
      const expected = variant === 'bug' ? all[scenario] : [];
      assert.deepEqual(
        toldOf(ran.stdout, `${scenario}-${variant}-`),
        expected,
        `${scenario} ${variant}\n${ran.stdout}`,
      );
    }
    assert.deepEqual(
      toldOf(ran.stdout, '').length,
      scenarios.flatMap((scenario) => toldOf(ran.stdout, `${scenario}-`)).length,
    );
  }

  for (const [what, all] of Object.entries(GROUPS)) {
    it(`${what}: each bug is named with its object and fields, and nothing else`, () => holds('bug', all));
    it(`${what}: the correct twins are silent, and leave what they leave without the recorder`, async () => {
      await outcomes.since('good');
      await holds('good', all);
      const recorded = await outcomes.since('good');
      for (const scenario of Object.keys(all)) {
        const left = unrecorded.get(scenario);
        assert.ok(left !== undefined, scenario);
        assert.deepEqual(recorded.get(scenario), left, scenario);
      }
    });
  }

  it('answers that are lost: what became of the write, and what its sender did then', async () => {
    const relay = await startRelay(await readFile(kubeconfig, 'utf8'));
    try {
      const relayed = join(folder, 'relayed');
      await writeFile(relayed, relay.kubeconfig, { mode: 0o600 });
      await holds('bug', LOST, relayed, relay.control);
      await holds('good', LOST, relayed, relay.control);
    } finally {
      await relay.stop();
    }
  });

  it('protobuf is read as it is when the recorder leaves every byte alone', async () => {
    const args = [
      'record',
      '--kubeconfig',
      kubeconfig,
      '--transparent',
      '-o',
      'json',
      '--fail-on',
      'lost-update',
      '--',
    ];
    const ran = await run([...args, program ?? '', 'bug', 'token-swap'], { DIRECT_KUBECONFIG: kubeconfig });
    assert.equal(ran.code, 10, ran.stderr);
    assert.deepEqual(told(ran.stdout), ['lost-update/token-swap']);
  });
});
