import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const source = (path: string): string => fileURLToPath(new URL(`../../src/kube/${path}`, import.meta.url));

describe('the client in a bundle', () => {
  it('leaves undici out and stays small', async function () {
    this.timeout(60_000);
    const { metafile, outputFiles } = await build({
      entryPoints: [source('cluster.ts')],
      bundle: true,
      write: false,
      metafile: true,
      minify: true,
      platform: 'node',
      format: 'cjs',
      target: 'node22',
      alias: { undici: source('undiciStub.ts') },
      logLevel: 'silent',
    });
    const inputs = Object.keys(metafile.inputs);
    assert.ok(inputs.some((path) => path.includes('@kubernetes/client-node/dist/config.js')));
    assert.deepEqual(
      inputs.filter((path) => path.includes('node_modules/undici/')),
      [],
    );
    assert.ok((outputFiles[0]?.contents.length ?? 0) < 800_000, `${outputFiles[0]?.contents.length} bytes`);
  });
});
