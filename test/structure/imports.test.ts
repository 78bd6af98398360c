import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

const pure = ['core', 'base', 'codec'];
/** What each folder may import besides itself. `*`: everything. */
const allowed: Record<string, readonly string[]> = {
  base: [],
  codec: ['base'],
  core: ['base', 'codec'],
  protocol: pure,
  storage: pure,
  kube: pure,
  sandbox: pure,
  write: ['kube', 'storage', ...pure],
  recorder: ['kube', 'storage', ...pure],
  lab: ['write', 'kube', 'storage', ...pure],
  media: ['protocol', ...pure],
  editor: ['*'],
  cli: ['*'],
  'extension.ts': ['*'],
  'cli.ts': ['*'],
};
/** Packages that only one room may know. */
const reserved: Record<string, readonly string[]> = {
  vscode: ['editor', 'extension.ts'],
  '@kubernetes/client-node': ['kube'],
};

const specifiers =
  /(?:^|[\s;}])(?:import|export)\s+(?:type\s+)?(?:[\w*{}\s,$]+\s+from\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

function importsOf(file: string): string[] {
  return [...readFileSync(join(root, file), 'utf8').matchAll(specifiers)].map((found) => found[1] ?? found[2] ?? '');
}

function roomOf(file: string): string {
  const [top, second] = file.split('/');
  return top === 'media' ? 'media' : (second ?? '');
}

/** Each breach of the edges in one file, in words. */
function breachesOf(file: string, imports: readonly string[]): string[] {
  const room = roomOf(file);
  return imports.flatMap((specifier) => {
    if (!specifier.startsWith('.')) {
      const [name] = Object.keys(reserved).filter((entry) => specifier === entry || specifier.startsWith(`${entry}/`));
      return name !== undefined && reserved[name]?.includes(room) !== true ? [`${file} imports ${name}`] : [];
    }
    const target = roomOf(relative(root, join(root, dirname(file), specifier)));
    const rooms = allowed[room] ?? [];
    return target === room || rooms.includes('*') || rooms.includes(target) ? [] : [`${file} imports ${target}`];
  });
}

const files = globSync(['src/**/*.ts', 'media/**/*.ts'], { cwd: root });

describe('imports', () => {
  it('go one way between the rooms', () => {
    assert.ok(files.length > 50, 'the files are found');
    assert.deepEqual(
      files.flatMap((file) => breachesOf(file, importsOf(file))),
      [],
    );
  });

  it('of every room are decided here', () => {
    assert.deepEqual(
      files.map(roomOf).filter((room) => !(room in allowed)),
      [],
    );
  });

  it('that breach the edges are found', () => {
    assert.deepEqual(breachesOf('src/core/a.ts', ['../kube/b.ts', 'vscode', './c.ts']), [
      'src/core/a.ts imports kube',
      'src/core/a.ts imports vscode',
    ]);
    assert.deepEqual(breachesOf('src/sandbox/a.ts', ['../kube/b.ts', '../codec/json.ts']), [
      'src/sandbox/a.ts imports kube',
    ]);
  });
});
