import { Agent, request as send } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';

import type { Sandbox } from '../../src/sandbox/server.ts';

/** Any JSON object, for tests that look into answers. */
export type Answer = Record<string, unknown>;

/** A complete answer. */
export interface Reply {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Answer;
  readonly text: string;
}

/** A client of a sandbox that trusts its CA. */
export class Caller {
  private readonly url: string;
  private readonly token: string;
  private readonly agent: Agent;

  constructor(
    sandbox: Pick<Sandbox, 'url' | 'token' | 'caPem'>,
    options: { url?: string; token?: string; sockets?: number } = {},
  ) {
    this.url = options.url ?? sandbox.url;
    this.token = options.token ?? sandbox.token;
    this.agent = new Agent({
      keepAlive: true,
      maxSockets: options.sockets ?? Number.POSITIVE_INFINITY,
      ca: sandbox.caPem,
      servername: 'localhost',
    });
  }

  /** Sends one request; rejects where no answer comes. */
  send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const all: Record<string, string | number> = { authorization: `Bearer ${this.token}`, 'user-agent': 'tester/1.0' };
    if (text !== undefined)
      Object.assign(all, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    return new Promise((resolve, reject) => {
      const request = send(
        this.url + path,
        { method, headers: { ...all, ...headers }, agent: this.agent },
        (response) => {
          let received = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            received += chunk;
          });
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: objectOf(received),
              text: received,
            }),
          );
        },
      );
      request.on('error', reject);
      request.end(text);
    });
  }

  patch(path: string, body: unknown, type = 'application/merge-patch+json'): Promise<Reply> {
    return this.send('PATCH', path, body, { 'content-type': type });
  }

  /** Opens a stream of JSON lines. */
  stream(path: string): Promise<Stream> {
    return new Promise((resolve, reject) => {
      const lines: Answer[] = [];
      const stream: Stream = { lines, ended: undefined, close: () => request.destroy() };
      const request = send(
        this.url + path,
        { headers: { authorization: `Bearer ${this.token}` }, agent: this.agent },
        (response) => {
          let rest = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            const parts = (rest + chunk).split('\n');
            rest = parts.pop() ?? '';
            lines.push(...parts.map(objectOf));
          });
          response.on('end', () => {
            stream.ended = 'cleanly';
          });
          response.on('error', () => {
            stream.ended ??= 'cut';
          });
          resolve(stream);
        },
      );
      request.on('error', reject);
      request.end();
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

/** An open stream and what it has brought. */
export interface Stream {
  readonly lines: Answer[];
  ended: 'cleanly' | 'cut' | undefined;
  close(): void;
}

function objectOf(text: string): Answer {
  try {
    return JSON.parse(text) as Answer;
  } catch {
    return {};
  }
}

/** The value at a dotted path. */
export function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (found, key) => (typeof found === 'object' && found !== null ? (found as Answer)[key] : undefined),
      value,
    );
}

/** Waits until something holds. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 8000,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await delay(20);
  }
}

/** A ConfigMap with one key. */
export const configMap = (name: string, value = 'v', metadata: Answer = {}): Answer => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data: { k: value },
});

/** Where the ConfigMaps of the default namespace are. */
export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
