import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import type { JsonObject } from '../../src/codec/json.ts';

/** The real API server that the outer runner started, as another client than the extension sees it. */
const url = new URL(process.env['OBJECT_VERSIONS_TEST_URL'] ?? 'https://127.0.0.1:1');
const token = process.env['OBJECT_VERSIONS_TEST_TOKEN'] ?? '';
const ca = readFileSync(process.env['OBJECT_VERSIONS_TEST_CA'] ?? '', 'utf8');

export const apiServer = { url, token, ca };

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

/** Sends a request as another actor; `manager` is its field manager. */
export function send(
  method: string,
  path: string,
  body?: unknown,
  manager = 'test-writer',
  type = 'application/json',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const separator = path.includes('?') ? '&' : '?';
    const call = request(
      {
        host: url.hostname,
        port: url.port,
        method,
        path: method === 'GET' ? path : `${path}${separator}fieldManager=${manager}`,
        ca,
        agent: false,
        headers: { authorization: `Bearer ${token}`, ...(text === undefined ? {} : { 'content-type': type }) },
      },
      (response) => {
        let received = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (received += chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(received) as JsonObject }),
        );
        response.on('error', reject);
      },
    );
    call.on('error', reject);
    call.end(text);
  });
}

/** As `send`, and the answer must be a success. */
export async function must(
  method: string,
  path: string,
  body?: unknown,
  manager?: string,
  type?: string,
): Promise<JsonObject> {
  const answer = await send(method, path, body, manager, type);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Merges a patch into an object as another actor. */
export function patch(path: string, body: unknown, manager?: string): Promise<JsonObject> {
  return must('PATCH', path, body, manager, 'application/merge-patch+json');
}

export function configMap(name: string, data: Record<string, string>): unknown {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

/** A namespace for one suite. */
export async function namespace(prefix: string): Promise<string> {
  const name = `${prefix}-${Date.now().toString(36)}`;
  await must('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return name;
}

export function metadata(object: JsonObject): Record<string, string> {
  return object['metadata'] as unknown as Record<string, string>;
}
