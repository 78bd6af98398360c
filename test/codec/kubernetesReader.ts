import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json } from '../../src/codec/json.ts';
import { isJsonObject, parseJson } from '../../src/codec/json.ts';

const sources = join(dirname(fileURLToPath(import.meta.url)), 'yamlref');

/** What Kubernetes' own reader made of one text. */
export interface KubernetesReading {
  readonly value: Json | undefined;
  readonly error: string | undefined;
  /** The complaint of its strict mode. */
  readonly strict: string | undefined;
}

/** Whether Go is on the path. */
export function hasGo(): boolean {
  return spawnSync('go', ['version']).status === 0;
}

/** Reads texts with sigs.k8s.io/yaml, all in one process. Builds the program once, into the cache. */
export function readAsKubernetes(texts: readonly string[]): KubernetesReading[] {
  const input = texts.map((text) => `${JSON.stringify(text)}\n`).join('');
  const output = execFileSync(program(), { input, maxBuffer: 256 * 1024 * 1024, encoding: 'utf8' });
  return output
    .trimEnd()
    .split('\n')
    .map((line) => {
      const answer = parseJson(line);
      if (!isJsonObject(answer)) throw new Error(`not an answer: ${line}`);
      const text = (member: string): string | undefined =>
        typeof answer[member] === 'string' ? answer[member] : undefined;
      return {
        value: text('error') === undefined ? (answer['value'] ?? null) : undefined,
        error: text('error'),
        strict: text('strict'),
      };
    });
}

function program(): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(sources, file)));
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'object-versions');
  const file = join(folder, `yamlref-${hash.digest('hex').slice(0, 16)}`);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    const fresh = `${file}.${process.pid}`;
    execFileSync('go', ['build', '-o', fresh, '.'], { cwd: sources, stdio: ['ignore', 'ignore', 'inherit'] });
    renameSync(fresh, file);
  }
  return file;
}
