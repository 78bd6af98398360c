import { message } from '../base/message.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { systemClock, type Clock } from '../base/clock.ts';
import { AppError, isAppError } from '../base/appError.ts';
import type { JsonObject } from '../codec/json.ts';
import { seededRandom, type Actor, type ActorContext } from './actors/actor.ts';
import { ApiClient, APPLY_PATCH } from './actors/apiClient.ts';
import { Autoscaler, Deployer } from './actors/autoscaler.ts';
import { CertificateController } from './actors/certificateController.ts';
import { DeploymentController } from './actors/deploymentController.ts';
import { Neighbour } from './actors/neighbour.ts';
import { startControllers } from './controllers.ts';
import { startGarbageCollector } from './gc.ts';
import { startNamespaceController } from './namespaceController.ts';
import { startPodReaper } from './podReaper.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from './server.ts';

/** The scenarios: which actors live on a sandbox. */
export const scenarioNames = ['bare', 'quiet', 'lively', 'contention', 'recreation', 'ownership'] as const;

/** One of the scenarios. */
export type ScenarioName = (typeof scenarioNames)[number];

/** How to start a sandbox with a scenario. */
export interface ScenarioOptions extends Omit<SandboxOptions, 'controllers'> {
  readonly scenario: ScenarioName;
  /** The same seed gives the same decisions of the actors. */
  readonly seed?: number;
  /** Milliseconds between two steps of the actors; 0: they act only when `step` is called. */
  readonly stepMs?: number;
}

/** What one actor did in a step. */
export interface Deed {
  readonly actor: string;
  readonly did: string;
}

/** A sandbox with its actors. */
export interface RunningScenario {
  readonly sandbox: Sandbox;
  readonly scenario: ScenarioName;
  /** Lets every actor act this many times; answers what they did. */
  step(steps?: number): Promise<Deed[]>;
  stop(): Promise<void>;
}

const NAMESPACE = 'shop';
const WEB = { namespace: NAMESPACE, name: 'web' };
const WEB_LABELS = { app: 'web' };
/** What the deployer applies. */
const WEB_FILE: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { ...WEB, labels: WEB_LABELS },
  spec: {
    replicas: 2,
    selector: { matchLabels: WEB_LABELS },
    template: { metadata: { labels: WEB_LABELS }, spec: { containers: [{ name: 'web', image: 'example.com/web:1' }] } },
  },
};
const DEFAULT_STEP_MS = 1000;

/** Starts a sandbox and what lives on it. */
export async function startScenario(options: ScenarioOptions): Promise<RunningScenario> {
  const { scenario } = options;
  const bare = scenario === 'bare';
  const sandbox = await startSandbox({
    ...options,
    ...(bare
      ? {}
      : {
          controllers: (state) =>
            startControllers(state, [startGarbageCollector, startNamespaceController, startPodReaper]),
        }),
  });
  const clock = options.clock ?? systemClock;
  const clients: ApiClient[] = [];
  const random = seededRandom(options.seed ?? 1);
  const contextOf = (name: string): ActorContext => {
    const client = new ApiClient({
      url: sandbox.url,
      caPem: sandbox.caPem,
      token: sandbox.addUser(name, ['system:masters']),
      agent: name,
    });
    clients.push(client);
    return { client, random, now: () => clock.now() };
  };
  const stopped = new AbortController();
  let running: Promise<void> = Promise.resolve();
  try {
    if (!bare && scenario !== 'quiet') await prepare(contextOf('deployer').client);
    const actors = actorsOf(scenario, contextOf);
    const crew = new Crew(actors, stopped.signal);
    sandbox.onStep = (steps, signal) => crew.step(steps, signal);
    const stepMs = options.stepMs ?? DEFAULT_STEP_MS;
    if (actors.length > 0 && stepMs > 0) running = act(crew, clock, stepMs, stopped.signal);
    return {
      sandbox,
      scenario,
      step: (steps = 1) => crew.step(steps),
      stop: async () => {
        stopped.abort();
        await running;
        await crew.idle();
        for (const client of clients) client.close();
        await sandbox.stop();
      },
    };
  } catch (error) {
    for (const client of clients) client.close();
    await sandbox.stop();
    throw error;
  }
}

function actorsOf(scenario: ScenarioName, contextOf: (name: string) => ActorContext): Actor[] {
  const deployments = (): Actor => new DeploymentController(contextOf('deployment-controller'));
  const neighbour = (name: string): Actor =>
    new Neighbour(contextOf(name), { name, path: `/api/v1/namespaces/${NAMESPACE}/configmaps/settings` });
  const certificates = (every: number): Actor =>
    new CertificateController(contextOf('cert-controller'), { namespace: NAMESPACE, secret: 'web-tls', every });
  switch (scenario) {
    case 'bare':
      return [];
    case 'quiet':
      return [deployments()];
    case 'lively':
      return [
        deployments(),
        new Autoscaler(contextOf('autoscaler'), WEB),
        new Deployer(contextOf('deployer'), WEB_FILE),
        neighbour('chatty-neighbour'),
        neighbour('config-reloader'),
        certificates(20),
      ];
    case 'contention':
      return [deployments(), ...['writer-a', 'writer-b', 'writer-c', 'writer-d'].map(neighbour)];
    case 'recreation':
      return [deployments(), certificates(5)];
    case 'ownership':
      return [
        deployments(),
        new Autoscaler(contextOf('autoscaler'), WEB, 4),
        new Deployer(contextOf('deployer'), WEB_FILE, 5),
      ];
    default:
      return scenario satisfies never;
  }
}

/** Steps actors one after another, never two at once. */
class Crew {
  private readonly actors: readonly Actor[];
  private readonly stopped: AbortSignal;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(actors: readonly Actor[], stopped: AbortSignal) {
    this.actors = actors;
    this.stopped = stopped;
  }

  /** Ends early when the scenario stops, or with the signal; the step that is under way is done. */
  step(steps: number, signal?: AbortSignal): Promise<Deed[]> {
    const next = this.queue.then(() => this.run(steps, signal));
    this.queue = next.catch(() => undefined);
    return next;
  }

  /** Resolves when no step is under way. */
  async idle(): Promise<void> {
    await this.queue;
  }

  private async run(steps: number, signal: AbortSignal | undefined): Promise<Deed[]> {
    const deeds: Deed[] = [];
    const isOver = (): boolean => this.stopped.aborted || signal?.aborted === true;
    for (let count = 0; count < steps && !isOver(); count += 1) {
      // Others have their turn between two steps.
      if (count > 0) await nextTurn();
      for (const actor of this.actors) {
        const did = await this.act(actor);
        if (did !== undefined) deeds.push({ actor: actor.name, did });
      }
    }
    return deeds;
  }

  /** A lost connection (a fault, a stop) is part of an actor's life; it tries again next time. */
  private async act(actor: Actor): Promise<string | undefined> {
    try {
      return await actor.step();
    } catch (error) {
      if (isAppError(error, 'connection-lost')) return undefined;
      throw error;
    }
  }
}

async function act(crew: Crew, clock: Clock, stepMs: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await clock.delay(stepMs, signal);
    } catch (error) {
      if (isAppError(error, 'cancelled')) return;
      throw error;
    }
    await crew.step(1);
  }
}

/** The objects that a story begins with: a namespace, a Deployment applied by its deployer, settings that many write. */
async function prepare(client: ApiClient): Promise<void> {
  const namespace = await client.create('/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NAMESPACE },
  });
  if (namespace.status !== 201)
    throw new AppError('internal', message`The scenario could not create its namespace (${namespace.status}).`);
  await client.patch(
    `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/web?fieldManager=deployer`,
    WEB_FILE,
    APPLY_PATCH,
  );
  await client.create(`/api/v1/namespaces/${NAMESPACE}/configmaps`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings', namespace: NAMESPACE },
    data: { greeting: 'hello', level: 'info' },
  });
}
