import { message } from '../base/message.ts';
import { createServer, type Server } from 'node:https';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError, messageOf } from '../base/appError.ts';
import { authenticated } from './clients.ts';
import { requestHeaders, responseHeaders } from './headers.ts';
import { replyStatus } from './statusReply.ts';
import type { ProxyOptions, Tap } from './tap.ts';
import { forwardUpgrade } from './upgrade.ts';
import { MAX_HEADER_BYTES } from './upstream.ts';

/** A running proxy. */
export interface Proxy {
  readonly port: number;
  stop(): Promise<void>;
}

const KEEP_ALIVE_MS = 120_000;

/**
 * Starts a proxy on loopback. Requests and answers pass as they come: nothing is buffered, limited in size or time, or tried
 * again, but for a read that finds its kept-alive connection closed before any byte of an answer.
 * @throws AppError `port-in-use`
 */
export async function startProxy(settings: Omit<ProxyOptions, 'stopping'>, port = 0): Promise<Proxy> {
  const stopping = new AbortController();
  const options: ProxyOptions = { ...settings, stopping: stopping.signal };
  const sockets = new Set<Socket>();
  const server: Server = createServer({
    cert: options.certificate.certificatePem,
    key: options.certificate.keyPem,
    ALPNProtocols: ['http/1.1'],
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: 0,
    headersTimeout: 60_000,
    keepAliveTimeout: KEEP_ALIVE_MS,
    noDelay: true,
  });
  server.timeout = 0;
  server.maxRequestsPerSocket = 0;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const handle = (request: IncomingMessage, response: ServerResponse): void => void forward(options, request, response);
  server.on('request', handle);
  server.on('checkContinue', handle);
  server.on('checkExpectation', handle);
  server.on(
    'upgrade',
    (request: IncomingMessage, socket: Socket, head: Buffer) => void forwardUpgrade(options, request, socket, head),
  );
  server.on('clientError', (_error: Error, socket: Socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  server.on('tlsClientError', () => undefined);
  await listen(server, port);
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    stop: () =>
      new Promise((resolve) => {
        stopping.abort();
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new AppError('port-in-use', message`Port ${port} is in use.`, { cause: error })
          : error,
      );
    });
    server.listen(port, '127.0.0.1', () => resolve());
  });
}

async function forward(options: ProxyOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const client = authenticated(options.clients, request);
  if (client === undefined) {
    replyStatus(response, 401, 'Unauthorized');
    return;
  }
  const tap = options.tap(client, request);
  response.sendDate = false;
  try {
    if (tap?.ready !== undefined) await tap.ready;
    if (response.destroyed) {
      tap?.end('client-gone');
      return;
    }
    const connection = await options.upstream.connection(options.stopping);
    const send = (again: boolean): void => {
      const headers = requestHeaders(request.rawHeaders, {
        host: options.upstream.host,
        extra: connection.headers,
        transparent: options.transparent,
      });
      const upstream = options.upstream.open(
        request.method ?? 'GET',
        options.upstream.basePath + (request.url ?? '/'),
        headers,
        connection,
      );
      new Exchange(options, request, response, upstream, tap).run(again ? () => send(false) : undefined);
    };
    send(request.method === 'GET' || request.method === 'HEAD');
  } catch (error) {
    tap?.end(response.destroyed ? 'client-gone' : 'unsent');
    if (!response.destroyed) fail(options, response, 503, error);
  }
}

function fail(options: ProxyOptions, response: ServerResponse, code: 502 | 503, error: unknown): void {
  const message = `The recorder got no answer from the API server: ${messageOf(error)}`;
  options.onProblem(message);
  replyStatus(response, code, message);
}

const UNREACHABLE =
  /^(ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EAI_AGAIN|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS)/;

/** Whether there was no connection to send a request on: one that timed out or was cut may have had it. */
function isUnsent({ code = '', syscall }: NodeJS.ErrnoException): boolean {
  return (
    syscall === 'connect' || /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)
  );
}

/** One request on its way and its answer back. */
class Exchange {
  private readonly options: ProxyOptions;
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly upstream: ClientRequest;
  private readonly tap: Tap | undefined;
  private answered = false;
  private ended = false;
  private broken = false;
  private unsent = false;
  private clientGone = false;

  constructor(
    options: ProxyOptions,
    request: IncomingMessage,
    response: ServerResponse,
    upstream: ClientRequest,
    tap: Tap | undefined,
  ) {
    this.options = options;
    this.request = request;
    this.response = response;
    this.upstream = upstream;
    this.tap = tap;
  }

  /** `again` repeats the request on a fresh connection, where that is safe. */
  run(again: (() => void) | undefined): void {
    const { request, response, upstream } = this;
    const onClose = (): void => {
      if (!response.writableFinished) upstream.destroy();
      this.end(response.writableFinished && this.answered && !this.broken);
    };
    response.once('close', onClose);
    upstream.on('continue', () => response.writeContinue());
    upstream.on('information', (info) => {
      if (info.statusCode === 103)
        response.writeEarlyHints(
          Object.fromEntries(Object.entries(info.headers).map(([name, value]) => [name, String(value)])),
        );
    });
    upstream.on('response', (answer) => this.onResponse(answer));
    upstream.on('error', (error: NodeJS.ErrnoException) => {
      if (this.answered || this.clientGone || response.destroyed) return;
      if (again !== undefined && upstream.reusedSocket && error.code === 'ECONNRESET') {
        response.off('close', onClose);
        again();
        return;
      }
      this.broken = true;
      this.unsent = isUnsent(error);
      fail(this.options, response, UNREACHABLE.test(error.code ?? '') ? 503 : 502, error);
      this.end(false);
    });
    this.sendHead();
    if (this.tap !== undefined && again === undefined)
      request.on('data', (chunk: Buffer) => this.tap?.requestChunk(chunk));
    request.once('aborted', () => {
      this.clientGone = true;
      upstream.destroy();
    });
    if (hasBody(request)) request.pipe(upstream);
    else {
      request.resume();
      upstream.end();
    }
  }

  /** The head goes out with the first bytes of the body if those are here already, by itself otherwise. */
  private sendHead(): void {
    const { request, upstream } = this;
    if (request.headers.expect !== undefined) upstream.flushHeaders();
    else
      setImmediate(() => {
        if (!upstream.headersSent && !upstream.destroyed) upstream.flushHeaders();
      });
  }

  private onResponse(answer: IncomingMessage): void {
    const { response, tap } = this;
    this.answered = true;
    if (answer.statusCode === 401) this.options.upstream.forget();
    tap?.response(answer.statusCode ?? 0, answer.headers);
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', responseHeaders(answer.rawHeaders));
    // What of the body has come with the head goes out with it.
    const { socket } = response;
    socket?.cork();
    response.flushHeaders();
    setImmediate(() => socket?.uncork());
    if (tap !== undefined) answer.on('data', (chunk: Buffer) => tap.responseChunk(chunk));
    answer.pipe(response);
    const breakOff = (): void => {
      this.broken = true;
      response.destroy();
    };
    answer.once('error', breakOff);
    answer.once('aborted', breakOff);
  }

  private end(complete: boolean): void {
    if (this.ended) return;
    this.ended = true;
    this.tap?.end(complete ? 'complete' : this.unsent ? 'unsent' : this.broken ? 'server-gone' : 'client-gone');
  }
}

/** Source: RFC 9112, section 6: a request has a body where it says how that is framed. */
function hasBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  return coding !== undefined || (length !== undefined && length !== '0');
}
