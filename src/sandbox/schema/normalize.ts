import type { Json, JsonObject } from '../../codec/json.ts';
import { cloneJson, isJsonObject, setOwn, stringifyJson } from '../../codec/json.ts';
import { canonicalTime } from './goTime.ts';
import { formatQuantity, parseQuantity, QUANTITY_ERROR } from './quantity.ts';
import type { Field, ScalarSchema, Schema, StructSchema } from './schema.ts';

/** A value whose type is not the declared one; `message` is what Go's JSON decoder says. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/**
 * Gives an object of a built-in kind the form in which a Go program prints it after reading it: unknown fields and nulls
 * gone, empty optional fields left out, value structs always there, quantities and times canonical, fields in declared
 * order. Everything the sandbox stores, compares and answers is in this form.
 * @throws DecodeError at the first value of a wrong type
 */
export function normalize(schema: Schema, value: Json, reader: Reader = 'json'): Json {
  const normalizer = new Normalizer(schema, reader);
  const normal = normalizer.any(schema, value, { struct: '', step: '', parent: undefined });
  if (normalizer.firstMismatch !== undefined) throw normalizer.firstMismatch;
  return normal;
}

/** Who reads: the JSON decoder, or the converter of generic objects (after a strategic merge), whose messages are shorter. */
export type Reader = 'json' | 'converter';

/** What an empty Go object of a kind prints as: the value structs exist, all else is absent. */
export function emptyOf(schema: Schema): JsonObject {
  const empty = normalize(schema, {});
  return isJsonObject(empty) ? empty : {};
}

/** Where the decoder is: the innermost struct and the step into it. The path is only put together for messages. */
interface Place {
  readonly struct: string;
  readonly step: string;
  readonly parent: Place | undefined;
}

function pathOf(place: Place): string {
  const above = place.parent === undefined ? '' : pathOf(place.parent);
  return above === '' || place.step === '' ? above + place.step : `${above}.${place.step}`;
}

/** Whether Go prints a field that is not there: value structs, and all that is not left out when empty. */
function printsWhenAbsent(field: Field): boolean {
  return !field.omitEmpty || (!field.pointer && field.schema.type === 'struct');
}

class Normalizer {
  private readonly root: Schema;
  private readonly reader: Reader;
  /** Go's decoder goes on after a wrong type and reports the first; an unreadable time or quantity stops it at once. */
  firstMismatch: DecodeError | undefined;

  constructor(root: Schema, reader: Reader) {
    this.root = root;
    this.reader = reader;
  }

  any(schema: Schema, value: Json, place: Place): Json {
    switch (schema.type) {
      case 'struct':
        return this.struct(schema, value, place);
      case 'map':
        return this.map(schema.values, value, place, schema.goType);
      case 'list':
        return this.list(schema.items, value, place, schema.goType);
      case 'scalar':
        return this.scalar(schema, value, place);
      case 'any':
        return cloneJson(value);
    }
  }

  private struct(schema: StructSchema, value: Json, place: Place): JsonObject {
    const out: JsonObject = {};
    if (value !== null && !isJsonObject(value)) return this.mismatch(value, schema.goName, place, {}, 'struct');
    const struct = schema.goName.split('.').at(-1) ?? '';
    const placeOf = ({ name, embedded }: Field): Place => ({
      struct,
      step: embedded === undefined ? name : embedded + name,
      parent: place,
    });
    const read = new Map<string, Json | undefined>();
    for (const name of value === null ? [] : Object.keys(value)) {
      const field = schema.fields.get(name);
      if (field !== undefined) read.set(name, this.field(field, value?.[name] ?? null, placeOf(field)));
    }
    for (const field of schema.fields.values()) {
      if (!read.has(field.name) && !printsWhenAbsent(field)) continue;
      const printed = read.has(field.name) ? read.get(field.name) : this.field(field, null, placeOf(field));
      if (printed !== undefined) out[field.name] = printed;
    }
    return out;
  }

  /** The printed value of a field, or undefined where Go leaves it out. */
  private field(field: Field, given: Json, place: Place): Json | undefined {
    if (given === null && field.pointer) return field.omitEmpty ? undefined : null;
    const { schema } = field;
    if (schema.type === 'any') return given === null ? undefined : cloneJson(given);
    const printed = this.any(schema, given, place);
    if (field.pointer) return printed;
    if (schema.type === 'struct') return printed;
    if (!isEmpty(printed)) return printed;
    if (field.omitEmpty) return undefined;
    if (Array.isArray(printed)) return printed;
    return schema.type === 'scalar' && schema.format !== 'bytes' ? printed : null;
  }

  private map(values: Schema, value: Json, place: Place, goType: string): Json {
    if (value === null) return null;
    if (!isJsonObject(value)) return this.mismatch(value, goType, place, null, 'map');
    const read = Object.entries(value).map(([key, item]) => [key, this.any(values, item, place)] as const);
    const out: JsonObject = {};
    for (const [key, item] of read.sort(([a], [b]) => (a < b ? -1 : 1))) setOwn(out, key, item);
    return out;
  }

  private list(items: Schema, value: Json, place: Place, goType: string): Json {
    if (value === null) return null;
    if (!Array.isArray(value)) return this.mismatch(value, goType, place, null, 'slice');
    return value.map((item) => this.any(items, item, place));
  }

  private scalar(schema: ScalarSchema, value: Json, place: Place): Json {
    switch (schema.format) {
      case 'quantity':
        return this.quantity(value);
      case 'time':
      case 'micro-time':
        return this.time(value, schema.format === 'micro-time');
      case 'int-or-string':
        return this.intOrString(value, place);
      case 'bytes':
        return this.bytes(value, place);
      case 'int32':
      case 'int64':
        return this.integer(schema, value, place);
      case 'plain':
      case 'duration':
        return this.plain(schema, value, place);
    }
  }

  private plain(schema: ScalarSchema, value: Json, place: Place): Json {
    if (value === null) return { string: '', integer: 0, number: 0, boolean: false }[schema.json];
    const fits =
      schema.json === 'number' ? typeof value === 'number' || typeof value === 'bigint' : typeof value === schema.json;
    if (!fits)
      return this.mismatch(
        value,
        schema.goType,
        place,
        { string: '', integer: 0, number: 0, boolean: false }[schema.json],
      );
    return value;
  }

  private integer(schema: ScalarSchema, value: Json, place: Place): Json {
    if (value === null) return 0;
    if (typeof value !== 'number' && typeof value !== 'bigint') return this.mismatch(value, schema.goType, place, 0);
    const bits = schema.format === 'int32' ? 32 : 64;
    const whole = typeof value === 'bigint' || Number.isInteger(value);
    if (this.reader === 'converter') {
      if (!whole) throw new DecodeError(`cannot convert float64 to ${schema.goType}`);
      return bits === 32 ? Number(BigInt.asIntN(32, BigInt(value))) : value;
    }
    if (!whole || BigInt(value) !== BigInt.asIntN(bits, BigInt(value))) {
      const said = `json: cannot unmarshal number ${stringifyJson(value)} into ${this.target(place)} of type ${schema.goType}`;
      this.firstMismatch ??= new DecodeError(said);
      return 0;
    }
    return value;
  }

  private quantity(value: Json): Json {
    if (value === null) return '0';
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint')
      throw new DecodeError(QUANTITY_ERROR);
    const quantity = parseQuantity(String(value));
    if (quantity === undefined) throw new DecodeError(QUANTITY_ERROR);
    return formatQuantity(quantity);
  }

  private time(value: Json, micro: boolean): Json {
    if (value === null) return null;
    if (typeof value !== 'string')
      throw new DecodeError(`json: cannot unmarshal ${kindOf(value)} into Go value of type string`);
    const read = canonicalTime(value, micro);
    if ('problem' in read) throw new DecodeError(read.problem);
    return read.text;
  }

  private intOrString(value: Json, place: Place): Json {
    if (value === null) return 0;
    if (typeof value === 'string') return value;
    if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 31) return value;
    const shown =
      typeof value === 'number' || typeof value === 'bigint' ? `number ${stringifyJson(value)}` : kindOf(value);
    throw new DecodeError(`json: cannot unmarshal ${shown} into ${this.target(place)} of type int32`);
  }

  private bytes(value: Json, place: Place): Json {
    if (value === null) return '';
    if (typeof value !== 'string') return this.mismatch(value, '[]uint8', place, '', 'slice');
    const text = value.replaceAll(/[\r\n]/g, '');
    const bad = illegalBase64(text);
    if (bad < 0) return text;
    const said = `illegal base64 data at input byte ${bad}`;
    if (this.reader === 'converter') throw new DecodeError(`error decoding from json: ${said}`);
    this.firstMismatch ??= new DecodeError(said);
    return '';
  }

  /** Notes a value of a wrong type and answers what stands in its place; the converter gives up at once. */
  private mismatch<T extends Json>(value: Json, goType: string, place: Place, instead: T, shape: Shape = 'scalar'): T {
    if (this.reader === 'converter') throw new DecodeError(converterText(value, goType, shape));
    this.firstMismatch ??= new DecodeError(
      `json: cannot unmarshal ${kindOf(value)} into ${this.target(place)} of type ${goType}`,
    );
    return instead;
  }

  private target(place: Place): string {
    const root = this.root.type === 'struct' ? this.root.goName.split('.').at(-1) : undefined;
    const path = pathOf(place);
    return path === '' ? 'Go value' : `Go struct field ${place.struct === '' ? (root ?? '') : place.struct}.${path}`;
  }
}

/** What a Go type is made of. */
type Shape = 'struct' | 'map' | 'slice' | 'scalar';

/** What the converter says of a value that does not fit a Go type: only integers could be converted to text, and are not. */
function converterText(value: Json, goType: string, shape: Shape): string {
  const given = goKind(value);
  if (shape === 'struct') return `cannot restore struct from: ${given}`;
  if (shape !== 'scalar') return `cannot restore ${shape} from ${given}`;
  if (!/^(string|bool|u?int\d*|float\d+)$/.test(goType) && typeof value !== 'object')
    return `cannot restore struct from: ${given}`;
  const kind = /^v\d\w*\./.test(goType) ? 'string' : goType;
  return kind === 'string' && given === 'int64' ? 'cannot convert int64 to string' : `unrecognized type: ${kind}`;
}

function goKind(value: Json): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'object') return 'map';
  return typeof value === 'number' && !Number.isInteger(value) ? 'float64' : 'int64';
}

/** The kind of a JSON value as Go's decoder names it. */
function kindOf(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'number' || typeof value === 'bigint' ? 'number' : 'object';
}

function isEmpty(value: Json): boolean {
  if (value === null || value === '' || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

/** The first byte at which Go's decoder of standard base64 stops; -1 if it does not. */
function illegalBase64(text: string): number {
  const alien = /[^A-Za-z0-9+/=]/.exec(text);
  const padding = text.indexOf('=');
  if (alien !== null && (padding < 0 || alien.index < padding)) return alien.index;
  if (padding < 0) return text.length % 4 === 0 ? -1 : text.length - (text.length % 4);
  const complete = text.length % 4 === 0 && /^={1,2}$/.test(text.slice(padding)) && padding % 4 >= 2;
  return complete ? -1 : padding;
}
