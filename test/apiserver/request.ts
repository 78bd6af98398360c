import { readFile } from 'node:fs/promises';
import { request } from 'node:https';

/** What is needed to speak to a server as its first user. */
export interface RequestTarget {
  readonly url: string;
  readonly token: string;
  readonly caFile: string;
}

/** Any answer of a server. */
export interface PlainReply {
  status: number;
  body: string;
}

/** One plain HTTPS request of the tests' own, independent of the product's client. */
export async function plainRequest(
  target: RequestTarget,
  method: string,
  path: string,
  body?: unknown,
  contentType = 'application/json',
): Promise<PlainReply> {
  const ca = await readFile(target.caFile);
  const headers: Record<string, string> = { authorization: `Bearer ${target.token}`, accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = contentType;
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, target.url), { method, headers, ca, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      );
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** As `plainRequest`, but a refusal throws with the server's answer. */
export async function requestJson(
  target: RequestTarget,
  method: string,
  path: string,
  body?: unknown,
  contentType?: string,
): Promise<unknown> {
  const reply = await plainRequest(target, method, path, body, contentType);
  if (reply.status >= 300) throw new Error(`${method} ${path} answered ${reply.status}: ${reply.body}`);
  return JSON.parse(reply.body) as unknown;
}
