import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonObject, type Json, type JsonObject } from '../../src/codec/json.ts';
import { parsePath, valueAt } from '../../src/codec/path.ts';
import { parseYaml } from '../../src/codec/yaml.ts';
import { sharedApiServer, type ApiServer } from '../apiserver/apiServer.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DEPLOY = join(ROOT, 'deploy/analyze');

async function jobs(): Promise<JsonObject[]> {
  const text = await readFile(join(DEPLOY, 'indexed-job.yaml'), 'utf8');
  return text.split(/^---$/m).map((part) => {
    const { value, problems } = parseYaml(part);
    assert.deepEqual(problems, []);
    assert.ok(isJsonObject(value));
    return value;
  });
}

function at(value: Json, text: string): Json | undefined {
  const parsed = parsePath(text);
  assert.ok('path' in parsed, text);
  return valueAt(value, parsed.path);
}

async function create(server: ApiServer, body: JsonObject): Promise<{ status: number; warning: string; text: string }> {
  const ca = await readFile(server.caFile, 'utf8');
  return new Promise((resolve, reject) => {
    const sent = request(
      `${server.url}/apis/batch/v1/namespaces/default/jobs?dryRun=All&fieldValidation=Strict`,
      {
        method: 'POST',
        ca,
        agent: false,
        headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      },
      (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => (text += String(chunk)));
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, warning: answer.headers['warning'] ?? '', text }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

/** Runs a container's command with the folders of the image and the volumes where they are here. */
function runContainer(job: JsonObject, folder: string, env: Readonly<Record<string, string>>): Promise<string> {
  const container = '.spec.template.spec.containers[0]';
  const [shell, flag] = at(job, `${container}.command`) as string[];
  const [script = ''] = at(job, `${container}.args`) as string[];
  const here = script.replaceAll(/(^|[ "])\/(app|logs|results)\//g, (_found, before: string, name: string) => {
    return `${before}${folder}/${name}/`;
  });
  return new Promise((resolve, reject) => {
    const child = spawn(shell ?? '', [flag ?? '', here], {
      cwd: folder,
      env: { PATH: `${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let err = '';
    child.stderr.on('data', (chunk: Buffer) => (err += String(chunk)));
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(err) : reject(new Error(`exit ${code}: ${err}`))));
  });
}

/** An update that a stale one undoes, of one object: an audit log as an API server writes it. */
function lostUpdate(name: string): string {
  const object = (token: string, data: JsonObject): JsonObject => ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, namespace: 'lab', uid: `${name}-uid`, resourceVersion: token },
    data,
  });
  const line = (at: number, user: string, verb: string, response: JsonObject, sent?: JsonObject): string =>
    `${JSON.stringify({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'RequestResponse',
      auditID: `${name}-${at}`,
      stage: 'ResponseComplete',
      requestURI: `/api/v1/namespaces/lab/configmaps/${name}`,
      verb,
      user: { username: user },
      userAgent: `${user}/v1`,
      objectRef: { resource: 'configmaps', namespace: 'lab', name, apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 200 },
      ...(sent === undefined ? {} : { requestObject: sent }),
      responseObject: response,
      requestReceivedTimestamp: new Date(Date.UTC(2026, 0, 1) + at).toISOString(),
      stageTimestamp: new Date(Date.UTC(2026, 0, 1) + at).toISOString(),
    })}\n`;
  return (
    line(100, 'alice', 'get', object('1', { a: '1' })) +
    line(200, 'bob', 'update', object('2', { a: '1', bob: '1' }), object('1', { a: '1', bob: '1' })) +
    line(300, 'alice', 'update', object('3', { a: '2' }), object('', { a: '2' }))
  );
}

describe('deploy/analyze', function () {
  this.timeout(240_000);
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'deploy-test-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('the Jobs are ones that the real API server takes as they stand, strictly, without a warning', async function () {
    const server = await sharedApiServer(this);
    for (const job of await jobs()) {
      const { status, warning, text } = await create(server, job);
      assert.deepEqual([status, warning], [201, ''], text);
      const spec = at(JSON.parse(text) as Json, '.spec');
      assert.ok(isJsonObject(spec));
      const name = at(job, '.metadata.name');
      if (name === 'analyze-shards') assert.equal(spec['completionMode'], 'Indexed');
    }
  });

  it('the Jobs run the image that the build is told to make, and a signal reaches the program, not a shell before it', async () => {
    const containerfile = await readFile(join(DEPLOY, 'Containerfile'), 'utf8');
    const [, tag] = /^# .*build -f deploy\/analyze\/Containerfile .*-t (\S+) \.$/m.exec(containerfile) ?? [];
    for (const job of await jobs()) {
      const container = '.spec.template.spec.containers[0]';
      // With a host, or else Docker Hub would be asked for it; and a tag that is `latest` is pulled unless this is said.
      assert.equal(at(job, `${container}.image`), `${tag}:latest`);
      assert.match(tag ?? '', /^localhost\//);
      assert.equal(at(job, `${container}.imagePullPolicy`), 'IfNotPresent');
      assert.match((at(job, `${container}.args`) as string[])[0] ?? '', /^exec node /);
    }
  });

  it('the image holds all that its commands need: the Jobs, run in a folder laid out like it, find what one run finds', async () => {
    const lines = (await readFile(join(DEPLOY, 'Containerfile'), 'utf8')).split('\n');
    const copied = lines.flatMap((line) => {
      const [, from, to] = /^COPY --from=build \/src\/(\S+) \/app\/(\S+)$/.exec(line) ?? [];
      return from === undefined || to === undefined ? [] : [[from, to] as const];
    });
    if (!existsSync(join(ROOT, 'dist/node/cli.js'))) {
      const { status } = await new Promise<{ status: number | null }>((resolve) => {
        spawn(process.execPath, ['scripts/build.mjs'], { cwd: ROOT, stdio: 'ignore' }).once('close', (code) =>
          resolve({ status: code }),
        );
      });
      assert.equal(status, 0);
    }
    for (const [from, to] of copied) await cp(join(ROOT, from), join(folder, 'app', to), { recursive: true });
    assert.ok(lines.includes('ENTRYPOINT ["node", "/app/bin/object-versions.mjs"]'));
    assert.ok(existsSync(join(folder, 'app/bin/object-versions.mjs')));
    await mkdir(join(folder, 'logs'));
    await mkdir(join(folder, 'results'));
    const names = Array.from({ length: 6 }, (_item, index) => `demo-${index}`);
    await writeFile(join(folder, 'logs', 'audit-1.log'), names.slice(0, 3).map(lostUpdate).join(''));
    await writeFile(join(folder, 'logs', 'audit-2.log'), names.slice(3).map(lostUpdate).join(''));
    const [shards, merge] = await jobs();
    assert.ok(shards !== undefined && merge !== undefined);
    const completions = Number(at(shards, '.spec.completions'));
    for (let index = 0; index < completions; index += 1)
      await runContainer(shards, folder, { JOB_COMPLETION_INDEX: String(index) });
    await runContainer(merge, folder, {});
    const html = await readFile(join(folder, 'results', 'report.html'), 'utf8');
    for (const name of names) assert.match(html, new RegExp(`lost-update[^]*?configmaps lab/${name}\\b`));
  });
});
