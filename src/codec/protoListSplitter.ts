import { message } from '../base/message.ts';
import { afterMagic, readType } from './proto.ts';
import { protoError } from './protoWire.ts';

const TYPE = 1;
const RAW = 2;
const ITEM = 2;
const BYTES = 2;
/** The longest tag and length. */
const MAX_HEAD = 20;

/** One step of the walk: what stands in `bytes` next, and how many of them are needed before it can be read. */
type Step = 'magic' | 'envelope' | 'list' | 'item' | 'skip' | 'whole';

/**
 * Cuts the items out of a list in Kubernetes protobuf as it streams, so that no list is ever held whole. What is no list
 * (a Status) is held and given back at the end. Bytes may be cut anywhere.
 */
export class ProtobufListSplitter {
  /** What the envelope says that this is; '' until it has come. */
  apiVersion = '';
  kind = '';
  /** Whether an item, or what is no list, outgrew the bound; it is passed over then. */
  overflowed = false;
  private readonly onItem: (bytes: Buffer) => void;
  private readonly maxBytes: number;
  private step: Step = 'magic';
  private parts: Buffer[] = [];
  private held = 0;
  private need = 4;
  /** Bytes of the list that have not come yet; undefined outside of it. */
  private left: number | undefined;
  private skipping = 0;
  private hasContent = false;
  private beginning: Buffer[] = [];

  constructor(onItem: (bytes: Buffer) => void, maxBytes: number) {
    this.onItem = onItem;
    this.maxBytes = maxBytes;
  }

  /** @throws AppError `invalid-protobuf` */
  push(chunk: Buffer): void {
    this.parts.push(chunk);
    this.held += chunk.length;
    if (this.step === 'whole') {
      this.boundWhole();
      return;
    }
    if (this.step !== 'skip' && this.held < this.need) return;
    let rest: Buffer = this.parts.length === 1 ? chunk : Buffer.concat(this.parts);
    for (let taken = this.take(rest); taken !== undefined; taken = this.take(rest)) rest = rest.subarray(taken);
    this.parts = rest.length === 0 ? [] : [rest];
    this.held = rest.length;
  }

  /**
   * The document where it was no list.
   * @throws AppError `invalid-protobuf` where it ends inside a field
   */
  end(): Buffer | undefined {
    if (this.step === 'whole') return this.overflowed ? undefined : Buffer.concat([...this.beginning, ...this.parts]);
    if (this.step !== 'envelope' || this.held > 0 || !this.hasContent)
      throw protoError(message`it ends inside a field`);
    return undefined;
  }

  /** Takes the next step; how many bytes it took, or undefined where more must come first. */
  private take(bytes: Buffer): number | undefined {
    if (this.step === 'whole') return undefined;
    if (this.step === 'skip') return this.skip(bytes);
    if (this.step === 'magic') {
      if (bytes.length < this.need) return undefined;
      this.beginning.push(Buffer.from(bytes.subarray(0, 4)));
      this.goTo('envelope', 1);
      return afterMagic(bytes);
    }
    if (this.step === 'item') {
      if (bytes.length < this.need) return undefined;
      const size = this.need;
      this.onItem(bytes.subarray(0, size));
      this.leave(size);
      return size;
    }
    return bytes.length === 0 ? undefined : this.field(bytes);
  }

  /** A field's tag and length, and the field itself where it is short and says something. */
  private field(bytes: Buffer): number | undefined {
    const head = headOf(bytes);
    if (head === undefined) {
      if (bytes.length >= MAX_HEAD) throw protoError(message`a length does not fit 32 bits`);
      this.need = bytes.length + 1;
      return undefined;
    }
    const { id, type, length, size } = head;
    if (this.left !== undefined) {
      if (this.left < size + length) throw protoError(message`it ends inside a field`);
      this.left -= size;
      if (type === BYTES && id === ITEM && length <= this.maxBytes) this.goTo('item', length);
      else {
        this.overflowed ||= type === BYTES && id === ITEM;
        this.startSkip(length);
      }
      return size;
    }
    if (type === BYTES && id === RAW) {
      if (!this.kind.endsWith('List')) {
        this.goTo('whole', 0);
        return undefined;
      }
      this.hasContent = true;
      this.left = length === 0 ? undefined : length;
      this.goTo(length === 0 ? 'envelope' : 'list', 1);
      return size;
    }
    if (type === BYTES && id === TYPE) {
      if (length > this.maxBytes) throw protoError(message`its type claims ${length} bytes`);
      if (bytes.length < size + length) {
        this.need = size + length;
        return undefined;
      }
      this.beginning.push(Buffer.from(bytes.subarray(0, size + length)));
      ({ apiVersion: this.apiVersion, kind: this.kind } = readType(bytes.subarray(size, size + length)));
      this.goTo('envelope', 1);
      return size + length;
    }
    this.startSkip(length);
    return size;
  }

  private startSkip(length: number): void {
    this.skipping = length;
    this.goTo('skip', 0);
  }

  private skip(bytes: Buffer): number | undefined {
    const size = Math.min(this.skipping, bytes.length);
    if (size < this.skipping && size === 0) return undefined;
    this.skipping -= size;
    if (this.skipping > 0) {
      if (this.left !== undefined) this.left -= size;
      return size;
    }
    this.leave(size);
    return size;
  }

  /** A field is over: the list goes on, or is over too. */
  private leave(size: number): void {
    if (this.left !== undefined) {
      this.left -= size;
      if (this.left === 0) this.left = undefined;
    }
    this.goTo(this.left === undefined ? 'envelope' : 'list', 1);
  }

  private goTo(step: Step, need: number): void {
    this.step = step;
    this.need = need;
  }

  private boundWhole(): void {
    if (this.held <= this.maxBytes) return;
    this.overflowed = true;
    this.parts = [];
    this.held = 0;
  }
}

/** A field's number, wire type, how long what follows is, and how many bytes say so; undefined where more must come. */
function headOf(bytes: Buffer): { id: number; type: number; length: number; size: number } | undefined {
  const tag = varintAt(bytes, 0);
  if (tag === undefined) return undefined;
  const [id, type] = [Math.floor(tag.value / 8), tag.value % 8];
  if (id === 0) throw protoError(message`a field has the number 0`);
  if (type === 1 || type === 5) return { id, type, length: type === 1 ? 8 : 4, size: tag.size };
  if (type !== 0 && type !== BYTES) throw protoError(message`wire type ${type} is not in use`);
  const next = varintAt(bytes, tag.size);
  if (next === undefined) return undefined;
  return { id, type, length: type === 0 ? 0 : next.value, size: tag.size + next.size };
}

function varintAt(bytes: Buffer, from: number): { value: number; size: number } | undefined {
  let value = 0;
  for (let size = 1, factor = 1; size <= MAX_HEAD / 2; size += 1, factor *= 128) {
    const byte = bytes[from + size - 1];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return { value, size };
  }
  throw protoError(message`a number is longer than ten bytes`);
}
