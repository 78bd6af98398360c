import type { IncomingMessage } from 'node:http';
import type { LoopbackCertificate } from '../base/loopbackCertificate.ts';
import type { Clients } from './clients.ts';
import type { Upstream } from './upstream.ts';

/** How an exchange ended: completely, because the client or the server broke off, or before it was sent to the server at all. */
export type Ending = 'complete' | 'client-gone' | 'server-gone' | 'unsent';

/** What listens to one exchange. It gets copies and holds nothing up, but for the first request to a resource. */
export interface Tap {
  /** What the request waits for before it is sent on: the start of our own watch of what it touches first. */
  readonly ready: Promise<void> | undefined;
  requestChunk(chunk: Buffer): void;
  response(status: number, headers: IncomingMessage['headers']): void;
  responseChunk(chunk: Buffer): void;
  end(ending: Ending): void;
}

/** What a proxy needs. `tap` is asked once for each authenticated request; undefined: nothing to read there. */
export interface ProxyOptions {
  readonly upstream: Upstream;
  readonly clients: Clients;
  readonly certificate: LoopbackCertificate;
  readonly transparent: boolean;
  /** Aborts when the proxy stops. */
  readonly stopping: AbortSignal;
  tap(client: string, request: IncomingMessage): Tap | undefined;
  /** Told what went wrong on a connection; nothing secret is in it. */
  onProblem(message: string): void;
}
