import type { AppError } from '../../src/base/appError.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { AbsentEvent, GapEvent, NewTraceEvent, ObservedEvent } from '../../src/core/traceEvent.ts';
import { connectCluster, type Cluster, type ConnectOptions } from '../../src/kube/cluster.ts';
import type { ApiResource } from '../../src/kube/discovery.ts';
import type { ClusterEntry, Kubeconfig, UserEntry } from '../../src/kube/kubeconfig.ts';
import { watchResource, type WatchOptions, type WatchState, type WatchTarget } from '../../src/kube/watch.ts';

/** A kubeconfig of one context for a server. */
export function kubeconfigFor(
  url: string,
  cluster: Partial<ClusterEntry> = {},
  user: Partial<UserEntry> = {},
): Kubeconfig {
  const at = '/test/config:1';
  return {
    contexts: [{ name: 'test', at, cluster: 'test', user: 'test', namespace: 'ns' }],
    currentContext: 'test',
    clusters: new Map([
      ['test', { name: 'test', at, server: url, insecure: false, disableCompression: false, ...cluster }],
    ]),
    users: new Map([['test', { name: 'test', at, ...user }]]),
    files: ['/test/config'],
  };
}

/** A client for a server. */
export function clusterFor(url: string, clock: Clock, options: Partial<ConnectOptions> = {}): Cluster {
  return connectCluster(kubeconfigFor(url), { userAgent: 'test', clock, env: {}, ...options });
}

/** ConfigMaps. */
export const configMaps: ApiResource = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  singular: 'configmap',
  kind: 'ConfigMap',
  namespaced: true,
  verbs: ['get', 'list', 'watch'],
  shortNames: ['cm'],
  subresources: [],
};

/** A watch that a test runs, with all that came of it. */
export class Watching {
  readonly events: NewTraceEvent[] = [];
  readonly states: WatchState[] = [];
  readonly problems: AppError[] = [];
  private readonly controller = new AbortController();
  private readonly running: Promise<void>;

  constructor(
    cluster: Cluster,
    target: Partial<WatchTarget> = {},
    options: Partial<WatchOptions> = {},
    take?: (event: NewTraceEvent) => void,
  ) {
    this.running = watchResource(
      cluster,
      { resource: configMaps, namespace: 'ns', bodies: 'whole', ...target },
      {
        events: (events) => {
          for (const event of events) {
            take?.(event);
            this.events.push(event);
          }
        },
        state: (state) => this.states.push(state),
      },
      { secretKey: '0'.repeat(32), onProblem: (problem) => this.problems.push(problem), ...options },
      this.controller.signal,
    );
  }

  get observed(): Omit<ObservedEvent, 'seq'>[] {
    return this.events.filter((event) => event.type === 'observed');
  }

  get absent(): Omit<AbsentEvent, 'seq'>[] {
    return this.events.filter((event) => event.type === 'absent');
  }

  get gaps(): Omit<GapEvent, 'seq'>[] {
    return this.events.filter((event) => event.type === 'gap');
  }

  get phase(): string | undefined {
    return this.states.at(-1)?.phase;
  }

  get lastState(): WatchState | undefined {
    return this.states.at(-1);
  }

  /** The story in short: `+name uid token`, `-uid how`, `gap cause`, `gap end`. */
  get story(): string[] {
    return this.events.map((event) => {
      if (event.type === 'observed') return `+${event.name.name} ${event.uid} ${event.token}`;
      if (event.type === 'absent') return `-${event.name.name} ${event.uid ?? ''} ${event.how}`;
      if (event.type === 'gap') return event.to === undefined ? `gap ${event.cause}` : `gap end ${event.cause}`;
      return event.type;
    });
  }

  async stop(): Promise<void> {
    this.controller.abort();
    await this.running;
  }
}
