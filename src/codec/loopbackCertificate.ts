import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

import { bitString, integer, objectId, octetString, sequence, setOf, tagged, TRUE, utcTime, utf8 } from './der.ts';

/** A server certificate for loopback and the authority that signed it, both made for one process. PEM texts. */
export interface LoopbackCertificate {
  readonly caPem: string;
  readonly certificatePem: string;
  readonly keyPem: string;
}

const DAY_MS = 86_400_000;
const VALID_DAYS = 30;

const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  extendedKeyUsage: '2.5.29.37',
  subjectAltName: '2.5.29.17',
  subjectKeyId: '2.5.29.14',
  authorityKeyId: '2.5.29.35',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

/**
 * Makes a certificate authority and a certificate for 127.0.0.1, ::1 and localhost. Both keys are new; the authority's is
 * forgotten at once, the server's never leaves the process. `owner` is the common name. Source of the form: RFC 5280.
 */
export function makeLoopbackCertificate(nowMs: number, owner: string): LoopbackCertificate {
  const caName = `${owner} CA`;
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyId = keyIdOf(authority.publicKey);
  const shared = { nowMs, issuer: caName, signer: authority.privateKey };
  const ca = certificate({
    ...shared,
    subject: caName,
    publicKey: authority.publicKey,
    extensions: [
      extension(OID.basicConstraints, true, sequence(TRUE, integer(Buffer.from([0])))),
      extension(OID.keyUsage, true, bitString(Buffer.from([0x06]), 1)),
      extension(OID.subjectKeyId, false, octetString(keyId)),
    ],
  });
  const own = certificate({
    ...shared,
    subject: owner,
    publicKey: server.publicKey,
    extensions: [
      extension(OID.basicConstraints, true, sequence()),
      extension(OID.keyUsage, true, bitString(Buffer.from([0x80]), 7)),
      extension(OID.extendedKeyUsage, false, sequence(objectId(OID.serverAuth))),
      extension(OID.subjectAltName, false, sequence(...LOOPBACK_NAMES)),
      extension(OID.authorityKeyId, false, sequence(tagged(0x80, keyId))),
    ],
  });
  const keyPem = server.privateKey.export({ type: 'pkcs8', format: 'pem' });
  return { caPem: pem(ca), certificatePem: pem(own), keyPem: String(keyPem) };
}

const LOOPBACK_NAMES = [
  tagged(0x82, Buffer.from('localhost', 'ascii')),
  tagged(0x87, Buffer.from([127, 0, 0, 1])),
  tagged(0x87, Buffer.concat([Buffer.alloc(15), Buffer.from([1])])),
];

interface Request {
  readonly nowMs: number;
  readonly issuer: string;
  readonly signer: KeyObject;
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
}

function certificate(request: Request): Buffer {
  const algorithm = sequence(objectId(OID.ecdsaWithSha256));
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    name(request.issuer),
    sequence(utcTime(request.nowMs - DAY_MS), utcTime(request.nowMs + VALID_DAYS * DAY_MS)),
    name(request.subject),
    request.publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...request.extensions)),
  );
  return sequence(body, algorithm, bitString(sign('sha256', body, request.signer)));
}

function name(commonName: string): Buffer {
  return sequence(setOf(sequence(objectId(OID.commonName), utf8(commonName))));
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return critical ? sequence(objectId(id), TRUE, octetString(value)) : sequence(objectId(id), octetString(value));
}

function keyIdOf(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
}

function pem(der: Buffer): string {
  return `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replaceAll(/(.{64})(?=.)/g, '$1\n')}\n-----END CERTIFICATE-----\n`;
}
