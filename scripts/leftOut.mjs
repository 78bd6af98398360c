import { readFileSync } from 'node:fs';

/**
 * What packages load and this product never uses of them: a module by the end of its name, whose import it is (of any where
 * that is not said), and what stands in for it. A function that stands in says so when it is called after all.
 */
const modules = [
  // Importing it replaces the global dispatcher of the whole extension host; client-node makes no requests for us.
  { name: 'undici', functions: ['Agent', 'ProxyAgent', 'fetch'] },
  {
    name: './gen/index.js',
    of: /client-node\/dist\/config\.js$/,
    functions: ['createConfiguration', 'ServerConfiguration'],
  },
  { name: './middleware.js', of: /client-node\/dist\/config\.js$/, functions: ['setHeaderMiddleware'] },
  // Kubeconfig files are read by `src/kube/kubeconfigFile.ts`.
  { name: 'js-yaml', of: /client-node/, functions: ['load'] },
  // All that can be asked of addresses, where they are only turned into bytes and back.
  {
    name: 'ip-address',
    of: /socks/,
    source: readFileSync(new URL('ipAddress.mjs', import.meta.url), 'utf8'),
  },
  // Printing what a SOCKS proxy is asked, where an environment variable says so.
  { name: 'debug', of: /(socks-proxy-agent|agent-base)/, source: 'export default () => () => {};' },
  // Bundles of certificates, and requests for one.
  {
    name: '@peculiar/asn1-cms',
    of: /@peculiar\/x509/,
    functions: [
      'SignedData',
      'EncapsulatedContent',
      'CertificateSet',
      'CertificateChoices',
      'ContentInfo',
      'CMSVersion',
    ],
    source: "export const id_signedData = '1.2.840.113549.1.7.2', id_data = '1.2.840.113549.1.7.1';",
  },
  {
    name: '@peculiar/asn1-pkcs9',
    of: /@peculiar\/x509/,
    functions: ['ChallengePassword'],
    source:
      "export const id_pkcs9_at_challengePassword = '1.2.840.113549.1.9.7', id_pkcs9_at_extensionRequest = '1.2.840.113549.1.9.14';",
  },
];

/** A plugin of esbuild that leaves these out of a bundle. */
export const leftOut = {
  name: 'left-out',
  setup(bundle) {
    for (const { name, of = /./, functions = [], source = '' } of modules) {
      bundle.onResolve({ filter: new RegExp(`^${name.replaceAll('.', '\\.')}$`) }, ({ importer }) =>
        of.test(importer.replaceAll('\\', '/')) ? { path: name, namespace: 'left-out' } : undefined,
      );
      const refusal = `{ throw new Error(${JSON.stringify(`${name} is not part of this bundle`)}); }`;
      const contents = [source, ...functions.map((each) => `export function ${each}() ${refusal}`)].join('\n');
      bundle.onLoad({ filter: new RegExp(`^${name.replaceAll('.', '\\.')}$`), namespace: 'left-out' }, () => ({
        contents,
      }));
    }
  },
};
