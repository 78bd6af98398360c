import { message } from '../base/message.ts';
import { isJsonObject, setOwn, type Json, type JsonObject } from './json.ts';
import { protoMessage, type MessageName, type ProtoField } from './protoSchema.ts';
import { specialDecoders } from './protoSpecial.ts';
import { protoError, textOf, wireFields, type WireField, type WireValue } from './protoWire.ts';

const MAX_DEPTH = 200;
/** The server fills in the type of these embedded objects, which the wire does not carry. */
const CLAIM_TEMPLATES = /^k8s\.io\.api\.apps\.v1\w*\.StatefulSetSpec$/;
const RAW_EXTENSION = 'k8s.io.apimachinery.pkg.runtime.RawExtension';

/**
 * Decodes one message into the JSON that the API server prints for the same object: names, omitted zero values, inlined
 * fields, times and quantities as its Go types write them. Fields that the published files do not declare are left out.
 * `rawExtension` decodes what a RawExtension holds.
 * @throws AppError `invalid-protobuf`
 */
export function decodeMessage(
  name: MessageName,
  bytes: Uint8Array,
  rawExtension: (bytes: Uint8Array) => Json,
  depth = 0,
): Json {
  if (depth > MAX_DEPTH) throw protoError(message`it is nested too deeply`);
  const full = `${name.package}.${name.name}`;
  const special = specialDecoders.get(full);
  if (special !== undefined) {
    return special(bytes, (message, part) =>
      decodeMessage({ package: name.package, name: message }, part, rawExtension, depth + 1),
    );
  }
  if (full === RAW_EXTENSION) {
    const raw = [...wireFields(bytes)].find((field) => field.id === 1)?.value;
    return raw instanceof Uint8Array && raw.length > 0 ? rawExtension(raw) : null;
  }
  const known = protoMessage(name);
  if (known === undefined) throw protoError(message`no published file declares ${full}`);
  if (known.list) return [...wireFields(bytes)].map((field) => textOf(bytesOf(field.value)));
  const decoder = new MessageDecoder(rawExtension, depth);
  for (const field of wireFields(bytes)) {
    const declared = known.fields.get(field.id);
    if (declared !== undefined) decoder.take(declared, field);
  }
  decoder.fillAbsent(known.fields.values());
  const claims = CLAIM_TEMPLATES.test(full) ? decoder.object['volumeClaimTemplates'] : undefined;
  if (Array.isArray(claims))
    decoder.object['volumeClaimTemplates'] = claims.map((claim) =>
      isJsonObject(claim) ? { kind: 'PersistentVolumeClaim', apiVersion: 'v1', ...claim } : claim,
    );
  return decoder.object;
}

class MessageDecoder {
  readonly object: JsonObject = {};
  private readonly seen = new Set<number>();
  private readonly rawExtension: (bytes: Uint8Array) => Json;
  private readonly depth: number;

  constructor(rawExtension: (bytes: Uint8Array) => Json, depth: number) {
    this.rawExtension = rawExtension;
    this.depth = depth;
  }

  take(field: ProtoField, wire: WireField): void {
    this.seen.add(field.id);
    if (field.map) this.takeEntry(field, bytesOf(wire.value));
    else if (field.repeated) this.takeItem(field, wire);
    else this.takeSingle(field, wire.value);
  }

  private takeEntry(field: ProtoField, bytes: Uint8Array): void {
    let key = '';
    let value: WireValue | undefined;
    for (const part of wireFields(bytes)) {
      if (part.id === 1) key = typeof part.value === 'bigint' ? String(part.value) : textOf(part.value);
      else if (part.id === 2) value = part.value;
    }
    const map = (this.object[field.name] ??= {}) as JsonObject;
    setOwn(map, key, value === undefined ? emptyValue(field) : this.value(field, value));
  }

  private takeItem(field: ProtoField, wire: WireField): void {
    const list = (this.object[field.name] ??= []) as Json[];
    const packed = field.scalar !== undefined && wire.type === 2 && !/^(string|bytes)$/.test(field.scalar);
    if (packed) throw protoError(message`field ${field.name} is packed`);
    list.push(this.value(field, wire.value));
  }

  private takeSingle(field: ProtoField, wire: WireValue): void {
    const value = this.value(field, wire);
    if (field.inline || field.name === '') {
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) Object.assign(this.object, value);
      return;
    }
    const hidden = !field.pointer && ((field.omitEmpty && isEmpty(value)) || (field.omitZero && isZero(value)));
    if (!hidden) this.object[field.name] = value;
  }

  private value(field: ProtoField, wire: WireValue): Json {
    if (field.message !== undefined)
      return decodeMessage(field.message, bytesOf(wire), this.rawExtension, this.depth + 1);
    return scalarOf(field.scalar ?? '', wire);
  }

  /** Go prints a nil slice, map or pointer as null where it is not told to omit it; the items of a list are never nil. */
  fillAbsent(fields: Iterable<ProtoField>): void {
    for (const field of fields) {
      if (this.seen.has(field.id) || field.omitEmpty || field.omitZero || field.name === '' || field.inline) continue;
      if (field.repeated) this.object[field.name] = field.name === 'items' ? [] : null;
      else if (field.map || field.pointer) this.object[field.name] = null;
    }
  }
}

function bytesOf(value: WireValue): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw protoError(message`a number stands where a message or text should`);
}

function scalarOf(type: string, value: WireValue): Json {
  if (type === 'string') return textOf(bytesOf(value));
  if (type === 'bytes') return Buffer.from(bytesOf(value)).toString('base64');
  if (typeof value !== 'bigint') throw protoError(message`bytes stand where a ${type} should`);
  switch (type) {
    case 'bool':
      return value !== 0n;
    case 'int32':
      return Number(BigInt.asIntN(32, value));
    case 'double':
      return floating(value);
    case 'int64':
      return exact(BigInt.asIntN(64, value));
    default:
      return exact(value);
  }
}

function exact(value: bigint): Json {
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}

function floating(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}

function emptyValue(field: ProtoField): Json {
  if (field.message !== undefined) return {};
  if (field.scalar === 'bool') return false;
  return field.scalar === 'string' || field.scalar === 'bytes' ? '' : 0;
}

/** Go's `omitempty`: false, 0, "", and empty slices and maps, but never a struct. */
function isEmpty(value: Json): boolean {
  return value === false || value === 0 || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Go's `omitzero`: the zero value of any type; a struct all of whose fields are omitted, and the zero time. */
function isZero(value: Json): boolean {
  return (
    value === null ||
    isEmpty(value) ||
    (typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length === 0)
  );
}
