import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

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
