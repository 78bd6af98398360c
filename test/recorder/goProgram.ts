import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('../controllers', import.meta.url));

/** Builds the test controllers once for each state of their source, outside the clone; undefined where there is no Go. */
export async function controllersProgram(): Promise<string | undefined> {
  const hash = createHash('sha256');
  for (const file of (await readdir(SOURCE)).sort()) hash.update(await readFile(join(SOURCE, file)));
  const base = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(base, 'object-versions', `controllers-${hash.digest('hex').slice(0, 16)}`);
  const program = join(folder, 'controllers');
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  const unfinished = `${program}.${process.pid}`;
  const code = await new Promise<number | undefined>((resolve) => {
    const go = spawn('go', ['build', '-o', unfinished, '.'], { cwd: SOURCE, stdio: ['ignore', 'ignore', 'inherit'] });
    go.once('error', () => resolve(undefined));
    go.once('close', (exit) => resolve(exit ?? 1));
  });
  if (code === undefined) return undefined;
  if (code !== 0) throw new Error('The test controllers do not build.');
  await rename(unfinished, program);
  return program;
}
