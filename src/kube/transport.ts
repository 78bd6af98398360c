import { message } from '../base/message.ts';
import {
  request as httpRequest,
  type Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { request as httpsRequest, type Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { createGunzip, createInflate } from 'node:zlib';

import { AppError, isAppError } from '../base/appError.ts';
import { cancelled, type Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { after, type Limits } from './limits.ts';
import { sendFailure, transportError } from './transportError.ts';

/** One HTTP request, complete but for the connection it goes over. */
export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string;
  readonly agent: HttpAgent | HttpsAgent;
  readonly limits: Limits;
  readonly clock: Clock;
}

/** An answer whose head has come. The body must be read or its iteration ended, or the connection stays open. */
export interface StreamReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Decompressed bytes. Throws AppError `connection-lost` where the answer breaks off, `cancelled` on abort. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Sends a request and resolves when the head of the answer has come. Redirects are not followed.
 * A read that dies on a kept-alive connection before any answer is sent once more on a fresh one, as every HTTP client does;
 * a write never is.
 * Rejects with AppError `cancelled` on abort, else with SendFailure, whose cause is an AppError.
 */
export async function exchange(request: Exchange, signal: AbortSignal): Promise<StreamReply> {
  const first = new Attempt(request, signal);
  try {
    return await first.reply;
  } catch (error) {
    if (request.method !== 'GET' || !first.diedOnReusedSocket || isAppError(error)) throw error;
    return new Attempt(request, signal).reply;
  }
}

class Attempt {
  readonly reply: Promise<StreamReply>;
  diedOnReusedSocket = false;
  private readonly request: Exchange;
  private readonly signal: AbortSignal;
  private written = false;
  private timedOutAfterMs: number | undefined;
  private timer: Disposable | undefined;

  constructor(request: Exchange, signal: AbortSignal) {
    this.request = request;
    this.signal = signal;
    this.reply = new Promise((resolve, reject) => {
      if (signal.aborted) reject(cancelled());
      else this.send(resolve, reject);
    });
  }

  private send(resolve: (reply: StreamReply) => void, reject: (error: Error) => void): void {
    const { method, url, headers, agent, body, limits } = this.request;
    const make = url.protocol === 'http:' ? httpRequest : httpsRequest;
    const sent: ClientRequest = make(url, { method, headers, agent });
    const onAbort = (): void => {
      sent.destroy();
    };
    this.signal.addEventListener('abort', onAbort, { once: true });
    this.limit(limits.connectMs, sent);
    sent.on('socket', (socket) => this.onSocket(socket, sent));
    sent.on('response', (response) => {
      this.timer?.dispose();
      const detach = (): void => this.signal.removeEventListener('abort', onAbort);
      response.once('close', detach);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: this.bodyOf(response) });
    });
    sent.on('error', (error) => {
      this.timer?.dispose();
      this.signal.removeEventListener('abort', onAbort);
      if (this.signal.aborted) reject(cancelled());
      else {
        this.diedOnReusedSocket = sent.reusedSocket && this.timedOutAfterMs === undefined;
        reject(sendFailure(error, this.progress()));
      }
    });
    sent.end(body);
  }

  /** From the moment the connection stands, the server may see the request. */
  private onSocket(socket: Socket, sent: ClientRequest): void {
    const { limits, method, url } = this.request;
    const onReady = (): void => {
      this.written = true;
      this.limit(method === 'GET' ? limits.readMs : limits.writeMs, sent);
    };
    const handshaking = 'secureConnecting' in socket && socket.secureConnecting === true;
    if (!socket.connecting && !handshaking) onReady();
    else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', onReady);
  }

  private limit(ms: number, sent: ClientRequest): void {
    this.timer?.dispose();
    this.timer = after(this.request.clock, ms, () => {
      this.timedOutAfterMs = ms;
      sent.destroy(new Error('time limit'));
    });
  }

  private async *bodyOf(response: IncomingMessage): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of decompressed(response)) yield chunk as Uint8Array;
    } catch (error) {
      if (this.signal.aborted) throw cancelled();
      throw isAppError(error) ? error : transportError(error, { ...this.progress(), written: true });
    } finally {
      response.destroy();
    }
    if (this.signal.aborted) throw cancelled();
  }

  private progress(): { server: string; written: boolean; timedOutAfterMs: number | undefined } {
    return { server: this.request.url.origin, written: this.written, timedOutAfterMs: this.timedOutAfterMs };
  }
}

function decompressed(response: IncomingMessage): AsyncIterable<unknown> {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return response;
  if (encoding !== 'gzip' && encoding !== 'deflate') {
    throw new AppError(
      'bad-answer',
      message`The API server answered in an encoding that was not asked for (${encoding}).`,
      {
        advice: message`Look at proxies between here and the API server.`,
      },
    );
  }
  const unpacked = encoding === 'gzip' ? createGunzip() : createInflate();
  response.once('error', (error) => unpacked.destroy(error));
  response.once('aborted', () => unpacked.destroy(new Error('aborted')));
  return response.pipe(unpacked);
}
