import type { IncomingMessage } from 'node:http';
import type { LoopbackCertificate } from '../base/loopbackCertificate.ts';
import type { Clients } from './clients.ts';
import type { Upstream } from './upstream.ts';

/** How an exchange ended: completely, or because the client or the server broke off. */
export type Ending = 'complete' | 'client-gone' | 'server-gone';

/** What listens to one exchange. It gets copies and never holds anything up. */
export interface Tap {
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
