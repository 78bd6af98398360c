import { message, type Words } from '../base/message.ts';
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
export function protoError(what: Words): AppError {
  return new AppError('invalid-protobuf', message`This is not Kubernetes protobuf: ${what}.`);
}

/**
 * Reads one message field by field without making anything of what it passes over. After `next`, the field's bytes are
 * those from `start` to `stop`, or `number` holds its value.
 */
export class WireReader {
  readonly bytes: Buffer;
  readonly end: number;
  /** Where the tag of the current field stands. */
  tagAt: number;
  start = 0;
  stop = 0;
  type: WireField['type'] = 0;
  number = 0n;
  private at: number;

  /** An `end` beyond the bytes: only the beginning of the message has come. */
  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = at;
    this.tagAt = at;
    this.end = end;
  }

  /**
   * Goes to the next field and returns its number; 0 at the end.
   * @throws AppError `invalid-protobuf` where the bytes end inside a field or hold a group
   */
  next(): number {
    this.tagAt = this.at;
    if (this.at >= this.end) return 0;
    const tag = this.length();
    const id = tag >>> 3;
    const type = tag & 7;
    if (id === 0) throw protoError(message`a field has the number 0`);
    if (type === 2) {
      const length = this.length();
      this.start = this.at;
      this.stop = this.at + length;
      if (this.stop > this.end) throw protoError(message`it ends inside a field`);
      this.at = this.stop;
    } else if (type === 0) this.number = this.varint();
    else if (type === 1 || type === 5) this.number = this.fixed(type === 1 ? 8 : 4);
    else throw protoError(message`wire type ${type} is not in use`);
    this.type = type;
    return id;
  }

  /** The message in the current field. */
  inside(): WireReader {
    this.needBytes();
    return new WireReader(this.bytes, this.start, this.stop);
  }

  /** The current field's bytes. */
  value(): Buffer {
    this.needBytes();
    return this.bytes.subarray(this.start, this.stop);
  }

  /** The current field's bytes as characters of their own, one each: a key that tells different bytes apart. */
  key(): string {
    this.needBytes();
    return this.bytes.toString('latin1', this.start, this.stop);
  }

  /** The current field's text. */
  text(): string {
    this.needBytes();
    return this.bytes.toString('utf8', this.start, this.stop);
  }

  private needBytes(): void {
    if (this.type !== 2) throw protoError(message`a number stands where a message or text should`);
  }

  /** A varint that fits 32 bits, as tags and lengths do. */
  private length(): number {
    const first = this.byte();
    if (first < 0x80) return first;
    let value = first & 0x7f;
    for (let factor = 128; factor <= 2 ** 28; factor *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw protoError(message`a length does not fit 32 bits`);
  }

  private varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw protoError(message`a number is longer than ten bytes`);
  }

  private byte(): number {
    const byte = this.at < this.end ? this.bytes[this.at] : undefined;
    if (byte === undefined) throw protoError(message`it ends inside a number`);
    this.at += 1;
    return byte;
  }

  private fixed(length: 4 | 8): bigint {
    const from = this.at;
    this.at += length;
    if (this.at > Math.min(this.end, this.bytes.length)) throw protoError(message`it ends inside a field`);
    return length === 8 ? this.bytes.readBigUInt64LE(from) : BigInt(this.bytes.readUInt32LE(from));
  }
}

/**
 * Walks the fields of one message.
 * @throws AppError `invalid-protobuf` where the bytes end inside a field or hold a group
 */
export function* wireFields(bytes: Uint8Array): Generator<WireField> {
  const reader = new WireReader(bytes);
  for (let id = reader.next(); id !== 0; id = reader.next())
    yield { id, type: reader.type, value: reader.type === 2 ? reader.value() : reader.number };
}
