import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

import {
  bitString,
  integer,
  objectId,
  octetString,
  sequence,
  setOf,
  tagged,
  TRUE,
  utcTime,
  utf8,
} from '../../src/codec/der.ts';

/** A certificate with its key, in PEM. */
export interface Pair {
  cert: string;
  key: string;
}

/** A certificate authority of a test's own. */
export interface Authority {
  /** Its own certificate, in PEM. */
  ca: string;
  /** A certificate for a server at these DNS names and IPv4 addresses, or for a client of this name. */
  issue(name: string, addresses?: readonly string[]): Pair;
}

const ECDSA_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';
const BASIC_CONSTRAINTS = '2.5.29.19';
const ALTERNATIVE_NAMES = '2.5.29.17';

/** Makes a certificate authority. Source of the form: RFC 5280. */
export function makeAuthority(): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = `test ca ${randomBytes(4).toString('hex')}`;
  const constraints = extension(BASIC_CONSTRAINTS, sequence(TRUE));
  return {
    ca: certificate(name, name, keys.publicKey, keys.privateKey, [constraints]),
    issue(subject, addresses = []) {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const names = sequence(...addresses.map(alternativeName));
      return {
        cert: certificate(
          subject,
          name,
          own.publicKey,
          keys.privateKey,
          addresses.length === 0 ? [] : [extension(ALTERNATIVE_NAMES, names)],
        ),
        key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      };
    },
  };
}

function alternativeName(address: string): Buffer {
  return /^[\d.]+$/.test(address)
    ? tagged(0x87, Buffer.from(address.split('.').map(Number)))
    : tagged(0x82, Buffer.from(address));
}

function certificate(
  subject: string,
  issuer: string,
  publicKey: KeyObject,
  signer: KeyObject,
  extensions: readonly Buffer[],
): string {
  const algorithm = sequence(objectId(ECDSA_SHA256));
  const now = Date.now();
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    nameOf(issuer),
    sequence(utcTime(now - 60_000), utcTime(now + 3_600_000)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [tagged(0xa3, sequence(...extensions))]),
  );
  const whole = sequence(body, algorithm, bitString(sign('sha256', body, signer), 0));
  return `-----BEGIN CERTIFICATE-----\n${whole.toString('base64')}\n-----END CERTIFICATE-----\n`;
}

function nameOf(text: string): Buffer {
  return sequence(setOf(sequence(objectId(COMMON_NAME), utf8(text))));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(objectId(id), octetString(value));
}
