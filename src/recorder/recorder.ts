import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/appError.ts';
import { makeLoopbackCertificate } from '../base/loopbackCertificate.ts';
import type { Json } from '../codec/json.ts';
import type { Actor, NewTraceEvent } from '../core/traceEvent.ts';
import { connectCluster } from '../kube/cluster.ts';
import type { Kubeconfig } from '../kube/kubeconfig.ts';
import { clientKubeconfig, Clients } from './clients.ts';
import { ExchangeRecord } from './exchangeRecord.ts';
import { ExchangeTap } from './exchangeTap.ts';
import { Follower } from './follower.ts';
import { startProxy } from './proxy.ts';
import { Recording, type NotAnalysed } from './recording.ts';
import { requestInfo } from './requestInfo.ts';
import { makeUpstream } from './upstream.ts';
import { WorkQueue } from './workQueue.ts';

/** How to record. Everything outside is injected. */
export interface RecorderOptions {
  readonly kubeconfig: Kubeconfig;
  readonly context?: string;
  readonly userAgent: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly port?: number;
  /** Leave every byte alone, `Accept` too. */
  readonly transparent?: boolean;
  /** Keep whole bodies in events; default true. A Secret's values never are. */
  readonly keepBodies?: boolean;
  /** Watch what the clients touch; default true. */
  readonly follow?: boolean;
  /** Takes each event, in order. What it throws is reported and the traffic goes on. */
  sink(event: NewTraceEvent): void;
  /** Reads YAML as Kubernetes does, for apply bodies. */
  parseYaml(text: string): Json;
  /** A sentence for a person; nothing secret is in it. */
  onProblem(message: string): void;
}

/** A running recorder. */
export interface Recorder {
  readonly url: string;
  readonly caPem: string;
  readonly cluster: { readonly id: string; readonly label: string; readonly server: string };
  /** The kubeconfig of a named client; each name is an actor of its own. */
  kubeconfig(client: string): string;
  /** What could not be read so far. */
  notAnalysed(): NotAnalysed;
  /** Resolves when all that has passed by now has been read. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** How long the end of an exchange may come after its last byte. */
const SETTLE_MS = 30;
const QUEUE_BYTES = 64 * 1024 * 1024;

/**
 * Starts a recorder in front of a context's API server.
 * @throws AppError of the kubeconfig, or `unreachable` and the like where the server does not answer at all
 */
export async function startRecorder(options: RecorderOptions, signal: AbortSignal): Promise<Recorder> {
  const { kubeconfig, clock, env } = options;
  const context = options.context === undefined ? {} : { context: options.context };
  const cluster = connectCluster(kubeconfig, { ...context, userAgent: options.userAgent, clock, env });
  const upstream = makeUpstream(kubeconfig, { ...context, env, clock });
  const clients = new Clients();
  try {
    const id = await cluster.id(signal);
    const certificate = await makeLoopbackCertificate(clock.now(), 'object-versions recorder');
    const keepBodies = options.keepBodies ?? true;
    const queue = new WorkQueue(QUEUE_BYTES, clock, (error) =>
      options.onProblem(`Something that passed could not be recorded: ${messageOf(error)}`),
    );
    const recording = new Recording({
      cluster: id,
      now: () => queue.now(),
      keepBodies,
      sink: guarded(options, () => (recording.counts.eventsUnkept += 1)),
      parseYaml: (text) => options.parseYaml(text),
      touched: (info) => follower?.touch(info),
      isFollowed: (info, namespace) => follower?.covers(info, namespace) === true,
    });
    const follower =
      options.follow === false
        ? undefined
        : new Follower(cluster, {
            secretKey: recording.secretKey,
            keepBodies,
            events: (events) => queue.force(0, () => recording.followed(events)),
            onProblem: (message) => options.onProblem(message),
          });
    await follower?.prepare();
    const proxy = await startProxy(
      {
        upstream,
        clients,
        certificate,
        transparent: options.transparent === true,
        onProblem: (message) => options.onProblem(message),
        tap: (client, request) => {
          const info = requestInfo(request.method ?? 'GET', request.url ?? '/');
          if (info === undefined || info.verb === 'other') return undefined;
          const record = new ExchangeRecord(
            recording,
            info,
            actorOf(client, request.headers),
            request.headers['content-type'],
            clock.now(),
          );
          return new ExchangeTap(info, record, queue, follower?.starting(info));
        },
      },
      options.port,
    );
    const url = `https://127.0.0.1:${proxy.port}`;
    return {
      url,
      caPem: certificate.caPem,
      cluster: { id, label: cluster.label, server: cluster.url },
      kubeconfig: (client) =>
        clientKubeconfig({
          name: client,
          token: clients.tokenOf(client),
          url,
          caPem: certificate.caPem,
          namespace: cluster.namespace,
        }),
      notAnalysed: () => structuredClone(recording.counts),
      settled: async () => {
        // An answer's last bytes reach the client before the connection tells that the exchange is over.
        await clock.delay(SETTLE_MS);
        await queue.idle();
      },
      stop: async () => {
        await proxy.stop();
        await follower?.stop();
        await queue.idle();
        upstream.dispose();
        cluster.dispose();
      },
    };
  } catch (error) {
    upstream.dispose();
    cluster.dispose();
    throw error;
  }
}

/** The recording fails open: what the sink throws is said once and counted, and the traffic goes on. */
function guarded(options: RecorderOptions, onLost: () => void): (event: NewTraceEvent) => void {
  let said = false;
  return (event) => {
    try {
      options.sink(event);
    } catch (error) {
      onLost();
      if (!said) options.onProblem(`The recording cannot be kept: ${messageOf(error)}`);
      said = true;
    }
  };
}

function actorOf(client: string, headers: NodeJS.Dict<string | string[]>): Actor {
  const agent = headers['user-agent'];
  const user = headers['impersonate-user'];
  return {
    client,
    ...(typeof agent === 'string' ? { agent } : {}),
    ...(typeof user === 'string' ? { user } : {}),
  };
}
