import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import { plainRequest, type RequestTarget } from './request.ts';

const READY_WITHIN_MS = 90_000;
const POLL_MS = 100;
/** The server makes these after it is ready; a cluster's identity is the UID of the second. */
const NAMESPACES = ['default', 'kube-system'];

/** A loopback port that was free just now. Another program may take it: whoever uses it retries with another. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Waits until the server is ready for everything, its first namespaces included; throws as soon as it has exited. */
export async function waitUntilReady(
  url: string,
  files: { token: string; caFile: string },
  hasExited: () => boolean,
): Promise<void> {
  const target = { url, token: files.token, caFile: files.caFile };
  const paths = ['/readyz', ...NAMESPACES.map((name) => `/api/v1/namespaces/${name}`)];
  const deadline = Date.now() + READY_WITHIN_MS;
  let last = 'no answer';
  for (const path of paths) {
    for (;;) {
      if (hasExited()) throw new Error('it exited before it was ready');
      last = await answerOf(target, path);
      if (last === 'ready') break;
      if (Date.now() > deadline) throw new Error(`${path} was not ready after ${READY_WITHIN_MS / 1000} s: ${last}`);
      await delay(POLL_MS);
    }
  }
}

async function answerOf(target: RequestTarget, path: string): Promise<string> {
  try {
    const reply = await plainRequest(target, 'GET', path);
    return reply.status === 200 ? 'ready' : `${reply.status} ${reply.body.slice(0, 500)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
