// Makes the .vsix and refuses one that is too large or holds what does not run. `--address https://…` is where the files of this
// repository can be read by everyone: then the pages in the package keep their links and pictures, which a gallery shows.
import { bootstrap, root, run, say, toolEnv } from './bootstrap.mjs';
await bootstrap(import.meta.url);
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
const vsce = await import('@vscode/vsce');

const { address } = parseArgs({ options: { address: { type: 'string' } } }).values;
if (address !== undefined && !URL.parse(address)?.protocol.startsWith('https:'))
  throw new Error(`--address ${address} is not an https: address, and no other is shown`);
const limitBytes = 1_000_000;
const allowed = [
  /^bin\//,
  /^dist\//,
  /^media\/(icons|walkthrough)\//,
  /^l10n\//,
  /^package(\.nls(\.[\w-]+)?)?\.json$/,
  /^README\.md$/,
  /^LICENSE$/i,
];

/**
 * A page as an installed extension shows it. package.json names no repository, because there is none to name; so without an
 * address no relative link could lead anywhere: its words stay, and the pages are in the package itself. Pictures go: the page
 * of an extension shows those of https: and data: addresses only (its Content-Security-Policy), and `vsce` refuses the latter.
 */
function packaged(page) {
  const path = `dist/${page}`;
  writeFileSync(join(root, path), address === undefined ? withoutLinks(page) : readFileSync(join(root, page)));
  return path;
}

function withoutLinks(page) {
  const text = readFileSync(join(root, page), 'utf8')
    .replaceAll(/^!\[[^\]]*\]\((?!https:)[^)]*\)\n+/gm, '')
    .replaceAll(/\[([^\]]*)\]\((?!https:)[^)]*\)/g, '$1')
    .replace(
      '## Documentation\n',
      '## Documentation\n\n**Object Versions: Open the Documentation** has these pages.\n',
    );
  const [dangling] = /\]\((?!https:)[^)]*\)/.exec(text) ?? [];
  if (dangling !== undefined) throw new Error(`a link of ${page} leads nowhere in the package: ${dangling}`);
  return text;
}

run('node', ['scripts/build.mjs'], { env: toolEnv() });
const readmePath = packaged('README.md');
const changelogPath = packaged('CHANGELOG.md');
const files = await vsce.listFiles({ cwd: root, packageManager: vsce.PackageManager.None });
const stray = files.filter((file) => !allowed.some((pattern) => pattern.test(file)));
if (stray.length > 0) throw new Error(`not needed to run, so not to be packaged: ${stray.join(', ')}`);
const packagePath = join(root, 'dist', 'object-versions.vsix');
// `vsce` warns of the missing address; that it is missing is said above, and nothing in the package pretends otherwise.
// What it says of its success on stdout is said below in one line.
const { log } = console;
console.log = () => {};
try {
  await vsce.createVSIX({
    cwd: root,
    packagePath,
    dependencies: false,
    allowMissingRepository: true,
    readmePath,
    changelogPath,
    ...(address === undefined ? {} : { baseContentUrl: address, baseImagesUrl: address }),
  });
} finally {
  console.log = log;
}
const { size } = statSync(packagePath);
if (size > limitBytes) throw new Error(`the package has ${size} bytes; at most ${limitBytes} are allowed`);
say(`${files.length} files, ${(size / 1000).toFixed(0)} kB: dist/object-versions.vsix`);
