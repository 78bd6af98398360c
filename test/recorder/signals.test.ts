import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const RUN = new URL('../../src/cli/recordCommand.ts', import.meta.url).href;
/** Says how often it was interrupted, a moment after the first time. */
const COUNTS = `let n = 0;
process.on('SIGINT', () => { n += 1; setTimeout(() => { console.log('interrupted ' + n); process.exit(7); }, 300); });
setInterval(() => undefined, 1000);
console.log('ready');`;
const RUNS = `import { runCommand } from ${JSON.stringify(RUN)};
process.exit(await runCommand([process.execPath, '-e', ${JSON.stringify(COUNTS)}], process.env, { stdoutToStderr: false }));`;

describe('an interrupted command', function () {
  this.timeout(30_000);

  it('is interrupted once, by the keys of a terminal and by a signal to the recorder', async function () {
    if (process.platform !== 'linux') this.skip();
    const node = [process.execPath, '--input-type=module', '-e', RUNS];
    // `script` runs a shell, which must not stand between: one that waits has an exit code of its own when the keys reach it.
    const quoted = ['exec', ...node].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
    const [first = '', ...rest] = node;
    for (const [program, args, interrupt] of [
      ['script', ['-qec', quoted, '/dev/null'], 'key'],
      [first, rest, 'signal'],
    ] as const) {
      const child = spawn(program, args, {
        stdio: ['pipe', 'pipe', 'inherit'],
        cwd: fileURLToPath(new URL('.', import.meta.url)),
      });
      let said = '';
      child.stdout.on('data', (chunk: Buffer) => {
        said += String(chunk);
        if (!said.endsWith('ready\n') && !said.endsWith('ready\r\n')) return;
        if (interrupt === 'key') child.stdin.write('\u0003');
        else child.kill('SIGINT');
      });
      const code = await new Promise((resolve, reject) => {
        child.once('error', reject);
        child.once('close', resolve);
      });
      assert.match(said, /interrupted 1\r?\n/, interrupt);
      assert.equal(code, 7, interrupt);
    }
  });
});
