import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeAuthority } from '../../src/base/loopbackCertificate.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { NewTraceEvent } from '../../src/core/traceEvent.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { startRecorder, type Recorder, type RecorderOptions } from '../../src/recorder/recorder.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A recorder in front of a plain HTTP server, and what it recorded. */
export interface Recorded {
  readonly recorder: Recorder;
  readonly events: NewTraceEvent[];
  readonly problems: string[];
  readonly token: string;
  stop(): Promise<void>;
}

/** A server that stands in for the API server, and a recorder in front of it: plain HTTP, or TLS where it is `secure`. */
export interface Behind extends Recorded {
  readonly upstream: Server;
}

export async function behindRecorder(
  handler: Handler,
  options: Partial<RecorderOptions> & {
    secure?: true;
    onUpgrade?: (request: IncomingMessage, socket: Socket) => void;
  } = {},
): Promise<Behind> {
  const { onUpgrade, secure, ...more } = options;
  const sockets = new Set<Socket>();
  const authority = secure === true ? await makeAuthority(Date.now(), 'test CA') : undefined;
  const issued = await authority?.issue('server', ['127.0.0.1']);
  const listener: Handler = (request, response) => {
    if (request.url === '/api/v1/namespaces/kube-system')
      response.end(JSON.stringify({ metadata: { uid: 'cluster-1' } }));
    else handler(request, response);
  };
  const upstream =
    issued === undefined
      ? createServer(listener)
      : createSecureServer({ cert: issued.certificatePem, key: issued.keyPem }, listener);
  upstream.on('checkContinue', handler);
  upstream.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  if (onUpgrade !== undefined) upstream.on('upgrade', onUpgrade);
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', () => resolve()));
  const address = upstream.address();
  const recorded = await recorderBefore(
    typeof address === 'object' && address !== null ? address.port : 0,
    more,
    authority?.caPem,
  );
  return {
    ...recorded,
    upstream,
    stop: async () => {
      await recorded.stop();
      await new Promise<void>((resolve) => {
        upstream.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      });
    },
  };
}

/** A recorder in front of what serves at a port of this machine: plain HTTP, or TLS where there is a CA. */
export async function recorderBefore(
  port: number,
  options: Partial<RecorderOptions> = {},
  caPem?: string,
): Promise<Recorded> {
  const folder = await mkdtemp(join(tmpdir(), 'recorder-test-'));
  const file = join(folder, 'config');
  await writeFile(file, plainKubeconfig(port, { token: 'the-users-own' }, caPem));
  const events: NewTraceEvent[] = [];
  const problems: string[] = [];
  const recorder = await startRecorder(
    {
      kubeconfig: loadKubeconfig({ paths: [file], env: {}, home: folder }),
      userAgent: 'test',
      env: {},
      clock: systemClock,
      follow: false,
      sink: (event) => void events.push(event),
      parseYaml: () => null,
      onProblem: (message) => void problems.push(message),
      ...options,
    },
    new AbortController().signal,
  );
  const config = JSON.parse(recorder.kubeconfig('a')) as { users: [{ user: { token: string } }] };
  return {
    recorder,
    events,
    problems,
    token: config.users[0].user.token,
    stop: async () => {
      await recorder.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The kubeconfig of what serves at a port of this machine: plain HTTP, or TLS where there is a CA. */
export function plainKubeconfig(port: number, user: { token?: string } = {}, caPem?: string): string {
  const cluster =
    caPem === undefined
      ? { server: `http://127.0.0.1:${port}` }
      : { server: `https://127.0.0.1:${port}`, 'certificate-authority-data': Buffer.from(caPem).toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  });
}

export interface Got {
  readonly status: number;
  readonly raw: string[];
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** One request through the recorder, complete. */
export function send(
  behind: Recorded,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: Buffer | string,
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = open(behind, method, path, headers, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          raw: answer.rawHeaders,
          headers: answer.headers,
          body: Buffer.concat(chunks),
        }),
      );
      answer.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Opens a request; the caller ends it. */
export function open(
  behind: Recorded,
  method: string,
  path: string,
  headers: Record<string, string>,
  onAnswer: (answer: IncomingMessage) => void,
): ReturnType<typeof httpsRequest> {
  const url = new URL(behind.recorder.url);
  const request = httpsRequest({
    host: url.hostname,
    port: url.port,
    method,
    path,
    ca: behind.recorder.caPem,
    agent: false,
    headers: { authorization: `Bearer ${behind.token}`, ...headers },
  });
  request.on('response', onAnswer);
  return request;
}
