/** DER, the encoding of certificates (ITU-T X.690): as much of it as a certificate needs. */

const TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
} as const;

/** A tag, a length and the content. */
export function tagged(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag]), length(content.length), content]);
}

function length(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size]);
  const hex = size.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

/** SEQUENCE of the parts in their order. */
export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tagged(TAGS.sequence, Buffer.concat(parts));
}

/** SET of one part. */
export function setOf(part: Uint8Array): Buffer {
  return tagged(TAGS.set, part);
}

/** INTEGER from the bytes of a number that is not negative. */
export function integer(bytes: Uint8Array): Buffer {
  const positive = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
  return tagged(TAGS.integer, positive);
}

/** OBJECT IDENTIFIER from its dotted form. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let value = part >>> 7; value > 0; value >>>= 7) groups.unshift((value & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tagged(TAGS.oid, Buffer.from(bytes));
}

/** UTF8String. */
export function utf8(text: string): Buffer {
  return tagged(TAGS.utf8, Buffer.from(text, 'utf8'));
}

/** UTCTime, for years up to 2049. */
export function utcTime(ms: number): Buffer {
  const text = new Date(ms).toISOString().replaceAll(/[-:T]/g, '').slice(2, 14);
  return tagged(TAGS.utcTime, Buffer.from(`${text}Z`, 'ascii'));
}

/** BOOLEAN true. */
export const TRUE: Buffer = tagged(TAGS.boolean, Buffer.from([0xff]));

/** BIT STRING of whole bytes, or with unused bits at the end. */
export function bitString(bytes: Uint8Array, unused = 0): Buffer {
  return tagged(TAGS.bitString, Buffer.concat([Buffer.from([unused]), bytes]));
}

/** OCTET STRING. */
export function octetString(bytes: Uint8Array): Buffer {
  return tagged(TAGS.octetString, bytes);
}
