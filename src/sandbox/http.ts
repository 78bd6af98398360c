import { message } from '../base/message.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';

import { AppError } from '../base/appError.ts';
import { MAX_BODY_BYTES, type ApiAnswer, type ApiRequest } from './apiRequest.ts';
import type { Authenticator, User } from './auth.ts';
import type { LoopbackCertificate } from '../base/loopbackCertificate.ts';
import { printJson } from './negotiate.ts';
import { readRequestInfo } from './requestInfo.ts';
import { refusal } from './router.ts';
import { badRequest, bareError, failure, StatusError } from './status.ts';

/** A request before it is known whether it is answered at once or by a stream. */
export interface Exchange {
  readonly request: ApiRequest;
  readonly response: ServerResponse;
  /** Sends a complete answer. */
  answer(answer: ApiAnswer): void;
  /** Closes the connection without an answer. */
  drop(): void;
}

/** A listening address. */
export interface Listener {
  readonly port: number;
  stop(): Promise<void>;
}

const LOOPBACK_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i;

/**
 * Listens on loopback with TLS. Checks the Host header (a web page may point a name of its own at loopback), reads the
 * body up to the limit, authenticates, and hands over. No CORS header is ever sent. HTTP/1.1 with keep-alive.
 */
export async function listen(
  options: {
    port: number;
    certificate: LoopbackCertificate;
    authenticator: Authenticator;
    onError: (error: unknown) => void;
  },
  handle: (exchange: Exchange) => Promise<void>,
): Promise<Listener> {
  const { certificate, authenticator, onError } = options;
  const server = createServer(
    { key: certificate.keyPem, cert: certificate.certificatePem, keepAlive: true, requestTimeout: 0 },
    (message, response) => {
      response.on('error', () => response.destroy());
      receive(message, response, authenticator, handle).catch((thrown: unknown) => {
        const error = isStackOverflow(thrown) ? badRequest('the sandbox takes no objects nested so deeply') : thrown;
        if (error === thrown) onError(error);
        if (response.headersSent) response.destroy();
        else send(response, message.method ?? '', internalAnswer(error));
      });
    },
  );
  server.keepAliveTimeout = 120_000;
  server.headersTimeout = 130_000;
  server.on('clientError', (_error, socket) => socket.destroy());
  const port = await bind(server, options.port);
  return {
    port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function bind(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      const sentence = taken
        ? message`Port ${port} is in use.`
        : message`The sandbox cannot listen on 127.0.0.1: ${error.message}`;
      reject(new AppError(taken ? 'port-in-use' : 'internal', sentence, { cause: error }));
    });
    server.listen(port, '127.0.0.1', 4096, () => resolve((server.address() as AddressInfo).port));
  });
}

/** What is nested too deeply fails before anything is stored: whatever looks at an object does so by recursion. */
function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack');
}

function internalAnswer(error: unknown): ApiAnswer {
  const status = error instanceof StatusError ? error : bareError('the sandbox failed to answer; its log says why');
  return { status: status.code, contentType: 'application/json', body: printJson(status.status), warnings: [] };
}

async function receive(
  message: IncomingMessage,
  response: ServerResponse,
  authenticator: Authenticator,
  handle: (exchange: Exchange) => Promise<void>,
): Promise<void> {
  const method = message.method ?? 'GET';
  const body = await readBody(message);
  if (body === undefined) {
    response.destroy();
    return;
  }
  const exchange = (request: ApiRequest): Exchange => ({
    request,
    response,
    answer: (answer) => send(response, method, answer),
    drop: () => message.socket.destroy(),
  });
  const refused = (error: StatusError): void => {
    const query = new URLSearchParams();
    send(
      response,
      method,
      refusal({ accept: message.headers.accept, query, userAgent: message.headers['user-agent'] ?? '' }, error, []),
    );
  };
  if (!LOOPBACK_HOST.test(message.headers.host ?? '')) {
    refused(failure(403, 'Forbidden', 'the sandbox answers only to its loopback address', {}));
    return;
  }
  let user: User;
  try {
    user = authenticator.authenticate(message.headers.authorization, message.socket);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    refused(error);
    return;
  }
  await handle(exchange(toRequest(message, method, user, body)));
}

function toRequest(message: IncomingMessage, method: string, user: User, body: Buffer | 'too-large'): ApiRequest {
  const target = message.url ?? '/';
  const mark = target.indexOf('?');
  const query = new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1));
  return {
    method,
    info: readRequestInfo(method, mark < 0 ? target : target.slice(0, mark), query),
    query,
    accept: message.headers.accept,
    contentType: message.headers['content-type'],
    userAgent: message.headers['user-agent'] ?? '',
    user,
    body: body === 'too-large' ? Buffer.alloc(0) : body,
    tooLarge: body === 'too-large',
  };
}

/** The whole body; what is above the limit is read away and not kept. Undefined if the client left. */
function readBody(message: IncomingMessage): Promise<Buffer | 'too-large' | undefined> {
  if (message.headers['content-length'] === undefined && message.headers['transfer-encoding'] === undefined) {
    message.resume();
    return Promise.resolve(Buffer.alloc(0));
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      else chunks.length = 0;
    });
    message.on('end', () =>
      resolve(size > MAX_BODY_BYTES ? 'too-large' : chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)),
    );
    message.on('error', () => resolve(undefined));
    message.on('close', () => resolve(undefined));
  });
}

function send(response: ServerResponse, method: string, answer: ApiAnswer): void {
  if (response.destroyed || response.writableEnded) return;
  const pieces = wholeLine(answer);
  const headers: Record<string, string | number | string[]> = {
    'content-type': answer.contentType,
    'content-length': pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0),
    'cache-control': 'no-cache, private',
    ...answer.headers,
  };
  if (answer.warnings.length > 0) headers['warning'] = [...new Set(answer.warnings)].map(warningHeader);
  response.writeHead(answer.status, headers);
  const last = pieces.pop();
  if (method !== 'HEAD') for (const piece of pieces) response.write(piece);
  response.end(method === 'HEAD' ? undefined : last);
}

const NEWLINE = '\n';

/** The pieces of a body. JSON on one line ends it, as Go's encoder does; indented JSON does not. */
function wholeLine({ contentType, body }: ApiAnswer): (string | Buffer)[] {
  const isJson = contentType.startsWith('application/json');
  if (typeof body === 'string') return [isJson && body[1] !== NEWLINE ? body + NEWLINE : body];
  return isJson && body[0]?.[1] !== NEWLINE.charCodeAt(0) ? [...body, Buffer.from(NEWLINE)] : [...body];
}

function warningHeader(text: string): string {
  const quoted = text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/[\\"]/g, String.raw`\$&`);
  return `299 - "${Buffer.from(quoted, 'utf8').toString('latin1')}"`;
}
