import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { CertificateAuthority } from '../../src/base/certificateAuthority.ts';

/** One request that the fake server was sent. */
export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly isWatch: boolean;
  readonly body: string;
}

/** Answers a request; what it leaves open stays open. */
export type FakeHandler = (request: FakeRequest, response: ServerResponse) => void | Promise<void>;

/** A server of a test's own, on a free loopback port, that remembers what it was asked. */
export interface FakeServer {
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  /** Requests of lists and of watches, the discovery of the cluster's identity apart. */
  lists(): FakeRequest[];
  watches(): FakeRequest[];
  connections(): number;
  stop(): Promise<void>;
}

/** The UID of the fake cluster's kube-system namespace. */
export const FAKE_CLUSTER = 'c0ffee00-0000-4000-8000-000000000001';

/** Starts a fake server, with TLS where it has an authority; it answers for its identity itself and hands all else to the handler. */
export async function startFakeServer(handler: FakeHandler, authority?: CertificateAuthority): Promise<FakeServer> {
  const requests: FakeRequest[] = [];
  let connections = 0;
  const listener: RequestListener = (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const url = new URL(incoming.url ?? '/', 'http://fake');
      if (url.pathname === '/api/v1/namespaces/kube-system') {
        sendJson(response, 200, {
          kind: 'Namespace',
          apiVersion: 'v1',
          metadata: { name: 'kube-system', uid: FAKE_CLUSTER, resourceVersion: '1' },
        });
        return;
      }
      const request: FakeRequest = {
        method: incoming.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: incoming.headers,
        isWatch: url.searchParams.has('watch'),
        body: Buffer.concat(chunks).toString('utf8'),
      };
      requests.push(request);
      Promise.resolve(handler(request, response)).catch((error: unknown) => response.destroy(error as Error));
    });
  };
  const issued = await authority?.issue('server', ['127.0.0.1']);
  const server =
    issued === undefined
      ? createServer(listener)
      : createSecureServer({ cert: issued.certificatePem, key: issued.keyPem }, listener);
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${issued === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests,
    lists: () => requests.filter((request) => !request.isWatch),
    watches: () => requests.filter((request) => request.isWatch),
    connections: () => connections,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Sends one JSON document. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Sends a `Status` failure. */
export function sendStatus(
  response: ServerResponse,
  code: number,
  reason: string,
  extra: object = {},
  headers: Record<string, string> = {},
): void {
  sendJson(response, code, statusBody(code, reason, extra), headers);
}

/** A `Status` failure. */
export function statusBody(code: number, reason: string, extra: object = {}): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `${reason} happened`,
    reason,
    code,
    ...extra,
  };
}

/** A ConfigMap. */
export function configMap(name: string, uid: string, token: string, extra: object = {}): object {
  return {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: {
      name,
      namespace: 'ns',
      uid,
      resourceVersion: token,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...extra,
    },
    data: { key: token },
  };
}

/** Sends a list; `more` is the continue token. */
export function sendList(
  response: ServerResponse,
  token: string,
  items: readonly object[],
  more?: string,
  remaining?: number,
): void {
  const metadata = {
    resourceVersion: token,
    ...(more === undefined ? {} : { continue: more }),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
  };
  sendJson(response, 200, { kind: 'ConfigMapList', apiVersion: 'v1', metadata, items });
}

/** One line of a watch. */
export function line(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}

/** Begins a watch's answer. */
export function beginWatch(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
}
