// Builds dist/: the extension, the command line, a bundle for each webview, and the data they read.
import { build, context, transformSync } from 'esbuild';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, say } from './bootstrap.mjs';
import { lazyBuiltins, lazyPackageNames, lazyPackages } from './lazyBuiltins.mjs';
import { leftOut } from './leftOut.mjs';
import { packData } from './packData.mjs';
import { roomsTogether } from './roomsTogether.mjs';

const watch = process.argv.includes('--watch');
const dist = join(root, 'dist');
/** What must never be in a bundle: importing undici replaces the global dispatcher of the whole extension host. */
const banned = ['node_modules/undici/'];

const common = {
  bundle: true,
  absWorkingDir: root,
  logLevel: 'warning',
  legalComments: 'none',
  metafile: true,
  minify: !watch,
  sourcemap: watch,
  keepNames: false,
};
const node = { ...common, platform: 'node', target: 'node22', mainFields: ['module', 'main'] };

const requireForEsm =
  "import { createRequire as createRequireForBundle } from 'node:module'; const require = createRequireForBundle(import.meta.url);";

function folders(place) {
  return existsSync(join(root, place))
    ? readdirSync(join(root, place), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => entry.name)
    : [];
}

const webviews = folders('media').filter((name) => existsSync(join(root, 'media', name, 'main.ts')));

const bundles = [
  // What Node runs, in one folder: two small beginnings, and a file for each part that is loaded when it is needed, by both.
  {
    ...node,
    entryPoints: { extension: 'src/extension.ts', cli: 'src/cli.ts' },
    outdir: 'dist/node',
    format: 'esm',
    splitting: true,
    external: ['vscode'],
    plugins: [leftOut, roomsTogether, lazyBuiltins, lazyPackages],
    banner: { js: requireForEsm },
  },
  {
    ...node,
    entryPoints: lazyPackageNames,
    outdir: 'dist/node',
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
  },
  {
    ...common,
    entryPoints: Object.fromEntries(webviews.map((name) => [name, `media/${name}/main.ts`])),
    outdir: 'dist/media',
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
  },
].filter((options) => Object.keys(options.entryPoints).length > 0);

function copyFiles() {
  for (const name of folders('media')) {
    for (const file of readdirSync(join(root, 'media', name)).filter((item) => item.endsWith('.css')))
      writeFileSync(join(dist, 'media', file), styles(readFileSync(join(root, 'media', name, file), 'utf8')));
  }
  cpSync(join(root, 'src/lab/data'), join(dist, 'data'), { recursive: true });
  packData(join(dist, 'data'));
  cpSync(join(root, 'docs', 'findings'), join(dist, 'docs', 'findings'), { recursive: true });
  for (const page of readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')))
    writeFileSync(join(dist, 'docs', page), withoutPictures(readFileSync(join(root, 'docs', page), 'utf8')));
}

function styles(text) {
  return watch ? text : transformSync(text, { loader: 'css', minify: true }).code;
}

/** A page as the package holds it: pictures would make it several times as large. */
function withoutPictures(page) {
  return page.replaceAll(/^!\[[^\]]*\]\(pictures\/[^)]*\)\n+/gm, '');
}

function checkInputs(metafile) {
  const found = Object.keys(metafile.inputs).filter((input) => banned.some((part) => input.includes(part)));
  if (found.length > 0) throw new Error(`a bundle must not hold ${found.join(', ')}`);
}

rmSync(dist, { recursive: true, force: true });
mkdirSync(join(dist, 'media'), { recursive: true });
if (watch) {
  for (const options of bundles) await (await context(options)).watch();
  copyFiles();
  say('watching …');
} else {
  for (const result of await Promise.all(bundles.map((options) => build(options)))) checkInputs(result.metafile);
  copyFiles();
  say('built dist/');
}
