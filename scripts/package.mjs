// Makes the .vsix and refuses one that is too large or holds what does not run.
import { bootstrap, root, run, say, toolEnv } from './bootstrap.mjs';
await bootstrap(import.meta.url);
import { statSync } from 'node:fs';
import { join } from 'node:path';
const vsce = await import('@vscode/vsce');

const limitBytes = 1_000_000;
const allowed = [
  /^dist\//,
  /^media\/(icons|walkthrough)\//,
  /^l10n\//,
  /^package(\.nls(\.[\w-]+)?)?\.json$/,
  /^README\.md$/,
  /^CHANGELOG\.md$/,
  /^LICENSE$/i,
];

run('node', ['scripts/build.mjs'], { env: toolEnv() });
const files = await vsce.listFiles({ cwd: root, dependencies: false });
const stray = files.filter((file) => !allowed.some((pattern) => pattern.test(file)));
if (stray.length > 0) throw new Error(`not needed to run, so not to be packaged: ${stray.join(', ')}`);
const packagePath = join(root, 'dist', 'object-versions.vsix');
await vsce.createVSIX({
  cwd: root,
  packagePath,
  dependencies: false,
  allowMissingRepository: true,
  rewriteRelativeLinks: false,
});
const { size } = statSync(packagePath);
if (size > limitBytes) throw new Error(`the package has ${size} bytes; at most ${limitBytes} are allowed`);
say(`${files.length} files, ${(size / 1000).toFixed(0)} kB: dist/object-versions.vsix`);
