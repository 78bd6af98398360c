import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startScenario, type RunningScenario } from '../../src/sandbox/scenario.ts';
import { plainRequest } from '../apiserver/request.ts';
import { BundledCli, type CliResult } from '../write/runCli.ts';

describe('commands as processes, on the sandbox', function () {
  this.timeout(60_000);
  let cli: BundledCli;
  let folder: string;
  let running: RunningScenario;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'object-versions-processes-'));
    running = await startScenario({ scenario: 'bare' });
    await writeFile(join(folder, 'kubeconfig'), running.sandbox.kubeconfig);
    await writeFile(join(folder, 'ca.pem'), running.sandbox.caPem);
    cli = await BundledCli.make();
    assert.equal((await post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'one' } })).status, 201);
    assert.equal((await post('/api/v1/namespaces/default/secrets', { metadata: { name: 'hidden' } })).status, 201);
  });
  after(async () => {
    await running?.stop();
    await cli?.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const post = async (path: string, body: object): Promise<{ status: number }> => {
    const { url, token } = running.sandbox;
    return plainRequest({ url, token, caFile: join(folder, 'ca.pem') }, 'POST', path, body);
  };
  const run = (args: readonly string[], options?: Parameters<BundledCli['run']>[1]): Promise<CliResult> =>
    cli.run([...args, '--kubeconfig', join(folder, 'kubeconfig')], options);
  const script = async (name: string, text: string): Promise<string[]> => {
    await writeFile(join(folder, name), text);
    return ['modify', 'cm', 'one', '-o', 'json', '--script', join(folder, name)];
  };
  const outcomeOf = ({ stdout }: CliResult): unknown => (JSON.parse(stdout) as { outcome: unknown }).outcome;

  const endless = {
    'a promise that is never kept': 'export default () => new Promise((r) => setTimeout(r, 1e6));',
    'a loop without end': 'export default () => { for (;;); };',
    'a module that is never ready': 'await new Promise((r) => setTimeout(r, 1e6)); export default (o) => o;',
  };
  for (const [what, text] of Object.entries(endless)) {
    it(`${what} ends at the time limit, and by an interrupt`, async () => {
      const args = await script('endless.mjs', text);
      const late = await run([...args, '--timeout', '1']);
      assert.deepEqual([late.code, outcomeOf(late)], [9, 'timed-out']);
      const stopped = await run(args, { interruptAfterMs: 2000 });
      assert.deepEqual([stopped.code, outcomeOf(stopped)], [130, 'cancelled']);
    });
  }

  it('waiting for standard input ends by an interrupt', async () => {
    await writeFile(join(folder, 'base.yaml'), 'metadata: {name: one}\n');
    const args = ['modify', 'cm', 'one', '-o', 'json', '--edited', '-', '--base', join(folder, 'base.yaml')];
    const stopped = await run(args, { keepInputOpen: true, interruptAfterMs: 2000 });
    assert.deepEqual([stopped.code, outcomeOf(stopped)], [130, 'cancelled']);
  });

  it('what a script prints stays out of the report, and what it throws later is one sentence', async () => {
    const printing = 'export default (o) => { console.log("one"); process.stdout.write("two"); return o; };';
    const printed = await run(await script('printing.mjs', printing));
    assert.deepEqual([printed.code, outcomeOf(printed)], [0, 'unchanged']);
    assert.match(printed.stderr, /one\ntwo/);
    const late =
      'export default (o) => { setTimeout(() => { throw new Error("later"); }); return new Promise(() => {}); };';
    const thrown = await run(await script('late.mjs', late));
    assert.deepEqual([thrown.code, thrown.stderr, outcomeOf(thrown)], [1, 'error: later\n', 'cancelled']);
    const during = `export default (o) => { setTimeout(() => { throw new Error("later"); }, 300);
      return new Promise((done) => setTimeout(() => done({ ...o, data: { x: String(Math.random()) } }), 290)); };`;
    const meant = await run(await script('during.mjs', during));
    assert.ok(['written', 'cancelled'].includes(String(outcomeOf(meant))), 'what was done is told all the same');
  });

  it('a script cannot end the process', async () => {
    const leaving = await run(await script('leaving.mjs', 'export default () => process.exit(0);'));
    assert.equal(leaving.code, 1);
    assert.match(leaving.stderr, /called process\.exit/);
  });

  it('a CommonJS file made from an ES module is a script too', async () => {
    const text = 'exports.__esModule = true; exports.default = (o) => ({ ...o, data: { made: "1" } });';
    assert.equal((await run(await script('made.cjs', text))).code, 0);
  });

  it('what serves until interrupted writes its files and ends', async () => {
    const trace = join(folder, 'watch.jsonl');
    const watched = await run(['watch', 'cm', '--trace', trace], { interruptAfterMs: 2500 });
    assert.deepEqual([watched.code, watched.stderr], [130, '']);
    assert.match(await readFile(trace, 'utf8'), /"name":"one"/);
    const recording = join(folder, 'record.jsonl');
    const recorded = await run(['record', '--trace', recording, '-o', 'json'], { interruptAfterMs: 2500 });
    assert.equal(recorded.code, 0, recorded.stderr);
    assert.match(await readFile(recording, 'utf8'), /^{"trace":"object-versions"/);
  });

  it('a server that asks to slow down while its resources are asked for is asked again', async () => {
    await post('/sandbox/faults', { kind: 'throttle', retryAfterSeconds: 1, times: 3 });
    const written = await run(['modify', 'cm', 'one', '-o', 'json', '--set', 'data.again="1"']);
    assert.deepEqual([written.code, outcomeOf(written)], [0, 'written']);
    await post('/sandbox/faults', { kind: 'error', code: 503, times: 3 });
    assert.equal((await run(['get', 'cm'])).code, 0);
  });

  it('words of a refusal that repeat a value of a Secret are not shown', async () => {
    for (const strategy of ['replace', 'apply', 'json-patch', 'merge-patch', 'strategic']) {
      for (const value of ['987654', '["987654"]', '{"a":987654}']) {
        const args = ['modify', 'secret', 'hidden', '--strategy', strategy, '--set', `data.key=${value}`];
        for (const format of ['json', 'text']) {
          const { code, stdout, stderr } = await run([...args, '-o', format]);
          assert.equal(code, 6, strategy);
          assert.ok(!(stdout + stderr).includes('987654'), `${strategy} ${value} ${stdout} ${stderr}`);
        }
      }
    }
  });

  const usage: string[][] = [
    ['modify', 'cm', 'one', '--set', 'data.a="1"', '--uid', ''],
    ['modify', 'cm', 'one', '--set', 'data.a="1"', '--field-manager', ''],
    ['modify', 'cm', 'one', '--set', 'metadata.uid="x"'],
    ['modify', 'cm', 'one', '--remove', 'metadata.resourceVersion'],
    ['modify', 'cm', 'one', '--remove', 'status'],
    ['modify', 'cm', '..', '--set', 'data.a="1"'],
    ['modify', 'cm/one', 'two', '--set', 'data.a="1"'],
    ['delete', 'cm', 'one', '--uid', 'u', '--token', ''],
    ['get', 'cm', '-n', '..'],
    ['get', 'cm', 'a/b'],
  ];
  for (const args of usage) {
    it(`usage: ${args.join(' ')}`, async () => {
      const { code, stdout } = await run(args);
      assert.deepEqual([code, stdout], [2, '']);
    });
  }

  it('a web page where an API answer was expected is no API server, and the report says so', async () => {
    const page = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>');
    });
    page.listen(0, '127.0.0.1');
    await once(page, 'listening');
    const { port } = page.address() as AddressInfo;
    const cluster = { name: 'x', cluster: { server: `http://127.0.0.1:${port}` } };
    const context = { name: 'x', context: { cluster: 'x', user: 'x' } };
    const file = join(folder, 'page');
    await writeFile(
      file,
      JSON.stringify({
        'current-context': 'x',
        clusters: [cluster],
        contexts: [context],
        users: [{ name: 'x', user: {} }],
      }),
    );
    const args = ['modify', 'cm', 'one', '--set', 'data.a="1"', '-o', 'json', '--kubeconfig', file];
    const result = await cli.run(args);
    page.close();
    assert.deepEqual([result.code, outcomeOf(result)], [9, 'unavailable']);
  });

  it('what the server cannot read or does not have is told from what it cannot answer', async () => {
    assert.equal((await run(['get', 'cm', '-l', '!!'])).code, 6);
    assert.equal((await run(['watch', 'cm', '-l', '!!'])).code, 6);
    assert.equal((await run(['get', 'nothing'])).code, 6);
  });
});
