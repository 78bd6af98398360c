import { message } from '../base/message.ts';
import { createHash } from 'node:crypto';

import { AppError, isAppError, messageOf } from '../base/appError.ts';
import { throwIfAborted, type Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { SendFailure, type Server, type ServerReply, type ServerRequest } from '../base/server.ts';
import { isJsonObject, parseJson } from '../codec/json.ts';
import { readReply } from './answers.ts';
import { withoutUserInfo } from './authorization.ts';
import { Credentials, type Connection } from './credentials.ts';
import { resolveContext, type Impersonation, type Kubeconfig } from './kubeconfig.ts';
import { after, defaultLimits, type Limits } from './limits.ts';
import { exchange, type StreamReply } from './transport.ts';

/** One cluster, as one user: the only way by which this product speaks to an API server. */
export interface Cluster extends Server, Disposable {
  /** What a person calls it: the context's name. */
  readonly label: string;
  readonly context: string;
  /** The context's namespace, else `default`. */
  readonly namespace: string;
  /** The server's address, without a slash at its end. */
  readonly url: string;
  readonly clock: Clock;
  /**
   * Identity of the cluster: the UID of its kube-system namespace or, where that may not be read, a hash of server and CA.
   * @throws AppError where the server cannot be reached
   */
  id(signal: AbortSignal): Promise<string>;
  /**
   * Sends a request and gives the body as it comes. No limit is set on the body's time: the reader does that.
   * Fails as `send` does; the body throws AppError `connection-lost` or `cancelled`.
   */
  open(request: ServerRequest, signal: AbortSignal): Promise<StreamReply>;
  /** As `send`, with the body's bytes; `onBeginning` is given the first of a success while the rest is still on its way. */
  sendEarly(request: ServerRequest, signal: AbortSignal, onBeginning?: (bytes: Buffer) => void): Promise<BytesReply>;
  /** PEM of the CA that the kubeconfig names, if any. */
  caPem(): Promise<string | undefined>;
}

/** Any complete answer, as it came. */
export type BytesReply = Omit<ServerReply, 'body'> & { body: Buffer };

/** How to connect. `impersonate` replaces what the kubeconfig says. */
export interface ConnectOptions {
  context?: string;
  userAgent: string;
  clock: Clock;
  impersonate?: Impersonation;
  /** For credential plugins and proxies; the process's own unless given. */
  env?: Readonly<Record<string, string | undefined>>;
  limits?: Partial<Limits>;
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Makes a client for a context of the kubeconfig, or its current one. Nothing is sent, read or run before the first request.
 * @throws AppError `kubeconfig-unknown-name`, `kubeconfig-malformed`
 */
export function connectCluster(kubeconfig: Kubeconfig, options: ConnectOptions): Cluster {
  return new ClusterClient(kubeconfig, options);
}

class ClusterClient implements Cluster {
  readonly label: string;
  readonly context: string;
  readonly namespace: string;
  readonly url: string;
  readonly clock: Clock;
  private readonly credentials: Credentials;
  private readonly base: URL;
  private readonly limits: Limits;
  private readonly commonHeaders: Readonly<Record<string, string>>;
  private identity: string | undefined;

  constructor(kubeconfig: Kubeconfig, options: ConnectOptions) {
    const resolved = resolveContext(kubeconfig, options.context);
    this.context = resolved.context.name;
    this.label = resolved.context.name;
    this.namespace = resolved.context.namespace ?? 'default';
    this.base = serverAddress(resolved.cluster.server, resolved.cluster.at);
    this.url = withoutUserInfo(resolved.cluster.server);
    this.clock = options.clock;
    this.limits = { ...defaultLimits, ...options.limits };
    this.commonHeaders = {
      accept: 'application/json',
      'user-agent': options.userAgent,
      // Compressing what never leaves the machine only costs time.
      ...(resolved.cluster.disableCompression || LOOPBACK.test(this.base.hostname)
        ? {}
        : { 'accept-encoding': 'gzip' }),
    };
    this.credentials = new Credentials(resolved, {
      env: options.env ?? process.env,
      clock: options.clock,
      ...(options.impersonate === undefined ? {} : { impersonate: options.impersonate }),
    });
  }

  async open(request: ServerRequest, signal: AbortSignal): Promise<StreamReply> {
    const connection = await this.connect(signal);
    const reply = await this.exchange(request, connection, signal);
    if (reply.status !== 401 || !connection.renewable) return reply;
    // A 401 is decided before anything is done, so that asking once more with new credentials is safe for writes too.
    await drain(reply);
    this.credentials.forget();
    return this.exchange(request, await this.connect(signal), signal);
  }

  async send(request: ServerRequest, signal: AbortSignal): Promise<ServerReply> {
    const reply = await this.sendEarly(request, signal);
    return { ...reply, body: reply.body.toString('utf8') };
  }

  async sendEarly(
    request: ServerRequest,
    signal: AbortSignal,
    onBeginning?: (bytes: Buffer) => void,
  ): Promise<BytesReply> {
    const limited = new AbortController();
    const onAbort = (): void => limited.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) limited.abort();
    let tooLong = false;
    try {
      const reply = await this.open(request, limited.signal);
      const timer = after(this.clock, this.limits.bodyMs, () => {
        tooLong = true;
        limited.abort();
      });
      try {
        return {
          status: reply.status,
          headers: reply.headers,
          body: await bytesOf(reply.body, reply.status === 200 ? onBeginning : undefined),
        };
      } finally {
        timer.dispose();
      }
    } catch (error) {
      throwIfAborted(signal);
      if (error instanceof SendFailure) throw error;
      const shown = tooLong ? this.bodyTimedOut(error) : error;
      throw new SendFailure(
        messageOf(shown),
        isAppError(shown, 'credentials-failed', 'kubeconfig-malformed') ? 'no' : 'maybe',
        shown,
      );
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async id(signal: AbortSignal): Promise<string> {
    this.identity ??= await this.readId(signal);
    return this.identity;
  }

  caPem(): Promise<string | undefined> {
    return this.credentials.caPem();
  }

  dispose(): void {
    this.credentials.dispose();
  }

  private async readId(signal: AbortSignal): Promise<string> {
    const reply = await readReply(this, { path: '/api/v1/namespaces/kube-system' }, signal);
    const uid = reply.status === 200 ? uidOf(reply.body) : undefined;
    if (uid !== undefined) return uid;
    const hash = createHash('sha256').update(`${this.base.href}\n${(await this.caPem()) ?? ''}`);
    return `server-${hash.digest('hex').slice(0, 16)}`;
  }

  private async connect(signal: AbortSignal): Promise<Connection> {
    throwIfAborted(signal);
    try {
      return await this.credentials.connection(signal);
    } catch (error) {
      throwIfAborted(signal);
      throw new SendFailure(messageOf(error), 'no', error);
    }
  }

  private exchange(request: ServerRequest, connection: Connection, signal: AbortSignal): Promise<StreamReply> {
    const { method, path, query, headers, body } = request;
    const url = new URL(this.base.pathname.replace(/\/$/, '') + path, this.base);
    for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) url.searchParams.set(name, value);
    return exchange(
      {
        method,
        url,
        headers: {
          ...this.commonHeaders,
          ...headers,
          ...connection.headers,
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        },
        ...(body === undefined ? {} : { body }),
        agent: connection.agent,
        limits: this.limits,
        clock: this.clock,
      },
      signal,
    );
  }

  private bodyTimedOut(cause: unknown): AppError {
    return new AppError(
      'timed-out',
      message`The API server ${this.base.origin} did not finish its answer within ${this.limits.bodyMs / 1000} s.`,
      {
        advice: message`Try again; if it stays slow, look at the server or at what is between.`,
        details: { server: this.base.origin },
        cause,
      },
    );
  }
}

function serverAddress(server: string, at: string): URL {
  const shown = withoutUserInfo(server);
  // The name and password go with the credentials.
  const url = URL.canParse(shown) ? new URL(shown) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url;
  const what =
    server === '' ? message`has no server` : message`has a server that is not an http or https address ("${shown}")`;
  throw new AppError('kubeconfig-malformed', message`The cluster of this context ${what} (${at}).`, {
    advice: message`Correct "server" in the kubeconfig.`,
  });
}

function uidOf(body: string): string | undefined {
  const object = parseJson(body);
  const metadata = isJsonObject(object) ? object['metadata'] : undefined;
  const uid = isJsonObject(metadata) ? metadata['uid'] : undefined;
  return typeof uid === 'string' && uid !== '' ? uid : undefined;
}

/** More than any list of 500 objects or any document that an API server publishes. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

async function bytesOf(
  body: AsyncIterable<Uint8Array>,
  onBeginning: ((bytes: Buffer) => void) | undefined,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES)
      throw new AppError(
        'bad-answer',
        message`The API server answered with more than ${MAX_BODY_BYTES / 1024 ** 2} MiB.`,
        {
          advice: message`Ask for less, such as one namespace; or look at what stands between here and the API server.`,
        },
      );
    if (chunks.length === 0) onBeginning?.(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function drain(reply: StreamReply): Promise<void> {
  for await (const chunk of reply.body) if (chunk.length === 0) continue;
}
