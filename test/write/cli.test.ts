import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringifyJson, type JsonObject } from '../../src/codec/json.ts';
import { at, RealServer, textAt } from './realServer.ts';
import { BundledCli, type CliResult } from './runCli.ts';

describe('modify and delete on the command line', function () {
  this.timeout(60_000);
  let real: RealServer;
  let folder: string;
  let cli: BundledCli;

  before(async function () {
    real = await RealServer.start(this);
    cli = await BundledCli.make();
    folder = await mkdtemp(join(tmpdir(), 'object-versions-cli-'));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await cli?.dispose();
    await real?.stop();
  });

  const run = async (...args: string[]): Promise<CliResult & { report: JsonObject }> => {
    const result = await cli.run([...args, '--kubeconfig', real.kubeconfig, '-n', real.namespace, '-o', 'json']);
    return { ...result, report: result.stdout === '' ? {} : (JSON.parse(result.stdout) as JsonObject) };
  };
  const file = async (name: string, content: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  };

  it('sets and removes by all forms of a path, and prints the report', async () => {
    const target = real.configMap('paths');
    await real.create(target, { data: { 'a.b': '1', gone: '1', 'c.d': '1' } });
    const { code, report } = await run(
      'modify',
      'cm',
      'paths',
      '--set',
      'data.x="1"',
      '--set',
      '.data["a.b"]="2"',
      '--set',
      '/data/c.d="2"',
      '--set',
      '.metadata.annotations["app.kubernetes.io/name"]="n=1"',
      '--remove',
      'data.gone',
    );
    assert.equal(code, 0);
    const live = await real.read(target);
    assert.deepEqual(at(live, 'data'), { 'a.b': '2', 'c.d': '2', x: '1' });
    assert.deepEqual(at(live, 'metadata', 'annotations'), { 'app.kubernetes.io/name': 'n=1' });
    assert.equal(report['outcome'], 'written');
    assert.equal(report['uid'], textAt(live, 'metadata', 'uid'));
    assert.equal(report['token'], textAt(live, 'metadata', 'resourceVersion'));
    assert.ok(!('object' in report) && !('sides' in report));
  });

  it('finds items of lists by their keys', async () => {
    const labels = { app: 'a' };
    const target = real.target('apps', 'v1', 'deployments', 'Deployment', 'keyed');
    const containers = [
      { name: 'side', image: 's:1' },
      { name: 'web', image: 'w:1' },
    ];
    await real.create(target, {
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
    });
    const { code, report } = await run(
      'modify',
      'deploy/keyed',
      '--set',
      '.spec.template.spec.containers[name="web"].image="w:2"',
      '--set',
      'spec.replicas=3',
    );
    assert.equal(code, 0);
    assert.equal(report['generation'], 2);
    assert.equal(report['desiredStateChanged'], true);
    const live = await real.read(target);
    assert.deepEqual(
      (at(live, 'spec', 'template', 'spec', 'containers') as JsonObject[]).map(({ image }) => image),
      ['s:1', 'w:2'],
    );
    const scaled = await run(
      'modify',
      'deployments.apps',
      'keyed',
      '--subresource',
      'scale',
      '--set',
      'spec.replicas=5',
    );
    assert.equal(scaled.code, 0);
    assert.equal(at(await real.read(target), 'spec', 'replicas'), 5);
    const unknown = await run('modify', 'cm', 'keyed', '--subresource', 'status', '--set', 'data.a="1"');
    assert.equal(unknown.report['outcome'], 'unsupported');
    assert.equal(unknown.code, 6);
  });

  it('a value that is not JSON, a path that is none, and a command that says nothing or too much are usage', async () => {
    for (const args of [
      ['--set', 'data.x=hello'],
      ['--set', 'data.x'],
      ['--set', '=1'],
      ['--set', 'data[x=1'],
      ['--remove', 'data..x'],
      [],
      ['--set', 'data.x="1"', '--script', 'x.mjs'],
      ['--edited', 'x.yaml'],
      ['--set', 'data.x="1"', '--strategy', 'force'],
      ['--set', 'data.x="1"', '--max-attempts', '0'],
      ['--set', 'data.x="1"', '--on-field-conflict', '.data.x=take-over'],
      ['--edited', '/nowhere.yaml', '--base', '/nowhere.yaml'],
    ]) {
      const { code, stdout, stderr } = await run('modify', 'cm', 'usage', ...args);
      assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
      assert.equal(stdout, '');
      assert.notEqual(stderr, '');
    }
  });

  it('carries an edited file over its base to the newest object, and tells a decision', async () => {
    const target = real.configMap('edited');
    const stored = await real.create(target, { data: { a: '1', b: '1' } });
    const base = await file('base.json', stringifyJson(stored, 2));
    const edited = await file('edited.yaml', `# mine\n${stringifyJson({ ...stored, data: { a: '2', b: '1' } }, 2)}\n`);
    await real.patch(target, { data: { b: '9' } });
    const first = await run('modify', 'cm', 'edited', '--edited', edited, '--base', base);
    assert.equal(first.code, 0);
    assert.deepEqual(at(await real.read(target), 'data'), { a: '2', b: '9' });
    await real.patch(target, { data: { a: '7' } });
    const second = await run('modify', 'cm', 'edited', '--edited', edited, '--base', base);
    assert.equal(second.code, 3);
    assert.equal(second.report['outcome'], 'needs-decision');
    assert.deepEqual(second.report['conflicts'], [{ path: '.data.a', base: '1', theirs: '7', yours: '2' }]);
    assert.equal(await readFile(edited, 'utf8').then((text) => text.startsWith('# mine')), true);
  });

  it('J8: an edited file with a doubled key or several documents is refused, at every place, and nothing is sent', async () => {
    const target = real.configMap('broken');
    const stored = await real.create(target, { data: { a: '1' } });
    const base = await file('base2.json', stringifyJson(stored));
    for (const text of ['apiVersion: v1\ndata:\n  a: "1"\n  a: "2"\n', 'a: 1\n---\nb: 2\n', 'a: [\n']) {
      const { code, report, stderr } = await run(
        'modify',
        'cm',
        'broken',
        '--edited',
        await file('bad.yaml', text),
        '--base',
        base,
      );
      assert.equal(code, 6, text);
      assert.equal(report['outcome'], 'invalid');
      assert.match(stderr, /bad\.yaml:\d+:\d+/);
      if (text.includes('"2"')) assert.match(stderr, /bad\.yaml:3:3.* 4:3/s, 'both places');
    }
    assert.equal(
      textAt(await real.read(target), 'metadata', 'resourceVersion'),
      textAt(stored, 'metadata', 'resourceVersion'),
    );
  });

  it('J7: an edited file is read as Kubernetes reads it, or refused; never a third way', async () => {
    const target = real.target('apps', 'v1', 'deployments', 'Deployment', 'dialects');
    const labels = { app: 'a' };
    const pod = (mode: string, value: string): string => `{metadata: {labels: {app: a}}, spec: {
      containers: [{name: c, image: i, env: [{name: E, value: ${value}}]}],
      volumes: [{name: v, configMap: {name: x, defaultMode: ${mode}}}]}}`;
    const yaml = (mode: string, value: string): string =>
      `metadata: {name: dialects}\nspec:\n  selector: {matchLabels: {app: a}}\n  template: ${pod(mode, value)}\n`;
    const containers = [{ name: 'c', image: 'i', env: [{ name: 'E', value: 'off' }] }];
    const volumes = [{ name: 'v', configMap: { name: 'x', defaultMode: 420 } }];
    await real.create(target, {
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers, volumes } } },
    });
    const base = await file('dialects-base.yaml', yaml('0644', '"off"'));
    const edited = async (text: string): Promise<ReturnType<typeof run>> =>
      run('modify', 'deploy', 'dialects', '--edited', await file('dialects.yaml', text), '--base', base);
    const octal = await edited(yaml('0400', '"off"'));
    assert.equal(octal.code, 0, octal.stderr);
    const template = async (...steps: string[]): Promise<unknown> =>
      at(await real.read(target), 'spec', 'template', 'spec', ...steps);
    assert.equal(await template('volumes', '0', 'configMap', 'defaultMode'), 0o400);
    const bare = await edited(yaml('0400', 'on'));
    assert.deepEqual([bare.code, bare.report['outcome']], [6, 'invalid'], 'on is true there, and true is no text');
    assert.equal(await template('containers', '0', 'env', '0', 'value'), 'off');
    const quoted = await edited(yaml('0400', '"on"'));
    assert.equal(quoted.code, 0);
    assert.equal(await template('containers', '0', 'env', '0', 'value'), 'on');
  });

  it('reads the edited file from standard input', async () => {
    const target = real.configMap('piped');
    const stored = await real.create(target, { data: { a: '1' } });
    const base = await file('base3.json', stringifyJson(stored));
    const args = [
      'modify',
      'cm',
      'piped',
      '--edited',
      '-',
      '--base',
      base,
      '--kubeconfig',
      real.kubeconfig,
      '-n',
      real.namespace,
    ];
    const { code } = await cli.run(args, { input: stringifyJson({ ...stored, data: { a: '2' } }) });
    assert.equal(code, 0);
    assert.equal(at(await real.read(target), 'data', 'a'), '2');
  });

  it('a script gets plain JSON with exact integers, may be asynchronous, and its failure is its own', async () => {
    const group = 'script.write.example';
    const spec: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    await real.define('bigs', 'Big', group, { spec });
    const target = real.target(group, 'v1', 'bigs', 'Big', 'one');
    await real.create(target, { spec: { n: 9007199254740993n } });
    const script = await file(
      'big.mjs',
      'export default async (o) => ({ ...o, spec: { ...o.spec, n: o.spec.n + 1n } });\n',
    );
    const { code } = await run('modify', `bigs.${group}`, 'one', '--script', script);
    assert.equal(code, 0);
    assert.equal(at(await real.read(target), 'spec', 'n'), 9007199254740994n);
    const typed = await file(
      'typed.ts',
      'export default (o: any): unknown => ({ ...o, spec: { ...o.spec, typed: true } });\n',
    );
    assert.equal((await run('modify', `bigs.${group}`, 'one', '--script', typed)).code, 0);
    for (const text of [
      'export default () => { throw new Error("boom"); };',
      'export const x = 1;',
      'export default () => undefined;',
      'import "nothing-here";',
    ]) {
      const failed = await run(
        'modify',
        `bigs.${group}`,
        'one',
        '--script',
        await file('bad.mjs', `${text}//${Math.random()}\n`),
      );
      assert.equal(failed.code, 1, text);
      assert.notEqual(failed.stderr, '');
    }
  });

  it('dry run stores nothing', async () => {
    const target = real.configMap('dry');
    const stored = await real.create(target, { data: { a: '1' } });
    const { code, report } = await run('modify', 'cm', 'dry', '--set', 'data.a="2"', '--dry-run');
    assert.equal(code, 0);
    assert.equal(report['dryRun'], true);
    assert.equal(
      textAt(await real.read(target), 'metadata', 'resourceVersion'),
      textAt(stored, 'metadata', 'resourceVersion'),
    );
  });

  it('exit codes tell gone, recreated, refused, invalid, unavailable and interrupted apart', async () => {
    const target = real.configMap('codes');
    await real.create(target, { data: { a: '1' } });
    const set = ['--set', 'data.a="2"'];
    assert.equal((await run('modify', 'cm', 'nobody', ...set)).code, 8);
    assert.equal((await run('modify', 'cm', 'codes', '--uid', 'other', ...set)).report['outcome'], 'recreated');
    assert.equal((await run('modify', 'nothings', 'codes', ...set)).code, 6);
    assert.equal((await run('modify', 'cm', 'codes', '--set', 'data.a=1')).code, 6);
    const alice = join(folder, 'alice');
    await real.server.kubeconfig(alice, 'alice');
    const refused = await cli.run([
      'modify',
      'cm',
      'codes',
      ...set,
      '--kubeconfig',
      alice,
      '-n',
      real.namespace,
      '-o',
      'json',
    ]);
    assert.equal(refused.code, 5, refused.stderr);
    assert.equal((JSON.parse(refused.stdout) as JsonObject)['outcome'], 'forbidden');
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => sockets.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const text = await readFile(real.kubeconfig, 'utf8');
    const quiet = await file('quiet', text.replace(/https:\/\/127\.0\.0\.1:\d+/, `https://127.0.0.1:${port}`));
    const interrupted = await cli.run(['modify', 'cm', 'codes', ...set, '--kubeconfig', quiet], {
      interruptAfterMs: 1500,
    });
    assert.equal(interrupted.code, 130);
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
    const begin = Date.now();
    const hanging = createServer((socket) => sockets.add(socket));
    await new Promise<void>((resolve) => hanging.listen(port, '127.0.0.1', resolve));
    const late = await cli.run([
      'modify',
      'cm',
      'codes',
      ...set,
      '--timeout',
      '1',
      '--kubeconfig',
      quiet,
      '-o',
      'json',
    ]);
    assert.deepEqual([late.code, (JSON.parse(late.stdout) as JsonObject)['outcome']], [9, 'timed-out']);
    assert.ok(Date.now() - begin < 8000);
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => hanging.close(resolve));
    const closed = await cli.run(['modify', 'cm', 'codes', ...set, '--kubeconfig', quiet, '-o', 'json']);
    assert.equal(closed.code, 9);
    assert.equal((JSON.parse(closed.stdout) as JsonObject)['outcome'], 'unavailable');
  });

  it('delete needs the UID, and hits no other object of the name', async () => {
    const target = real.configMap('deleted');
    const uid = textAt(await real.create(target, {}), 'metadata', 'uid');
    assert.equal((await run('delete', 'cm', 'deleted')).code, 2);
    const other = await run('delete', 'cm', 'deleted', '--uid', '00000000-0000-0000-0000-000000000000');
    assert.deepEqual([other.code, other.report['outcome'], other.report['holder']], [8, 'recreated', uid]);
    const stale = await run('delete', 'cm', 'deleted', '--uid', uid, '--token', '1');
    assert.deepEqual([stale.code, stale.report['outcome']], [3, 'needs-decision']);
    const done = await run('delete', 'cm', 'deleted', '--uid', uid);
    assert.deepEqual([done.code, done.report['outcome']], [0, 'written']);
    assert.equal((await run('delete', 'cm', 'deleted', '--uid', uid)).code, 8);
  });

  it('gives up a claim and keeps the value, so that another can apply the field', async () => {
    const target = real.configMap('released');
    await real.create(target, { data: { a: '1', b: '1' } }, 'object-versions');
    const claims = async (): Promise<string> =>
      stringifyJson(at(await real.read(target), 'metadata', 'managedFields') ?? []);
    const dry = await run('modify', 'cm', 'released', '--release', '.data.a', '--dry-run');
    assert.deepEqual([dry.code, dry.report['outcome'], dry.report['dryRun']], [0, 'written', true]);
    assert.ok((await claims()).includes('f:a'));
    const { code, report } = await run('modify', 'cm', 'released', '--release', '.data.a');
    assert.deepEqual([code, report['outcome']], [0, 'written']);
    assert.deepEqual(at(await real.read(target), 'data'), { a: '1', b: '1' });
    assert.ok(!(await claims()).includes('f:a') && (await claims()).includes('f:b'));
    const again = await run('modify', 'cm', 'released', '--release', '.data.a');
    assert.deepEqual([again.code, again.report['outcome']], [0, 'unchanged']);
    const other = await run('modify', 'cm', 'released', '--release', '.data.b', '--field-manager', 'somebody');
    assert.equal(other.report['outcome'], 'unchanged', 'claims of others are theirs');
    assert.equal((await run('modify', 'cm', 'released', '--release', '.data.b', '--set', 'data.a="2"')).code, 2);
    assert.equal((await run('modify', 'cm', 'released', '--release', '.data.b', '--subresource', 'status')).code, 2);
  });

  it('a dry run of a delete has the server say what would be, and deletes nothing', async () => {
    const target = real.configMap('delete-dry');
    const uid = textAt(await real.create(target, {}), 'metadata', 'uid');
    const { code, report } = await run('delete', 'cm', 'delete-dry', '--uid', uid, '--dry-run');
    const { attempts, ...rest } = report;
    assert.deepEqual([code, attempts], [0, [{ attempt: 1, outcome: 'written', code: 200 }]]);
    const message = `configmaps ${real.namespace}/delete-dry would be deleted.`;
    assert.deepEqual(rest, { outcome: 'written', uid, message, dryRun: true });
    assert.equal(textAt(await real.read(target), 'metadata', 'uid'), uid);
    const stale = await run('delete', 'cm', 'delete-dry', '--uid', uid, '--token', '1', '--dry-run');
    assert.deepEqual([stale.code, stale.report['outcome'], stale.report['dryRun']], [3, 'needs-decision', true]);
  });

  it('edits of another object are refused before anything is sent', async () => {
    await real.create(real.configMap('mine'), { data: { a: '1' } });
    const other = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'other' }, data: { a: '1' } };
    const base = await file('other-base.json', stringifyJson(other));
    const edited = await file('other.json', stringifyJson({ ...other, data: { a: '2' } }));
    const { code, report } = await run('modify', 'cm', 'mine', '--edited', edited, '--base', base);
    assert.deepEqual([code, report['outcome']], [6, 'invalid']);
    assert.equal(at(await real.read(real.configMap('mine')), 'data', 'a'), '1');
  });

  it('waits until a controller has observed the write, and says what is missing', async () => {
    const labels = { app: 'a' };
    const target = real.target('apps', 'v1', 'deployments', 'Deployment', 'waited');
    await real.create(target, {
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } },
      },
    });
    const late = await run('modify', 'deploy', 'waited', '--set', 'spec.replicas=2', '--wait', '--timeout', '3');
    assert.equal(late.code, 9);
    assert.equal(late.report['outcome'], 'written');
    assert.equal(at(late.report, 'observed', 'outcome'), 'timed-out');
    const waiting = run(
      'modify',
      'deploy',
      'waited',
      '--set',
      'spec.replicas=3',
      '--wait',
      '--condition',
      'Available=True',
      '--timeout',
      '20',
    );
    const status = { observedGeneration: 3, conditions: [{ type: 'Available', status: 'True' }] };
    for (;;) {
      if (at(await real.read(target), 'spec', 'replicas') === 3) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await real.patch(target, { status }, 'controller', 'status');
    const done = await waiting;
    assert.equal(done.code, 0);
    assert.equal(at(done.report, 'observed', 'outcome'), 'observed');
  });

  it('in words: what happened, whose fields were taken, and every attempt that did not get through', async () => {
    const target = real.configMap('words');
    await real.create(target, { data: { a: '1' } }, 'helm');
    const result = await cli.run([
      'modify',
      'cm',
      'words',
      '--set',
      'data.a="2"',
      '--kubeconfig',
      real.kubeconfig,
      '-n',
      real.namespace,
    ]);
    assert.equal(result.code, 0);
    assert.match(result.stdout, /words: written/);
    assert.match(result.stderr, /\.data\.a belongs to helm \(Update since 20/);
  });
});

describe('eight processes that add to one counter', function () {
  this.timeout(300_000);
  const processes = 8;
  const updates = 25;
  let real: RealServer;
  let folder: string;
  let cli: BundledCli;

  before(async function () {
    real = await RealServer.start(this);
    cli = await BundledCli.make();
    folder = await mkdtemp(join(tmpdir(), 'object-versions-eight-'));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await cli?.dispose();
    await real?.stop();
  });

  /** Runs the command line in eight lines of processes; each run adds one. Returns the counter, and the exit codes. */
  const count = async (
    name: string,
    script: string,
    times: number,
  ): Promise<{ counter: number; codes: Set<number> }> => {
    const target = real.configMap(name);
    await real.create(target, { data: { count: '0' } });
    const path = join(folder, `${name}.mjs`);
    await writeFile(path, script);
    const codes = new Set<number>();
    await Promise.all(
      Array.from({ length: processes }, async () => {
        for (let done = 0; done < times; done += 1) {
          const { code } = await cli.run([
            'modify',
            'cm',
            name,
            '--script',
            path,
            '--kubeconfig',
            real.kubeconfig,
            '-n',
            real.namespace,
            '-o',
            'json',
          ]);
          codes.add(code);
        }
      }),
    );
    return { counter: Number(textAt(await real.read(target), 'data', 'count')), codes };
  };

  const pause = 'const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 40));';
  const added = '({ ...object, data: { ...object.data, count: String(Number(object.data.count) + 1) } })';

  it('end at exactly the sum, recomputed on every attempt', async () => {
    const script = `${pause}\nexport default async (object) => { await pause(); return ${added}; };\n`;
    const { counter, codes } = await count('sum', script, updates);
    assert.deepEqual(codes, new Set([0]));
    assert.equal(counter, processes * updates);
  });

  it('lose updates where the script does not recompute: the token swap', async () => {
    const script = `${pause}\nlet first;\nexport default async (object) => { await pause(); return (first ??= ${added}); };\n`;
    const { counter } = await count('swap', script, 4);
    assert.ok(counter < processes * 4, `the counter is ${counter}`);
  });
});
