import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import fc from 'fast-check';
import { build, type BuildOptions } from 'esbuild';

import type * as Loopback from '../../src/base/loopbackCertificate.ts';
import type * as ClientNode from '../../src/kube/clientNode.ts';
import * as StandIn from '../../scripts/ipAddress.mjs';
import { leftOut } from '../../scripts/leftOut.mjs';

const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));

const common: BuildOptions = {
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node22',
  mainFields: ['module', 'main'],
  plugins: [leftOut],
  logLevel: 'silent',
};

describe('the client in a bundle', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'object-versions-parts-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const bundled = async <T>(path: string): Promise<T> => {
    const outfile = join(folder, `${path.replaceAll('/', '-')}.mjs`);
    const banner = {
      js: "import { createRequire as make } from 'node:module'; const require = make(import.meta.url);",
    };
    await build({ ...common, entryPoints: [source(path)], format: 'esm', outfile, banner });
    return (await import(pathToFileURL(outfile).href)) as T;
  };

  it('leaves out what is never used of client-node, and stays small', async function () {
    this.timeout(60_000);
    const { metafile, outputFiles } = await build({
      ...common,
      entryPoints: [source('kube/cluster.ts')],
      write: false,
      metafile: true,
      format: 'cjs',
    });
    const inputs = Object.keys(metafile.inputs);
    assert.ok(inputs.some((path) => path.includes('@kubernetes/client-node/dist/config.js')));
    assert.deepEqual(
      inputs.filter((path) =>
        /node_modules\/(undici|js-yaml|debug|ip-address|@kubernetes\/client-node\/dist\/gen)\//.test(path),
      ),
      [],
    );
    assert.ok((outputFiles[0]?.contents.length ?? 0) < 400_000, `${outputFiles[0]?.contents.length} bytes`);
  });

  it('turns addresses into bytes and back as the package does that it stands in for', () => {
    const fromSocks = createRequire(createRequire(import.meta.url).resolve('socks'));
    const whole = fromSocks('ip-address') as typeof StandIn;
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV6(), fc.uint8Array({ minLength: 16, maxLength: 16 }), (v4, v6, bytes) => {
        assert.deepEqual(new StandIn.Address4(v4).toArray(), new whole.Address4(v4).toArray());
        const mapped = `::ffff:${v4}`;
        for (const text of [v6, mapped, `${v6}%eth0`])
          assert.equal(new StandIn.Address6(text).canonicalForm(), new whole.Address6(text).canonicalForm(), text);
        const list = Array.from(bytes);
        assert.equal(
          StandIn.Address6.fromByteArray(list).canonicalForm(),
          whole.Address6.fromByteArray(list).canonicalForm(),
        );
      }),
    );
  });

  it('still has the proxies and auth providers of client-node', async function () {
    this.timeout(60_000);
    const { ClientNodeConfig } = await bundled<typeof ClientNode>('kube/clientNode.ts');
    const authOf = (proxyUrl: string, authProvider?: { name: string; config: Record<string, string> }) =>
      new ClientNodeConfig(
        { name: 'c', at: 'here', server: 'https://example.test', insecure: true, proxyUrl, disableCompression: false },
        { name: 'u', at: 'here', ...(authProvider === undefined ? {} : { authProvider }) },
      ).auth();
    const agents = await Promise.all(
      ['socks5://127.0.0.1:1', 'https://127.0.0.1:1', 'http://127.0.0.1:1'].map(
        async (url) => (await authOf(url)).agent,
      ),
    );
    assert.deepEqual(
      agents.map((agent) => agent !== undefined && 'createConnection' in agent),
      [true, true, true],
    );
    const config = { 'access-token': 'given', expiry: '2999-01-01T00:00:00Z' };
    for (const name of ['gcp', 'azure']) {
      const provider = { name, config: { ...config, 'expires-on': '32472144000' } };
      assert.equal((await authOf('http://127.0.0.1:1', provider)).headers['authorization'], 'Bearer given', name);
    }
  });

  it('still makes certificates', async function () {
    this.timeout(60_000);
    const { makeAuthority } = await bundled<typeof Loopback>('base/loopbackCertificate.ts');
    const authority = await makeAuthority(Date.now(), 'a CA');
    const { certificatePem } = await authority.issue('a server', ['localhost', '127.0.0.1', '::1']);
    const certificate = new X509Certificate(certificatePem);
    assert.ok(certificate.verify(new X509Certificate(authority.caPem).publicKey));
    assert.equal(certificate.checkHost('localhost'), 'localhost');
    assert.equal(certificate.checkIP('::1'), '::1');
  });
});
