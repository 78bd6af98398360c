import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { startScenario } from '../../src/sandbox/scenario.ts';
import { findGo } from '../apiserver/binary.ts';

/** Runs a program and answers its exit code and all it printed. */
async function run(
  command: string,
  words: readonly string[],
  options: { cwd?: string; env: NodeJS.ProcessEnv },
): Promise<{ code: number | null; output: string }> {
  const child = spawn(command, [...words], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

describe('sandbox: client-go as a client', function () {
  this.timeout(600_000);

  it('typed clients in protobuf, retry on conflict, an informer, apply, leases and preconditions work', async function () {
    const folder = await mkdtemp(join(tmpdir(), 'object-versions-goclient-'));
    const env = { ...process.env, CGO_ENABLED: '0', KUBECONFIG: join(folder, 'kubeconfig') };
    try {
      const program = join(folder, 'goclient');
      const cwd = fileURLToPath(new URL('goclient', import.meta.url));
      const built = await run(await findGo(), ['build', '-trimpath', '-o', program, '.'], { cwd, env });
      assert.equal(built.code, 0, built.output);
      const running = await startScenario({ scenario: 'bare' });
      await writeFile(env.KUBECONFIG, running.sandbox.kubeconfig);
      const { code, output } = await run(program, [], { env });
      await running.stop();
      assert.equal(code, 0, output);
      assert.match(output, /ok: informer: delete watched/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
