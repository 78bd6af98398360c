import { homedir } from 'node:os';
import { l10n } from 'vscode';
import { AppError } from '../../base/appError.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { Emitter, type Event } from '../../base/emitter.ts';
import type { Cluster } from '../../kube/cluster.ts';
import type { ApiResource, Discovery } from '../../kube/discovery.ts';
import type { Kubeconfig } from '../../kube/kubeconfig.ts';
import type { ListSchema } from '../../core/listSchema.ts';
import { limited } from '../app/signal.ts';
import { guardedCluster } from './guardedCluster.ts';

/** The key of the sandbox among the clusters; no context can have it as its name, because of the line feed. */
export const sandboxKey = '\nsandbox';

/** What a person calls it, told apart from a context called `sandbox`, which is what the kubeconfig of another sandbox has. */
export function sandboxLabel(): string {
  return l10n.t('Sandbox in this window');
}

/** A cluster that answered. */
export interface ConnectedCluster {
  /** The context's name, or the sandbox's key. */
  readonly key: string;
  /** What a person calls it. */
  readonly label: string;
  /** The cluster's id in the log. */
  readonly id: string;
  readonly cluster: Cluster;
  readonly isSandbox: boolean;
  /** Aborts when the connection is given up. */
  readonly closing: AbortSignal;
  discovery(signal: AbortSignal, fresh?: boolean): Promise<Discovery>;
  schema(resource: ApiResource, signal: AbortSignal): Promise<ListSchema>;
}

/** A context that can be chosen. */
interface ContextChoice {
  readonly key: string;
  readonly label: string;
  readonly namespace?: string;
  readonly isCurrent: boolean;
}

const CONNECT_LIMIT_MS = 20_000;

/** What the clusters need of the rest. */
interface ClustersOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  /** Files named in the settings; empty: as kubectl finds them. */
  readonly kubeconfigPaths: () => readonly string[];
  /** How many requests a cluster gets in a second at most; twice as many at once after a silence. */
  readonly requestsPerSecond: () => number;
  /** Whether nothing may be written; asked at every request. */
  readonly isReadOnly: () => boolean;
  readonly onError: (error: unknown) => void;
}

/** The clusters of the kubeconfig and the sandbox: connected when first needed, once each. */
export class Clusters implements Disposable {
  private readonly options: ClustersOptions;
  private readonly connected = new Map<string, Promise<ConnectedCluster>>();
  private readonly known = new Map<string, ConnectedCluster>();
  private readonly arrivals: Emitter<ConnectedCluster>;
  private readonly closers = new Map<string, AbortController>();
  private sandbox: { readonly kubeconfigPath: string } | undefined;

  constructor(options: ClustersOptions) {
    this.options = options;
    this.arrivals = new Emitter(options.onError);
  }

  /** Fires when a cluster answered for the first time. */
  get onDidConnect(): Event<ConnectedCluster> {
    return this.arrivals.event;
  }

  /**
   * The contexts that can be chosen; the sandbox first while it runs.
   * @throws AppError as `loadKubeconfig` does; never where only the sandbox is there to choose.
   */
  async contexts(): Promise<ContextChoice[]> {
    const own: ContextChoice[] =
      this.sandbox === undefined ? [] : [{ key: sandboxKey, label: sandboxLabel(), isCurrent: false }];
    try {
      const config = await this.kubeconfig();
      return [
        ...own,
        ...config.contexts.map((context) => ({
          key: context.name,
          label: context.name,
          ...(context.namespace === undefined || context.namespace === '' ? {} : { namespace: context.namespace }),
          isCurrent: context.name === config.currentContext,
        })),
      ];
    } catch (error) {
      if (own.length > 0) return own;
      throw error;
    }
  }

  /** The context that kubectl would use; undefined where the kubeconfig names none. */
  async currentContext(): Promise<string | undefined> {
    return (await this.kubeconfig()).currentContext;
  }

  /** Connects to a cluster, or gives the connection that is there. A failed attempt is not kept. */
  connect(key: string, signal: AbortSignal): Promise<ConnectedCluster> {
    const there = this.connected.get(key);
    if (there !== undefined) return there;
    const attempt = this.open(key, limited(CONNECT_LIMIT_MS, signal));
    this.connected.set(key, attempt);
    void this.settle(key, attempt);
    return attempt;
  }

  private async settle(key: string, attempt: Promise<ConnectedCluster>): Promise<void> {
    try {
      const cluster = await attempt;
      if (this.connected.get(key) !== attempt) return;
      this.known.set(key, cluster);
      this.arrivals.fire(cluster);
    } catch {
      // The caller has the error; here it only matters that the next one tries again.
      if (this.connected.get(key) === attempt) this.connected.delete(key);
    }
  }

  /** The connection of a cluster that answered before. */
  get(key: string): ConnectedCluster | undefined {
    return this.known.get(key);
  }

  /** The connection to the cluster that has this id in the log. */
  byId(id: string): ConnectedCluster | undefined {
    return [...this.known.values()].find((cluster) => cluster.id === id);
  }

  /** All clusters that answered, for labels. */
  all(): readonly ConnectedCluster[] {
    return [...this.known.values()];
  }

  /** Makes the sandbox one of the clusters, or takes it away. */
  setSandbox(kubeconfigPath: string | undefined): void {
    this.forget(sandboxKey);
    this.sandbox = kubeconfigPath === undefined ? undefined : { kubeconfigPath };
  }

  /** The kubeconfig file of the sandbox while it runs, for terminals. */
  get sandboxKubeconfig(): string | undefined {
    return this.sandbox?.kubeconfigPath;
  }

  /** Drops connections, such as after the settings changed. */
  reset(): void {
    for (const key of Array.from(this.connected.keys())) if (key !== sandboxKey) this.forget(key);
  }

  dispose(): void {
    for (const key of Array.from(this.connected.keys())) this.forget(key);
  }

  private forget(key: string): void {
    this.closers.get(key)?.abort();
    this.closers.delete(key);
    this.connected.get(key)?.then(
      (cluster) => cluster.cluster.dispose(),
      () => undefined,
    );
    this.connected.delete(key);
    this.known.delete(key);
  }

  private async kubeconfig(paths = this.options.kubeconfigPaths()): Promise<Kubeconfig> {
    const { loadKubeconfig } = await import('../../kube/kubeconfig.ts');
    return loadKubeconfig({ ...(paths.length === 0 ? {} : { paths }), env: process.env, home: homedir() });
  }

  /** The kubeconfig and context behind a key, for those who connect by themselves. */
  async configOf(key: string): Promise<{ readonly kubeconfig: Kubeconfig; readonly context?: string }> {
    if (key !== sandboxKey) return { kubeconfig: await this.kubeconfig(), context: key };
    if (this.sandbox === undefined) throw sandboxStopped();
    return { kubeconfig: await this.kubeconfig([this.sandbox.kubeconfigPath]) };
  }

  private async open(key: string, signal: AbortSignal): Promise<ConnectedCluster> {
    const isSandbox = key === sandboxKey;
    const { kubeconfig, context } = await this.configOf(key);
    const { connectCluster } = await import('../../kube/cluster.ts');
    const { userAgent, clock, isReadOnly } = this.options;
    const perSecond = this.options.requestsPerSecond();
    const cluster = guardedCluster(
      connectCluster(kubeconfig, { ...(context === undefined ? {} : { context }), userAgent, clock }),
      // Nobody else is kept waiting by what is asked of the sandbox, and its labs show how often their actors ask.
      isSandbox ? undefined : { perSecond, burst: perSecond * 2, clock },
      isReadOnly,
    );
    try {
      const id = await cluster.id(signal);
      const closer = new AbortController();
      this.closers.set(key, closer);
      return connection(key, isSandbox, cluster, id, closer.signal);
    } catch (error) {
      cluster.dispose();
      throw error;
    }
  }
}

function sandboxStopped(): AppError {
  return new AppError('unreachable', 'The sandbox is not running.', {
    advice: 'Start it with "Object Versions: Start Sandbox".',
  });
}

function connection(
  key: string,
  isSandbox: boolean,
  cluster: Cluster,
  id: string,
  closing: AbortSignal,
): ConnectedCluster {
  let discovery: Promise<Discovery> | undefined;
  return {
    key,
    id,
    cluster,
    isSandbox,
    closing,
    label: isSandbox ? sandboxLabel() : key,
    discovery(signal, fresh = false) {
      if (discovery === undefined || fresh) {
        const attempt = import('../../kube/discovery.ts').then(({ discover }) => discover(cluster, signal));
        attempt.catch(() => {
          if (discovery === attempt) discovery = undefined;
        });
        discovery = attempt;
      }
      return discovery;
    },
    async schema(resource, signal) {
      const { listSchemaFor } = await import('../../kube/schema.ts');
      return listSchemaFor(cluster, resource, signal);
    },
  };
}
