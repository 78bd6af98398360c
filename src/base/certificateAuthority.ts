import * as x509 from '@peculiar/x509';

/** A certificate with its key (PKCS #8), in PEM. */
export interface CertificatePair {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** A certificate authority that lives as long as the process; its key never leaves it. */
export interface CertificateAuthority {
  /** Its own certificate, in PEM. */
  readonly caPem: string;
  /** A new key and a certificate for it: a server's for these DNS names and IP addresses, a client's where there are none. */
  issue(commonName: string, addresses: readonly string[]): Promise<CertificatePair>;
}

const DAY_MS = 86_400_000;
const VALID_DAYS = 30;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
/** What `makeAuthority` of loopbackCertificate.ts makes; it loads what `@peculiar/x509` needs first. */
export async function createAuthority(nowMs: number, commonName: string): Promise<CertificateAuthority> {
  const { subtle } = globalThis.crypto;
  const keys = await subtle.generateKey(ALGORITHM, false, ['sign', 'verify']);
  const keyId = await x509.SubjectKeyIdentifierExtension.create(keys.publicKey);
  const valid = { notBefore: new Date(nowMs - DAY_MS), notAfter: new Date(nowMs + VALID_DAYS * DAY_MS) };
  const issuer = [{ CN: [commonName] }];
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...valid,
    name: issuer,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      keyId,
    ],
  });
  return {
    caPem: pem(ca.toString('pem')),
    issue: async (subject, addresses) => {
      const own = await subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
      const usage = addresses.length > 0 ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth;
      const certificate = await x509.X509CertificateGenerator.create({
        ...valid,
        subject: [{ CN: [subject] }],
        issuer,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ALGORITHM,
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
          new x509.ExtendedKeyUsageExtension([usage]),
          new x509.AuthorityKeyIdentifierExtension(keyId.keyId),
          ...(addresses.length > 0 ? [new x509.SubjectAlternativeNameExtension(alternatives(addresses))] : []),
        ],
      });
      const key = x509.PemConverter.encode(await subtle.exportKey('pkcs8', own.privateKey), 'PRIVATE KEY');
      return { certificatePem: pem(certificate.toString('pem')), keyPem: pem(key) };
    },
  };
}

function alternatives(addresses: readonly string[]): x509.JsonGeneralNames {
  return addresses.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? 'ip' : 'dns', value }));
}

function pem(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
