// Builds dist/: the extension's bundle, the command line's, one for each webview, and the data both read.
import { build, context } from 'esbuild';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, say } from './bootstrap.mjs';
import { lazyBuiltins } from './lazyBuiltins.mjs';

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
const node = { ...common, platform: 'node', target: 'node22', alias: { undici: join(root, 'src/kube/undiciStub.ts') } };

const importMetaUrl = "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;";
const requireForEsm =
  "import { createRequire as createRequireForBundle } from 'node:module'; const require = createRequireForBundle(import.meta.url);";

function folders(place) {
  return existsSync(join(root, place))
    ? readdirSync(join(root, place), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => entry.name)
    : [];
}

/**
 * What the extension's bundle leaves to files of its own beside it, because it is large and seldom needed: client-node for
 * kubeconfigs with an auth provider or a proxy, certificates for a sandbox or a recorder. Neither imports anything of ours.
 */
const apart = [
  {
    file: 'clientNode',
    entry: '@kubernetes/client-node/dist/config.js',
    asked: /^@kubernetes\/client-node\/dist\/config\.js$/,
  },
  { file: 'certificateAuthority', entry: 'src/base/certificateAuthority.ts', asked: /\/certificateAuthority\.ts$/ },
];

const leftApart = {
  name: 'left-apart',
  setup: ({ onResolve }) => {
    for (const { file, asked } of apart)
      onResolve({ filter: asked }, () => ({ path: `./${file}.cjs`, external: true }));
  },
};

const webviews = folders('media').filter((name) => existsSync(join(root, 'media', name, 'main.ts')));

const bundles = [
  {
    ...node,
    entryPoints: ['src/extension.ts'],
    outfile: 'dist/extension.cjs',
    format: 'cjs',
    external: ['vscode'],
    plugins: [leftApart],
    banner: { js: importMetaUrl },
    define: { 'import.meta.url': 'importMetaUrl' },
  },
  ...apart.map(({ file, entry }) => ({ ...node, entryPoints: [entry], outfile: `dist/${file}.cjs`, format: 'cjs' })),
  {
    ...node,
    entryPoints: { main: 'src/cli.ts' },
    outdir: 'dist/cli',
    format: 'esm',
    splitting: true,
    plugins: [lazyBuiltins],
    banner: { js: requireForEsm },
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
      cpSync(join(root, 'media', name, file), join(dist, 'media', file));
  }
  for (const folder of ['src/sandbox/data', 'src/codec/data', 'src/lab/data'].filter((item) =>
    existsSync(join(root, item)),
  )) {
    cpSync(join(root, folder), join(dist, 'data'), { recursive: true, filter: (source) => !source.endsWith('.ts') });
  }
  for (const page of [...readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')), 'findings'])
    cpSync(join(root, 'docs', page), join(dist, 'docs', page), { recursive: true });
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
