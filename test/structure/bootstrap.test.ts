import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const bootstrap = join(import.meta.dirname, '../../scripts/bootstrap.mjs');
const script = `
  import { whenToldToEnd } from ${JSON.stringify(bootstrap)};
  const alive = setInterval(() => undefined, 1000);
  whenToldToEnd(() => {
    process.stdout.write('ending ');
    setTimeout(() => { process.stdout.write('ended'); clearInterval(alive); }, 300);
  });
  process.stdout.write('ready ');
`;

describe('scripts under npm', () => {
  it('end when the shell that npm started them in is killed', async function () {
    if (process.platform === 'win32') this.skip();
    const shell = spawn('sh', ['-c', `"$0" --input-type=module -e "$1"; true`, process.execPath, script], {
      env: { ...process.env, npm_lifecycle_event: 'start' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    shell.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
      if (said === 'ready ') shell.kill('SIGTERM');
    });
    await once(shell.stdout, 'close');
    assert.equal(said, 'ready ending ended');
  });

  it('end in full where they are told to more than once, as by Ctrl+C and by what started them', async function () {
    if (process.platform === 'win32') this.skip();
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
      if (said === 'ready ') child.kill('SIGINT');
      if (said === 'ready ending ') for (const signal of ['SIGINT', 'SIGTERM'] as const) child.kill(signal);
    });
    await once(child.stdout, 'close');
    assert.equal(said, 'ready ending ended');
  });
});

describe('installing', () => {
  it('does not empty what a linked folder of dependencies leads to', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bootstrap-'));
    try {
      const scripts = join(folder, 'clone', 'scripts');
      const elsewhere = join(folder, 'elsewhere');
      await mkdir(scripts, { recursive: true });
      await mkdir(elsewhere);
      await writeFile(join(elsewhere, 'in-use'), '');
      await symlink(elsewhere, join(folder, 'clone', 'node_modules'), 'junction');
      await writeFile(join(folder, 'clone', 'package-lock.json'), '{}');
      await writeFile(join(folder, 'clone', 'package.json'), '{}');
      for (const name of ['bootstrap.mjs', 'onceAtATime.mjs'])
        await copyFile(join(bootstrap, '..', name), join(scripts, name));
      const run = `await (await import(${JSON.stringify(pathToFileURL(join(scripts, 'bootstrap.mjs')))})).bootstrap()`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', run], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
      const [code] = (await once(child, 'close')) as [number];
      assert.equal(code, 1);
      assert.match(said, /node_modules is a link/);
      assert.deepEqual(await readdir(elsewhere), ['in-use']);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
