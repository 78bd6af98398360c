import type { JsonObject } from '../../codec/json.ts';
import { dig, meta, type Actor, type ActorContext } from './actor.ts';
import { APPLY_PATCH } from './apiClient.ts';

/** A Deployment that an actor looks after. */
export interface Target {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Owns `spec.replicas` of one Deployment: applies a number that follows an imaginary load, first asking, then, as whoever
 * configured it this way will learn, with force, which takes the field from whoever else owns it.
 */
export class Autoscaler implements Actor {
  readonly name = 'autoscaler';
  private readonly context: ActorContext;
  private readonly target: Target;
  private readonly every: number;
  private steps = 0;

  constructor(context: ActorContext, target: Target, every = 8) {
    this.context = context;
    this.target = target;
    this.every = every;
  }

  async step(): Promise<string | undefined> {
    this.steps += 1;
    if (this.steps % this.every !== this.every - 1) return undefined;
    const { namespace, name } = this.target;
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
    const { status, body } = await this.context.client.get(path);
    if (status !== 200) return undefined;
    const current = Number(dig(body, 'spec', 'replicas') ?? 1);
    const wished = 1 + Math.floor(this.context.random() * 4);
    const replicas = wished === current ? (current % 4) + 1 : wished;
    const config = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace }, spec: { replicas } };
    const asked = await this.context.client.patch(`${path}?fieldManager=autoscaler`, config, APPLY_PATCH);
    if (asked.status !== 409) return `scaled ${meta(body, 'name')} from ${current} to ${replicas}`;
    const forced = await this.context.client.patch(`${path}?fieldManager=autoscaler&force=true`, config, APPLY_PATCH);
    return forced.status === 200 ? `took spec.replicas of ${name} over and set it to ${replicas}` : undefined;
  }
}

/**
 * Someone who applies a Deployment's file now and then, whole and with force, as a pipeline does. The file names replicas, so
 * that this takes them back from the autoscaler.
 */
export class Deployer implements Actor {
  readonly name = 'deployer';
  private readonly context: ActorContext;
  private readonly file: JsonObject;
  private readonly every: number;
  private steps = 0;

  constructor(context: ActorContext, file: JsonObject, every = 13) {
    this.context = context;
    this.file = file;
    this.every = every;
  }

  async step(): Promise<string | undefined> {
    this.steps += 1;
    if (this.steps % this.every !== 0) return undefined;
    const [namespace, name] = [meta(this.file, 'namespace'), meta(this.file, 'name')];
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}?fieldManager=deployer&force=true`;
    const { status } = await this.context.client.patch(path, this.file, APPLY_PATCH);
    const replicas = Number(dig(this.file, 'spec', 'replicas') ?? 1);
    return status === 200 ? `applied its file for ${name} again, with ${replicas} replicas` : undefined;
  }
}
