import type { CertificateAuthority } from './certificateAuthority.ts';

/** A server certificate for loopback and the authority that signed it, both made for one process. PEM texts. */
export interface LoopbackCertificate {
  readonly caPem: string;
  readonly certificatePem: string;
  readonly keyPem: string;
}

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];

/**
 * Makes a certificate authority and a certificate for 127.0.0.1, ::1 and localhost. Both keys are new; the authority's is
 * forgotten at once, the server's never leaves the process. `owner` is the common name.
 */
export async function makeLoopbackCertificate(nowMs: number, owner: string): Promise<LoopbackCertificate> {
  const authority = await makeAuthority(nowMs, `${owner} CA`);
  return { caPem: authority.caPem, ...(await authority.issue(owner, LOOPBACK)) };
}

/**
 * Makes a certificate authority. Its certificate and those it issues are valid from a day before `nowMs` to 30 days after.
 * The library behind it is large and therefore loaded when it is first needed.
 */
export async function makeAuthority(nowMs: number, commonName: string): Promise<CertificateAuthority> {
  // The library registers its parts in a container that asks Reflect for metadata while it loads.
  await import('reflect-metadata');
  const { createAuthority } = await import('./certificateAuthority.ts');
  return createAuthority(nowMs, commonName);
}
