import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createNamespace, sharedApiServer, type ApiServer } from '../apiserver/apiServer.ts';
import { needKubectl } from '../apiserver/kubectl.ts';
import { run, told } from './cli.ts';

const runFile = promisify(execFile);

/** A script that uses kubectl as people do; what it prints must be the same with the recorder and without it. */
const SCRIPT = `
set -e
k="kubectl --kubeconfig $KUBECONFIG -n $NS"
$k create configmap a --from-literal=x=1
$k get configmap a -o jsonpath='{.data}{"\\n"}'
printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: b}\\ndata: {y: "1"}\\n' > $DIR/b.yaml
$k apply -f $DIR/b.yaml
$k apply -f $DIR/b.yaml
printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: c}\\ndata: {z: "1"}\\n' > $DIR/c.yaml
$k apply --server-side -f $DIR/c.yaml
$k label configmap a l=1
EDITOR="sed -i s/x:/w:/" $k edit configmap a
$k get configmap a -o jsonpath='{.data}{"\\n"}'
$k create deployment d --image=i --replicas=2
$k scale deployment d --replicas=3
$k get deployments d --no-headers
$k delete configmap a b c
$k delete deployment d
$k get secret none || echo "exit $?"
`;

describe('kubectl behind the recorder, on the real server', function () {
  this.timeout(120_000);
  let server: ApiServer;
  let folder = '';
  let kubeconfig = '';

  before(async function () {
    server = await sharedApiServer(this);
    await needKubectl(this);
    folder = await mkdtemp(join(tmpdir(), 'kubectl-test-'));
    kubeconfig = await server.kubeconfig(join(folder, 'config'));
    await writeFile(join(folder, 'script.sh'), SCRIPT);
  });

  after(async () => {
    if (folder !== '') await rm(folder, { recursive: true, force: true });
  });

  it('prints the same as without it, in JSON and transparent, and nothing is found', async () => {
    const plainNs = await createNamespace(server, 'plain');
    const plain = await runFile('sh', [join(folder, 'script.sh')], {
      env: { ...process.env, KUBECONFIG: kubeconfig, NS: plainNs, DIR: folder },
    });
    const without = (text: string): string => text.replaceAll(/\d+s$/gm, 'AGE');
    for (const flags of [[], ['--transparent']]) {
      const ns = await createNamespace(server, 'recorded');
      const trace = join(folder, `${ns}.ovtrace.jsonl`);
      const ran = await run(
        ['record', '--kubeconfig', kubeconfig, '--trace', trace, ...flags, '--', 'sh', join(folder, 'script.sh')],
        { NS: ns, DIR: folder },
      );
      assert.equal(ran.code, 0, ran.stderr);
      assert.equal(without(ran.stdout), without(plain.stdout));
      const replayed = await run(['analyze', trace, '--format', 'json']);
      assert.deepEqual(told(replayed.stdout), [], replayed.stdout);
      const events = (await readFile(trace, 'utf8')).split('\n').filter((line) => line.includes('"type":"write"'));
      assert.ok(events.length >= 11, `${events.length} writes`);
      assert.ok(
        events.every((line) => !line.includes('"notAnalysed"')),
        'every body was read',
      );
    }
  });

  it('follows a watch live through it', async () => {
    const ns = await createNamespace(server, 'watched');
    const script = `kubectl -n ${ns} get configmaps -w --no-headers > "$DIR/watched" & W=$!; sleep 2; kubectl -n ${ns} create configmap live1; sleep 1; kubectl -n ${ns} create configmap live2; sleep 1; kill $W; wait $W 2>/dev/null; cat "$DIR/watched"`;
    const ran = await run(['record', '--kubeconfig', kubeconfig, '--', 'sh', '-c', script], { DIR: folder });
    assert.match(ran.stdout, /^live1 .*\n/m);
    assert.match(ran.stdout, /^live2 .*\n/m);
  });

  it("passes the command's exit code, and 10 only where that is 0", async () => {
    const failing = await run(['record', '--kubeconfig', kubeconfig, '--fail-on', 'any', '--', 'sh', '-c', 'exit 7']);
    assert.equal(failing.code, 7);
    const missing = await run(['record', '--kubeconfig', kubeconfig, '--', 'no-such-command-at-all']);
    assert.equal(missing.code, 2);
    const unknown = await run(['record', '--kubeconfig', kubeconfig, '--fail-on', 'nonsense', '--', 'true']);
    assert.equal(unknown.code, 2);
  });

  it('passes signals on, and serves alone until it is interrupted', async () => {
    const cli = new URL('../../src/cli.ts', import.meta.url).pathname;
    const child = spawn(
      process.execPath,
      [cli, 'record', '--kubeconfig', kubeconfig, '-o', 'json', '--client', 'one', '--client', 'two'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.split('\n').length === 3) child.kill('SIGTERM');
    });
    await new Promise((resolve) => child.once('close', resolve));
    const lines = text.split('\n');
    assert.deepEqual(
      lines.slice(0, 2).map((line) => (JSON.parse(line) as { client: string }).client),
      ['one', 'two'],
    );
    assert.deepEqual((JSON.parse(lines[2] ?? '{}') as { findings: unknown[] }).findings, []);
  });
});
