import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('.', import.meta.url));

/**
 * Builds one of this folder's Go programs into the cache and returns its path; Go's own cache makes the next build quick.
 * @throws where there is no Go on the PATH, or the build fails, with the last of its output
 */
export async function buildGoClient(
  name: 'contention',
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): Promise<string> {
  const go = (env['PATH'] ?? '')
    .split(delimiter)
    .concat('/usr/local/go/bin')
    .map((folder) => join(folder, 'go'))
    .find((file) => existsSync(file));
  if (go === undefined) throw new Error('This needs Go 1.26 or newer on the PATH.');
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
