import type { Clock } from '../../base/clock.ts';
import { isJsonObject, parseJson } from '../../codec/json.ts';
import { TraceReader } from '../../core/trace.ts';
import type { TraceEvent } from '../../core/traceEvent.ts';
import { appErrorOf, readReply } from '../../kube/answers.ts';
import type { ConnectedCluster } from '../clusters/clusters.ts';
import type { Session } from '../session/session.ts';
import { withoutSecretContent } from '../session/secretContent.ts';
import { withoutSeq } from '../trace/readTrace.ts';

const RETRY_MS = 2000;

/** What following needs of the rest. */
export interface FeedOptions {
  readonly session: Session;
  readonly clock: Clock;
  /** The user agent of our own requests: what they did is in the log already. */
  readonly userAgent: string;
  /**
   * Resolves when the first lists of this cluster are in: a list that was answered before a commit, and arrives after the
   * feed has told of it, would look like the answer of a server that is behind.
   */
  settled(cluster: string, signal: AbortSignal): Promise<void>;
  /** Told once the cluster has called itself a sandbox, wherever it was started. */
  onSandbox(): void;
}

/**
 * Follows a sandbox's own feed while it is connected: every request that it gets, refused ones included, becomes part of the
 * log. Does nothing for a cluster that does not call itself a sandbox. Resolves when the connection is given up.
 */
export async function followSandboxFeed(connected: ConnectedCluster, options: FeedOptions): Promise<void> {
  const { closing } = connected;
  if (!(await isSandbox(connected))) return;
  options.onSandbox();
  await options.settled(connected.key, closing);
  while (!closing.aborted) {
    try {
      await readFeed(connected, options);
    } catch (error) {
      const shown = appErrorOf(error);
      if (closing.aborted || shown.code === 'cancelled') return;
      if (!['connection-lost', 'unreachable', 'timed-out'].includes(shown.code)) throw shown;
    }
    await options.clock.delay(RETRY_MS, closing).catch(() => undefined);
  }
}

async function isSandbox({ cluster, closing }: ConnectedCluster): Promise<boolean> {
  const reply = await readReply(cluster, { path: '/version' }, closing);
  const version = reply.status === 200 ? parseJson(reply.body) : null;
  const text = isJsonObject(version) ? version['gitVersion'] : undefined;
  return typeof text === 'string' && text.endsWith('+sandbox');
}

async function readFeed({ cluster, closing }: ConnectedCluster, { session, userAgent }: FeedOptions): Promise<void> {
  const reply = await cluster.open({ method: 'GET', path: '/sandbox/feed' }, closing);
  const reader = new TraceReader();
  const decoder = new TextDecoder();
  for await (const chunk of reply.body) {
    if (reply.status !== 200) continue;
    const events = reader.push(decoder.decode(chunk, { stream: true })).filter((event) => !isOurs(event, userAgent));
    if (events.length > 0) session.append(events.map((event) => withoutSecretContent(withoutSeq(event))));
    if (reader.failure !== undefined) throw reader.failure;
  }
}

function isOurs(event: TraceEvent, userAgent: string): boolean {
  return (event.type === 'read' || event.type === 'write') && event.actor.agent === userAgent;
}
