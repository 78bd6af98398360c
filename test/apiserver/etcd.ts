import { setTimeout as delay } from 'node:timers/promises';

import { startProgram, type Running } from './childProcess.ts';
import { freePort } from './health.ts';

const READY_WITHIN_MS = 30_000;
const COMPACTED_VERSIONS = 4;

/**
 * Starts envtest's etcd on free loopback ports and returns its address. As our own program does, it compacts the first
 * versions, so that version 1 is too old from the start.
 */
export async function startEtcd(program: string, folder: string, running: Running[]): Promise<string> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  const etcd = startProgram(program, [
    `--data-dir=${folder}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync',
  ]);
  running.push(etcd);
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!(await isHealthy(url))) {
    if (etcd.hasExited()) throw new Error('etcd exited before it was ready');
    if (Date.now() > deadline) throw new Error('etcd was not ready in time');
    await delay(100);
  }
  const key = Buffer.from('compacted').toString('base64');
  for (let version = 0; version < COMPACTED_VERSIONS; version += 1) await call(url, '/v3/kv/put', { key, value: '' });
  await call(url, '/v3/kv/compaction', { revision: String(COMPACTED_VERSIONS), physical: true });
  return url;
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok;
  } catch {
    return false;
  }
}

async function call(url: string, path: string, body: unknown): Promise<void> {
  const reply = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`etcd answered ${path} with ${reply.status}: ${await reply.text()}`);
}
