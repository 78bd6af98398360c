import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startScenario, type RunningScenario } from '../../src/sandbox/scenario.ts';
import { needKubectl } from '../apiserver/kubectl.ts';

interface Run {
  readonly code: number;
  readonly out: string;
}

const DEPLOYMENT = (image: string, replicas = 1): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {tier: front}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "${image}", ports: [{containerPort: 80}]}
`;

describe('sandbox: kubectl as a client', function () {
  this.timeout(60_000);
  let running: RunningScenario;
  let folder: string;
  const stops: (() => Promise<void>)[] = [];

  before(async function () {
    await needKubectl(this);
    folder = await mkdtemp(join(tmpdir(), 'object-versions-kubectl-'));
    stops.push(() => rm(folder, { recursive: true }));
    running = await startScenario({ scenario: 'quiet', stepMs: 100 });
    stops.push(() => running.stop());
    await writeFile(join(folder, 'kubeconfig'), running.sandbox.kubeconfig);
    await writeFile(join(folder, 'one.yaml'), DEPLOYMENT('web:1'));
    await writeFile(join(folder, 'two.yaml'), DEPLOYMENT('web:2'));
  });
  after(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  const kubectl = (...words: readonly string[]): Promise<Run> =>
    new Promise((resolve) => {
      const env = {
        ...process.env,
        KUBECONFIG: join(folder, 'kubeconfig'),
        HOME: folder,
        KUBE_EDITOR: 'sed -i s/before/after/',
        EDITOR: 'sed -i s/before/after/',
      };
      execFile('kubectl', [...words], { env, timeout: 30_000, cwd: folder }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), out: stdout + stderr });
      });
    });

  async function expects(words: string, found: RegExp, code = 0): Promise<string> {
    const run = await kubectl(...words.split(' '));
    assert.match(run.out, found, `kubectl ${words}`);
    assert.equal(run.code, code, `kubectl ${words}: ${run.out}`);
    return run.out;
  }

  it('version and api-resources', async () => {
    await expects('version', /Server Version: v1\.\d+\.\d+\+sandbox/);
    const resources = await expects('api-resources', /configmaps +cm +v1 +true +ConfigMap/);
    for (const kind of ['Deployment', 'Lease', 'CustomResourceDefinition', 'HorizontalPodAutoscaler', 'CronJob'])
      assert.match(resources, new RegExp(`\\b${kind}\\b`));
  });

  it('create, get, describe, label, annotate, patch, delete', async () => {
    await expects('create configmap a --from-literal=k=before', /configmap\/a created/);
    await expects('get configmap a', /a +1 +\d+s/);
    await expects('describe configmap a', /before/);
    await expects('label configmap a x=y', /labeled/);
    await expects('annotate configmap a x=y', /annotated/);
    await expects('patch configmap a --patch {"data":{"z":"1"}}', /patched/);
    await expects('patch configmap a --type=json --patch [{"op":"remove","path":"/data/z"}]', /patched/);
    await expects('edit configmap a', /edited/);
    await expects('get configmap a -o jsonpath={.data.k}', /^after$/);
    await expects('get configmap a -o yaml', /resourceVersion: "\d+"/);
    await expects('delete configmap a', /deleted/);
    await expects('get configmap a', /NotFound/, 1);
    await expects('create secret generic s --from-literal=a=b', /created/);
    await expects('create job j --image=x', /created/);
    await expects('create cronjob c --image=x --schedule=@daily', /created/);
    await expects('create role r --verb=get --resource=pods', /created/);
    await expects('create serviceaccount robot', /created/);
  });

  it('apply in both ways, diff, scale, set, rollout, wait, replace', async () => {
    await expects('apply -f one.yaml', /deployment.apps\/web created/);
    await expects('wait --for=condition=Available deployment/web --timeout=20s', /condition met/);
    await expects('diff -f two.yaml', /image: web:2/, 1);
    await expects('apply -f two.yaml', /configured/);
    await expects('apply -f two.yaml', /unchanged/);
    await expects('rollout status deployment/web --timeout=20s', /successfully rolled out/);
    await expects('scale deployment web --replicas=3', /scaled/);
    await expects('rollout status deployment/web --timeout=20s', /successfully rolled out/);
    await expects('get deployment,replicaset,pods', /3\/3 +3 +3/);
    await expects('apply --server-side -f one.yaml', /conflict/i, 1);
    await expects('apply --server-side --force-conflicts -f one.yaml', /serverside-applied/);
    await expects('set image deployment/web web=web:3', /image updated/);
    await expects('autoscale deployment web --min=1 --max=3', /autoscaled/);
    await expects('expose deployment web --port=80', /exposed/);
    await expects('replace -f one.yaml', /replaced/);
    await expects('wait --for=jsonpath={.spec.replicas}=1 deployment/web --timeout=10s', /condition met/);
    await expects('delete deployment web --cascade=foreground', /deleted/);
    await expects('get pods -o name', /^$/);
  });

  it('explain, auth, raw, namespaces', async () => {
    await expects('explain deployment.spec.replicas', /FIELD: replicas <integer>/);
    await expects('explain pod.spec.containers', /List of containers/);
    await expects('auth can-i delete pods', /yes/);
    await expects('auth whoami', /admin/);
    await expects('get --raw /readyz', /^ok$/);
    await expects('create namespace passing', /created/);
    await expects('delete namespace passing --timeout=20s', /deleted/);
    await expects('get namespace passing', /NotFound/, 1);
  });

  it('a conflict is told as such', async () => {
    await expects('create configmap c --from-literal=k=v', /created/);
    const { out } = await kubectl('get', 'configmap', 'c', '-o', 'json');
    await writeFile(join(folder, 'stale.json'), out);
    await expects('patch configmap c --patch {"data":{"k":"w"}}', /patched/);
    await expects('replace -f stale.json', /the object has been modified/, 1);
  });
});
