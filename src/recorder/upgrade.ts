import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { messageOf } from '../base/appError.ts';
import { authenticated, withoutBearerProtocol } from './clients.ts';
import { headerPairs, requestHeaders, responseHeaders } from './headers.ts';
import { statusBody } from './statusReply.ts';
import type { ProxyOptions } from './tap.ts';

/**
 * Passes an upgrade (exec, attach, port-forward over SPDY or WebSocket) through: the head is sent on, then bytes flow both
 * ways until either side ends. Nothing of it is read.
 */
export async function forwardUpgrade(
  options: ProxyOptions,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  socket.on('error', () => socket.destroy());
  const client = authenticated(options.clients, request);
  if (client === undefined) {
    refuseUpgrade(socket, 401, 'Unauthorized');
    return;
  }
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  try {
    const connection = await options.upstream.connection(gone.signal);
    const raw = cleanProtocols(request.rawHeaders);
    const headers = requestHeaders(raw, {
      host: options.upstream.host,
      extra: connection.headers,
      transparent: true,
      upgrade: request.headers.upgrade ?? '',
    });
    const upstream = options.upstream.open(
      request.method ?? 'GET',
      options.upstream.basePath + (request.url ?? '/'),
      headers,
      connection,
    );
    gone.signal.addEventListener('abort', () => upstream.destroy(), { once: true });
    upstream.on('upgrade', (answer, other: Socket, first: Buffer) => {
      socket.write(headOf(answer, true));
      join(socket, other, head, first);
    });
    upstream.on('response', (answer) => {
      socket.write(headOf(answer, false));
      answer.pipe(socket);
    });
    upstream.on('error', (error) => {
      if (gone.signal.aborted) return;
      options.onProblem(`An upgrade got no answer from the API server: ${messageOf(error)}`);
      refuseUpgrade(socket, 502, messageOf(error));
    });
    upstream.end();
  } catch (error) {
    if (!gone.signal.aborted) refuseUpgrade(socket, 503, messageOf(error));
  }
}

function cleanProtocols(raw: readonly string[]): string[] {
  const cleaned: string[] = [];
  for (const [name, value] of headerPairs(raw)) {
    const kept = name.toLowerCase() === 'sec-websocket-protocol' ? withoutBearerProtocol(value) : value;
    if (kept !== '') cleaned.push(name, kept);
  }
  return cleaned;
}

function headOf(answer: IncomingMessage, upgraded: boolean): string {
  const lines = [`HTTP/1.1 ${answer.statusCode ?? 502} ${answer.statusMessage ?? ''}`];
  if (upgraded) {
    lines.push('Connection: Upgrade');
    if (answer.headers.upgrade !== undefined) lines.push(`Upgrade: ${answer.headers.upgrade}`);
  } else lines.push('Connection: close');
  for (const [name, value] of headerPairs(responseHeaders(answer.rawHeaders))) lines.push(`${name}: ${value}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function join(client: Socket, server: Socket, head: Buffer, first: Buffer): void {
  for (const socket of [client, server]) {
    socket.setTimeout(0);
    socket.setNoDelay(true);
  }
  if (first.length > 0) client.write(first);
  if (head.length > 0) server.write(head);
  client.pipe(server);
  server.pipe(client);
  const end = (): void => {
    client.destroy();
    server.destroy();
  };
  for (const socket of [client, server]) {
    socket.on('error', end);
    socket.on('close', end);
  }
}

/** Refuses an upgrade with a Status object on its raw socket. */
function refuseUpgrade(socket: Socket, code: 401 | 502 | 503, message: string): void {
  const body = statusBody(code, message);
  const phrase = { 401: 'Unauthorized', 502: 'Bad Gateway', 503: 'Service Unavailable' }[code];
  const head = `HTTP/1.1 ${code} ${phrase}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`;
  socket.end(head + body);
}
