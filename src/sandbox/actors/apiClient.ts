import { message } from '../../base/message.ts';
import { Agent, request as send } from 'node:https';

import { AppError } from '../../base/appError.ts';
import { isJsonObject, parseJson, stringifyJson, type Json, type JsonObject } from '../../codec/json.ts';

/** An answer as an actor sees it. */
export interface ActorReply {
  readonly status: number;
  readonly body: JsonObject;
}

const TIMEOUT_MS = 10_000;

/** Media types of patches. */
export const MERGE_PATCH = 'application/merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

/** What an actor talks to the API with: HTTPS, a token of its own, a User-Agent that is its field manager. */
export class ApiClient {
  private readonly options: { url: string; caPem: string; token: string; agent: string };
  private readonly connections: Agent;

  constructor(options: { url: string; caPem: string; token: string; agent: string }) {
    this.options = options;
    this.connections = new Agent({ keepAlive: true, ca: options.caPem, maxSockets: 2 });
  }

  get(path: string): Promise<ActorReply> {
    return this.call('GET', path);
  }

  /** The items of a collection; none where it cannot be read. */
  async list(path: string): Promise<JsonObject[]> {
    const { body } = await this.call('GET', path);
    return Array.isArray(body['items']) ? body['items'].filter(isJsonObject) : [];
  }

  create(path: string, object: JsonObject): Promise<ActorReply> {
    return this.call('POST', path, object);
  }

  replace(path: string, object: JsonObject): Promise<ActorReply> {
    return this.call('PUT', path, object);
  }

  patch(path: string, body: JsonObject, type: string): Promise<ActorReply> {
    return this.call('PATCH', path, body, type);
  }

  remove(path: string, options: JsonObject): Promise<ActorReply> {
    return this.call('DELETE', path, options);
  }

  /** Closes the connections. */
  close(): void {
    this.connections.destroy();
  }

  private call(method: string, path: string, body?: Json, type = 'application/json'): Promise<ActorReply> {
    const { url, token, agent } = this.options;
    const text = body === undefined ? undefined : stringifyJson(body);
    const headers: Record<string, string | number> = {
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      'user-agent': `${agent}/1.0 (sandbox actor)`,
    };
    if (text !== undefined) Object.assign(headers, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
    return new Promise((resolve, reject) => {
      const failed = (cause: Error): void =>
        reject(new AppError('connection-lost', message`${agent} lost its connection to the sandbox.`, { cause }));
      const request = send(
        url + path,
        { method, headers, agent: this.connections, timeout: TIMEOUT_MS },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', failed);
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, body: objectOf(Buffer.concat(chunks).toString('utf8')) }),
          );
        },
      );
      request.on('timeout', () => request.destroy(new Error('no answer in time')));
      request.on('error', failed);
      request.end(text);
    });
  }
}

function objectOf(text: string): JsonObject {
  if (!text.startsWith('{')) return {};
  const value = parseJson(text);
  return isJsonObject(value) ? value : {};
}
