import { randomUUID } from 'node:crypto';

import { systemClock, type Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { makeLoopbackCertificate } from '../base/loopbackCertificate.ts';
import type { JsonObject } from '../codec/json.ts';
import type { NewTraceEvent } from '../core/traceEvent.ts';
import { Authenticator, type User } from './auth.ts';
import { control, isControlPath } from './control.ts';
import type { Controllers } from './controllers.ts';
import { createObject } from './creation.ts';
import { serveDefinitions } from './definitions.ts';
import { Faults } from './faults.ts';
import { Feed, type FeedListener } from './feed.ts';
import { listen, type Listener } from './http.ts';
import { IdleMemory } from './idleMemory.ts';
import { kubeconfigText } from './kubeconfig.ts';
import type { Kind } from './kinds/kind.ts';
import { createServiceAllocator } from './kinds/serviceAllocator.ts';
import { IMMORTAL_NAMESPACES, NAMESPACE_BUCKET } from './namespaces.ts';
import { newestView, type View } from './reading.ts';
import { KindRegistry } from './registry.ts';
import { RequestServer } from './serve.ts';
import { metaString, type ApiState, type Call } from './state.ts';
import { Store, type StoreSnapshot } from './store.ts';
import { numericTokens, randomTokens } from './tokens.ts';

/** How to start a sandbox. */
export interface SandboxOptions {
  /** 0, the default: the kernel chooses. */
  readonly port?: number;
  /** What tokens look like: decimal numbers as the real ones (the default), or random strings without any order. */
  readonly tokens?: 'numeric' | 'random';
  readonly clock?: Clock;
  /** How many commits can be watched and listed from in the past; 20,000 by default. */
  readonly historyLimit?: number;
  /** Starts controllers beside the API; none by default, as for a bare kube-apiserver. */
  readonly controllers?: (state: ApiState) => Controllers;
  /** The process does nothing but this: memory is given back when a busy time is over. */
  readonly ownProcess?: boolean;
  /** Told of failures of the server's own program; they are answered with 500 anyway. */
  readonly onError?: (error: unknown) => void;
}

/** A running sandbox. */
export interface Sandbox {
  readonly url: string;
  /** The bearer token of `admin`, of the group system:masters. */
  readonly token: string;
  /** The bearer token of `alice`, of the group devs, who has no rights. */
  readonly userToken: string;
  readonly caPem: string;
  /** YAML text of a kubeconfig whose one context is `sandbox`. */
  readonly kubeconfig: string;
  /** UID of the kube-system namespace: what events call the cluster. */
  readonly cluster: string;
  readonly store: Store;
  readonly faults: Faults;
  /** Makes another user, with a token of its own; actors are users. */
  addUser(name: string, groups: readonly string[]): string;
  /** Calls the listener with the events of every request and commit from now on. */
  onFeed(listener: FeedListener): Disposable;
  /** What is stored now, as events. */
  feedSoFar(): readonly NewTraceEvent[];
  /** Cuts or expires open watches; answers how many. */
  cutWatches(match?: Parameters<RequestServer['cutWatches']>[0]): number;
  expireWatches(match?: Parameters<RequestServer['cutWatches']>[0]): number;
  /** Opens a second address of the same API whose reads lag behind; answers its URL. */
  openLaggingAddress(lagMs: number): Promise<string>;
  /** Takes a backup; answers what to restore it by. */
  snapshot(): string;
  /** Goes back to a backup, tokens included; false if there is no such. */
  restore(snapshot: string): boolean;
  /** What `/sandbox/step` calls; scenarios set it. */
  onStep: ((steps: number, signal: AbortSignal) => Promise<unknown[]>) | undefined;
  stop(): Promise<void>;
}

/** Starts an API server on loopback. Everything it holds is in memory and ends with `stop`. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const clock = options.clock ?? systemClock;
  const store = new Store({
    tokens: options.tokens === 'random' ? randomTokens() : numericTokens,
    now: () => clock.now(),
    ...(options.historyLimit === undefined ? {} : { historyLimit: options.historyLimit }),
  });
  const state: ApiState = {
    store,
    registry: new KindRegistry(),
    services: createServiceAllocator(),
    clock,
    mutate: undefined,
  };
  const stopDefinitions = serveDefinitions(state);
  seedNamespaces(state);
  const authenticator = new Authenticator();
  const token = authenticator.add('admin', ['system:masters']);
  const userToken = authenticator.add('alice', ['devs']);
  const cluster = (): string =>
    metaString(store.get(NAMESPACE_BUCKET, 'kube-system')?.object ?? { metadata: {} }, 'uid');
  const faults = new Faults();
  const feed = new Feed(state, cluster);
  const memory = options.ownProcess === true ? new IdleMemory() : undefined;
  const requests = new RequestServer(state, faults, feed, () => memory?.touch());
  const certificate = await makeLoopbackCertificate(clock.now(), 'object-versions sandbox');
  const listeners: Listener[] = [];
  const snapshots = new Map<string, StoreSnapshot>();
  const onError = options.onError ?? ((): void => undefined);

  const open = async (port: number, view: View, lagMs: number): Promise<string> => {
    let host = '';
    const listener = await listen({ port, certificate, authenticator, onError }, (exchange) =>
      isControlPath(exchange.request.info.path)
        ? control(exchange, sandbox)
        : requests.handle(exchange, { host, view, lagMs }),
    );
    listeners.push(listener);
    host = `127.0.0.1:${listener.port}`;
    return `https://${host}`;
  };

  const sandbox: Mutable<Sandbox, 'url' | 'kubeconfig'> = {
    url: '',
    token,
    userToken,
    caPem: certificate.caPem,
    kubeconfig: '',
    cluster: cluster(),
    store,
    faults,
    addUser: (name, groups) => authenticator.add(name, groups),
    onFeed: (listener) => feed.listen(listener),
    feedSoFar: () => feed.current(),
    cutWatches: (match = {}) => requests.cutWatches(match),
    expireWatches: (match = {}) => requests.expireWatches(match),
    openLaggingAddress: (lagMs) =>
      open(0, { revision: () => Math.max(store.compactedRevision, store.revisionAt(clock.now() - lagMs)) }, lagMs),
    snapshot: () => {
      const id = randomUUID();
      snapshots.set(id, store.snapshot());
      return id;
    },
    restore: (id) => {
      const snapshot = snapshots.get(id);
      if (snapshot !== undefined) store.restore(snapshot);
      return snapshot !== undefined;
    },
    onStep: undefined,
    stop: async () => {
      stopDefinitions();
      running?.stop();
      memory?.stop();
      requests.stop();
      await Promise.all(listeners.map((listener) => listener.stop()));
    },
  };
  const running = options.controllers?.(state);
  try {
    sandbox.url = await open(options.port ?? 0, newestView, 0);
  } catch (error) {
    stopDefinitions();
    running?.stop();
    throw error;
  }
  sandbox.kubeconfig = kubeconfigText({ url: sandbox.url, caPem: certificate.caPem, token });
  return sandbox;
}

type Mutable<T, K extends keyof T> = Omit<T, K> & { -readonly [P in K]: T[P] };

/** The server itself, as the user of what it creates at start. */
const SYSTEM: User = { name: 'system:apiserver', uid: '', groups: ['system:masters', 'system:authenticated'] };

function seedNamespaces(state: ApiState): void {
  const kind = state.registry.find('', 'v1', 'namespaces');
  if (kind === undefined) return;
  for (const name of [...IMMORTAL_NAMESPACES, 'kube-node-lease']) createNamespace(state, kind, name);
}

function createNamespace(state: ApiState, kind: Kind, name: string): void {
  const object: JsonObject = { kind: 'Namespace', apiVersion: 'v1', metadata: { name } };
  kind.applyDefaults(object);
  const call: Call = {
    kind,
    namespace: '',
    name,
    subresource: '',
    user: SYSTEM,
    manager: 'kube-apiserver',
    dryRun: false,
    warnings: [],
  };
  createObject(state, call, object);
}
