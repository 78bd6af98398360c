import { createHash } from 'node:crypto';

import { equalJson, stringifyCanonical, type JsonObject } from '../../codec/json.ts';
import { dig, meta, type Actor, type ActorContext } from './actor.ts';
import { MERGE_PATCH } from './apiClient.ts';

/** How many steps a new generation waits before the controller sees to it: the lag that observedGeneration shows. */
const LAG_STEPS = 3;
const OWNER_KIND = { apiVersion: 'apps/v1', kind: 'Deployment' };

/**
 * Makes Deployments real, as far as a server without nodes can: a ReplicaSet for each template, its Pods, bound to an
 * imaginary node and marked ready, and the status with observedGeneration, which follows some steps behind.
 */
export class DeploymentController implements Actor {
  readonly name = 'deployment-controller';
  private readonly context: ActorContext;
  private readonly waiting = new Map<string, { generation: number; steps: number }>();

  constructor(context: ActorContext) {
    this.context = context;
  }

  async step(): Promise<string | undefined> {
    const deployments = await this.context.client.list('/apis/apps/v1/deployments');
    const done: string[] = [];
    for (const deployment of deployments) {
      if (meta(deployment, 'deletionTimestamp') !== '') continue;
      const did = await this.reconcile(deployment);
      if (did !== undefined) done.push(did);
    }
    return done.length === 0 ? undefined : done.join('; ');
  }

  private async reconcile(deployment: JsonObject): Promise<string | undefined> {
    const generation = Number(dig(deployment, 'metadata', 'generation') ?? 0);
    if (!this.isDue(meta(deployment, 'uid'), generation, Number(dig(deployment, 'status', 'observedGeneration') ?? 0)))
      return undefined;
    const set = await this.currentSet(deployment);
    if (set === undefined) return undefined;
    const pods = await this.matchPods(deployment, set);
    return this.writeStatus(deployment, generation, pods);
  }

  private isDue(uid: string, generation: number, observed: number): boolean {
    if (generation === observed) return true;
    const known = this.waiting.get(uid);
    if (known?.generation !== generation) {
      this.waiting.set(uid, { generation, steps: 1 });
      return false;
    }
    known.steps += 1;
    return known.steps > LAG_STEPS;
  }

  /** The ReplicaSet of the present template, created or scaled; those of older templates are scaled to none. */
  private async currentSet(deployment: JsonObject): Promise<JsonObject | undefined> {
    const namespace = meta(deployment, 'namespace');
    const path = `/apis/apps/v1/namespaces/${namespace}/replicasets`;
    const template = (dig(deployment, 'spec', 'template') ?? {}) as JsonObject;
    const hash = createHash('sha256').update(stringifyCanonical(template)).digest('hex').slice(0, 10);
    const name = `${meta(deployment, 'name')}-${hash}`;
    const replicas = Number(dig(deployment, 'spec', 'replicas') ?? 1);
    const owned = (await this.context.client.list(path)).filter((set) => isOwnedBy(set, deployment));
    for (const set of owned) {
      const wanted = meta(set, 'name') === name ? replicas : 0;
      if (Number(dig(set, 'spec', 'replicas') ?? 0) !== wanted)
        await this.context.client.patch(`${path}/${meta(set, 'name')}`, { spec: { replicas: wanted } }, MERGE_PATCH);
    }
    const current = owned.find((set) => meta(set, 'name') === name);
    if (current !== undefined) return current;
    const labels = { ...((dig(template, 'metadata', 'labels') ?? {}) as JsonObject), 'pod-template-hash': hash };
    const created = await this.context.client.create(path, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name, namespace, labels, ownerReferences: [ownerReference(deployment, OWNER_KIND)] },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { ...template, metadata: { ...((template['metadata'] ?? {}) as JsonObject), labels } },
      },
    });
    return created.status === 201 ? created.body : undefined;
  }

  /** Creates missing Pods and deletes surplus ones; answers how many run. */
  private async matchPods(deployment: JsonObject, set: JsonObject): Promise<number> {
    const namespace = meta(deployment, 'namespace');
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const all = await this.context.client.list(path);
    const alive = all.filter((pod) => meta(pod, 'deletionTimestamp') === '');
    const own = alive.filter((pod) => isOwnedBy(pod, set));
    const replicas = Number(dig(deployment, 'spec', 'replicas') ?? 1);
    for (const pod of own.slice(replicas))
      await this.context.client.remove(`${path}/${meta(pod, 'name')}`, { preconditions: { uid: meta(pod, 'uid') } });
    for (let missing = replicas - own.length; missing > 0; missing -= 1) await this.startPod(path, set);
    const sets = await this.context.client.list(`/apis/apps/v1/namespaces/${namespace}/replicasets`);
    const old = sets.filter((other) => isOwnedBy(other, deployment) && meta(other, 'uid') !== meta(set, 'uid'));
    for (const pod of alive.filter((pod) => old.some((other) => isOwnedBy(pod, other)))) {
      await this.context.client.remove(`${path}/${meta(pod, 'name')}`, { preconditions: { uid: meta(pod, 'uid') } });
    }
    for (const other of old) await this.writeSetStatus(other, 0);
    await this.writeSetStatus(set, replicas);
    return replicas;
  }

  private async startPod(path: string, set: JsonObject): Promise<void> {
    const template = (dig(set, 'spec', 'template') ?? {}) as JsonObject;
    const { status, body } = await this.context.client.create(path, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...((template['metadata'] ?? {}) as JsonObject),
        generateName: `${meta(set, 'name')}-`,
        ownerReferences: [ownerReference(set, { apiVersion: 'apps/v1', kind: 'ReplicaSet' })],
      },
      spec: template['spec'] ?? {},
    });
    if (status !== 201) return;
    const pod = `${path}/${meta(body, 'name')}`;
    await this.context.client.create(`${pod}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: meta(body, 'name') },
      target: { kind: 'Node', name: 'imaginary-node' },
    });
    const now = new Date(this.context.now()).toISOString().replace(/\.\d+/, '');
    const conditions = ['Initialized', 'Ready', 'ContainersReady'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: now,
    }));
    const containers = (dig(body, 'spec', 'containers') ?? []) as JsonObject[];
    const containerStatuses = containers.map((container) => ({
      name: container['name'] ?? '',
      image: container['image'] ?? '',
      imageID: 'imaginary',
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: now } },
    }));
    await this.context.client.patch(
      `${pod}/status`,
      { status: { phase: 'Running', startTime: now, conditions, containerStatuses } },
      'application/strategic-merge-patch+json',
    );
  }

  private async writeSetStatus(set: JsonObject, replicas: number): Promise<void> {
    const path = `/apis/apps/v1/namespaces/${meta(set, 'namespace')}/replicasets/${meta(set, 'name')}`;
    const { status, body } = await this.context.client.get(path);
    if (status !== 200) return;
    const wanted = {
      ...counts(replicas),
      fullyLabeledReplicas: replicas,
      observedGeneration: dig(body, 'metadata', 'generation') ?? 1,
    };
    const current = (body['status'] ?? {}) as JsonObject;
    const same = Object.entries(wanted).every(([field, value]) => equalJson(current[field] ?? 0, value));
    if (!same) await this.context.client.patch(`${path}/status`, { status: wanted }, MERGE_PATCH);
  }

  private async writeStatus(deployment: JsonObject, generation: number, pods: number): Promise<string | undefined> {
    const current = (deployment['status'] ?? {}) as JsonObject;
    const wanted = { ...counts(pods), updatedReplicas: pods, observedGeneration: generation };
    if (Object.entries(wanted).every(([field, value]) => equalJson(current[field] ?? 0, value))) return undefined;
    const now = new Date(this.context.now()).toISOString().replace(/\.\d+/, '');
    const condition = (type: string, reason: string, message: string): JsonObject => ({
      type,
      status: 'True',
      reason,
      message,
      lastUpdateTime: now,
      lastTransitionTime: now,
    });
    const conditions = [
      condition('Available', 'MinimumReplicasAvailable', 'Deployment has minimum availability.'),
      condition(
        'Progressing',
        'NewReplicaSetAvailable',
        `ReplicaSet of "${meta(deployment, 'name')}" has successfully progressed.`,
      ),
    ];
    const path = `/apis/apps/v1/namespaces/${meta(deployment, 'namespace')}/deployments/${meta(deployment, 'name')}`;
    const body = { ...deployment, status: { ...wanted, conditions } };
    const { status } = await this.context.client.replace(`${path}/status`, body);
    return status === 200
      ? `saw generation ${generation} of deployment ${meta(deployment, 'name')}`
      : `was refused the status of ${meta(deployment, 'name')} (${status})`;
  }
}

const counts = (replicas: number): { replicas: number; readyReplicas: number; availableReplicas: number } => ({
  replicas,
  readyReplicas: replicas,
  availableReplicas: replicas,
});

function ownerReference(owner: JsonObject, kind: { apiVersion: string; kind: string }): JsonObject {
  return { ...kind, name: meta(owner, 'name'), uid: meta(owner, 'uid'), controller: true, blockOwnerDeletion: true };
}

function isOwnedBy(object: JsonObject, owner: JsonObject): boolean {
  const references = dig(object, 'metadata', 'ownerReferences');
  return (
    Array.isArray(references) && references.some((reference) => (reference as JsonObject)['uid'] === meta(owner, 'uid'))
  );
}
