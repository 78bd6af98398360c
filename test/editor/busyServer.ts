import { Worker } from 'node:worker_threads';

/** An API server in a thread of its own that lists very many ConfigMaps and changes them all the time. */
export interface BusyServer {
  readonly url: string;
  /** Changes so many a second from now on; 0: none. */
  setRate(perSecond: number): void;
  stop(): Promise<void>;
}

/** Starts it; lists are metadata in pages, as the server gives them to those who ask for metadata. */
export async function startBusyServer(objects: number): Promise<BusyServer> {
  const worker = new Worker(SCRIPT, { eval: true, workerData: { objects } });
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    setRate: (perSecond) => worker.postMessage(perSecond),
    stop: async () => void (await worker.terminate()),
  };
}

/** Plain JavaScript: what a thread runs is not bundled with the tests. */
const SCRIPT = `
const { createServer } = require('node:http');
const { parentPort, workerData } = require('node:worker_threads');
const { objects } = workerData;
const STEP_MS = 10;
let version = objects;
let rate = 0;
const watchers = new Set();
const versions = new Map();
const metadata = (index) => ({
  name: 'object-' + String(index).padStart(6, '0'),
  namespace: 'ns-' + (index % 100),
  uid: '00000000-0000-4000-8000-' + String(index).padStart(12, '0'),
  resourceVersion: String(versions.get(index) ?? index + 1),
  creationTimestamp: '2026-01-01T00:00:00Z',
  labels: { app: 'app-' + (index % 50), turn: String((versions.get(index) ?? 0) % 7) },
});
const item = (index) => ({ apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: metadata(index) });
const json = (response, status, value) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
};
const configmaps = { name: 'configmaps', singularName: 'configmap', namespaced: true, kind: 'ConfigMap', verbs: ['get', 'list', 'watch', 'update', 'patch', 'delete', 'create'] };
const fixed = {
  '/version': { major: '1', minor: '33', gitVersion: 'v1.33.0' },
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
  '/api/v1': { kind: 'APIResourceList', groupVersion: 'v1', resources: [configmaps] },
  '/api/v1/namespaces/kube-system': { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system', uid: 'busy-cluster', resourceVersion: '1' } },
};
const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  if (url.pathname in fixed) return json(response, 200, fixed[url.pathname]);
  if (url.pathname !== '/api/v1/configmaps') return json(response, 404, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, reason: 'NotFound' });
  if (url.searchParams.get('watch') === null) {
    const from = Number(url.searchParams.get('continue') ?? 0);
    const limit = Number(url.searchParams.get('limit') ?? 500) || 500;
    const end = Math.min(objects, from + limit);
    const items = Array.from({ length: end - from }, (_, at) => item(from + at));
    const more = end < objects ? { continue: String(end), remainingItemCount: objects - end } : {};
    return json(response, 200, { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: String(version), ...more }, items });
  }
  if (url.searchParams.get('sendInitialEvents') !== null)
    return json(response, 422, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 422, reason: 'Invalid', message: 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled' });
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  watchers.add(response);
  response.on('close', () => watchers.delete(response));
});
let due = 0;
let turn = 0;
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  due += (rate * (now - last)) / 1000;
  last = now;
  if (watchers.size === 0) due = 0;
  let text = '';
  for (; due >= 1; due -= 1) {
    const index = (turn++ * 7919) % objects;
    versions.set(index, ++version);
    text += JSON.stringify({ type: 'MODIFIED', object: item(index) }) + '\\n';
  }
  if (text !== '') for (const watcher of watchers) watcher.write(text);
}, STEP_MS);
parentPort.on('message', (perSecond) => { rate = perSecond; });
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;
