import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a server is started with: its folder, its keys, and two random tokens. */
export interface ServerFiles {
  folder: string;
  certFolder: string;
  etcdFolder: string;
  caFile: string;
  tokensFile: string;
  saPublicKey: string;
  saPrivateKey: string;
  /** Of `admin`, group `system:masters`. */
  token: string;
  /** Of `alice`, group `devs`, who may do nothing. */
  userToken: string;
}

/** Writes all files of one server into a folder of its own. */
export async function writeServerFiles(folder: string): Promise<ServerFiles> {
  const files: ServerFiles = {
    folder,
    certFolder: join(folder, 'certs'),
    etcdFolder: join(folder, 'etcd'),
    caFile: join(folder, 'certs', 'apiserver.crt'),
    tokensFile: join(folder, 'tokens.csv'),
    saPublicKey: join(folder, 'sa.pub'),
    saPrivateKey: join(folder, 'sa.key'),
    token: randomBytes(24).toString('hex'),
    userToken: randomBytes(24).toString('hex'),
  };
  const keys = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  await Promise.all([mkdir(files.certFolder), mkdir(files.etcdFolder, { mode: 0o700 })]);
  await Promise.all([
    writeFile(files.saPublicKey, keys.publicKey),
    writeFile(files.saPrivateKey, keys.privateKey, { mode: 0o600 }),
    writeFile(
      files.tokensFile,
      `${files.token},admin,admin-uid,"system:masters"\n${files.userToken},alice,alice-uid,"devs"\n`,
      { mode: 0o600 },
    ),
  ]);
  return files;
}

/** The kube-apiserver's flags, the store's address apart. */
export function serverFlags(files: ServerFiles, port: number, extra: readonly string[]): string[] {
  return [
    `--cert-dir=${files.certFolder}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${files.saPublicKey}`,
    `--service-account-signing-key-file=${files.saPrivateKey}`,
    `--token-auth-file=${files.tokensFile}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--disable-admission-plugins=ServiceAccount',
    ...extra,
  ];
}

/** A kubeconfig for one token, as JSON, which is YAML too. */
export function kubeconfigText(server: { url: string; caPem: string; token: string; user: string }): string {
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'apiserver',
          cluster: { server: server.url, 'certificate-authority-data': Buffer.from(server.caPem).toString('base64') },
        },
      ],
      users: [{ name: server.user, user: { token: server.token } }],
      contexts: [{ name: 'apiserver', context: { cluster: 'apiserver', user: server.user, namespace: 'default' } }],
      'current-context': 'apiserver',
    },
    null,
    2,
  );
}
