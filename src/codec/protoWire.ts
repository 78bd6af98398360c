import { AppError } from '../base/appError.ts';

/** The value of one field on the wire: a varint or fixed number as bigint, or a length-delimited run of bytes. */
export type WireValue = bigint | Uint8Array;

/** One field as it stands on the wire. Source: the protobuf encoding page of protobuf.dev. */
export interface WireField {
  readonly id: number;
  readonly type: 0 | 1 | 2 | 5;
  readonly value: WireValue;
}

const utf8 = new TextDecoder('utf-8');

/** The text of bytes; bytes that are not UTF-8 become U+FFFD. */
export function textOf(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}

/** The error of bytes that are not what they should be. */
export function protoError(what: string): AppError {
  return new AppError('invalid-protobuf', `This is not Kubernetes protobuf: ${what}.`);
}

/**
 * Walks the fields of one message.
 * @throws AppError `invalid-protobuf` where the bytes end inside a field or hold a group
 */
export function* wireFields(bytes: Uint8Array): Generator<WireField> {
  const reader = { bytes, at: 0 };
  while (reader.at < bytes.length) {
    const tag = Number(readVarint(reader));
    const id = tag >>> 3;
    const type = tag & 7;
    if (id === 0) throw protoError('a field has the number 0');
    if (type === 0) yield { id, type, value: readVarint(reader) };
    else if (type === 2) yield { id, type, value: take(reader, Number(readVarint(reader))) };
    else if (type === 1 || type === 5) yield { id, type, value: readFixed(reader, type === 1 ? 8 : 4) };
    else throw protoError(`wire type ${type} is not in use`);
  }
}

interface Reader {
  readonly bytes: Uint8Array;
  at: number;
}

function readVarint(reader: Reader): bigint {
  let low = 0;
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = nextByte(reader);
    low |= (byte & 0x7f) << shift;
    if (byte < 0x80) return BigInt(low >>> 0);
  }
  let value = BigInt(low >>> 0);
  for (let shift = 28n; shift < 70n; shift += 7n) {
    const byte = nextByte(reader);
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return BigInt.asUintN(64, value);
  }
  throw protoError('a number is longer than ten bytes');
}

function nextByte(reader: Reader): number {
  const byte = reader.bytes[reader.at];
  if (byte === undefined) throw protoError('it ends inside a number');
  reader.at += 1;
  return byte;
}

function take(reader: Reader, length: number): Uint8Array {
  const end = reader.at + length;
  if (end > reader.bytes.length) throw protoError('it ends inside a field');
  const part = reader.bytes.subarray(reader.at, end);
  reader.at = end;
  return part;
}

function readFixed(reader: Reader, length: 4 | 8): bigint {
  const part = take(reader, length);
  const view = new DataView(part.buffer, part.byteOffset, length);
  return length === 8 ? view.getBigUint64(0, true) : BigInt(view.getUint32(0, true));
}
