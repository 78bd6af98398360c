import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findGo } from '../apiserver/binary.ts';

const source = fileURLToPath(new URL('.', import.meta.url));

/**
 * Builds one of this folder's Go programs into the cache and returns its path; Go's own cache makes the next build quick.
 * @throws where Go can neither be found nor installed, or the build fails, with the last of its output
 */
export async function buildGoClient(
  name: 'contention',
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): Promise<string> {
  const go = await findGo(env);
  const folder = join(
    env['XDG_CACHE_HOME'] ?? join(env['HOME'] ?? homedir(), '.cache'),
    'object-versions',
    'goclients',
  );
  await mkdir(folder, { recursive: true });
  const program = join(folder, name);
  const child = spawn(go, ['build', '-trimpath', '-o', program, `./${name}`], {
    cwd: source,
    env: { ...env, CGO_ENABLED: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4000);
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`go build of ${name} ended with ${code}: ${output.trim()}`);
  return program;
}
