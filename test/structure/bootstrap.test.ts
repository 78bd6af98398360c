import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const bootstrap = join(import.meta.dirname, '../../scripts/bootstrap.mjs');
const script = `
  import { whenParentEnds } from ${JSON.stringify(bootstrap)};
  const alive = setInterval(() => undefined, 1000);
  whenParentEnds(() => { process.stdout.write('ended'); clearInterval(alive); });
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
    assert.equal(said, 'ready ended');
  });
});
