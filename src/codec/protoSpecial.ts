import { parseJson, type Json } from './json.ts';
import { textOf, wireFields, type WireValue } from './protoWire.ts';

/** Decodes a message whose JSON is written by hand in Go. `nested` decodes a message that it holds. */
export type SpecialDecoder = (bytes: Uint8Array, nested: (message: string, bytes: Uint8Array) => Json) => Json;

const META = 'k8s.io.apimachinery.pkg.apis.meta.v1';
const EXTENSIONS = 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions';

/** By full message name: the types whose MarshalJSON is not the default one. Sources: their marshalling in apimachinery and apiextensions. */
export const specialDecoders: ReadonlyMap<string, SpecialDecoder> = new Map<string, SpecialDecoder>([
  [`${META}.Time`, (bytes) => time(bytes, 0)],
  [`${META}.MicroTime`, (bytes) => time(bytes, 6)],
  [`${META}.Timestamp`, (bytes) => time(bytes, 0)],
  [`${META}.Duration`, (bytes) => goDuration(BigInt.asIntN(64, numberAt(fieldsOf(bytes), 1)))],
  [`${META}.FieldsV1`, (bytes) => rawJson(bytes)],
  ['k8s.io.apimachinery.pkg.api.resource.Quantity', (bytes) => textAt(fieldsOf(bytes), 1) || '0'],
  ['k8s.io.apimachinery.pkg.api.resource.QuantityValue', (bytes) => textAt(fieldsOf(bytes), 1) || '0'],
  ['k8s.io.apimachinery.pkg.util.intstr.IntOrString', intOrString],
  ...['v1', 'v1beta1'].flatMap((version): [string, SpecialDecoder][] => [
    [`${EXTENSIONS}.${version}.JSON`, (bytes) => rawJson(bytes)],
    [
      `${EXTENSIONS}.${version}.JSONSchemaPropsOrBool`,
      (bytes, nested) => propsOr(bytes, nested, (fields) => numberAt(fields, 1) !== 0n, 2),
    ],
    [
      `${EXTENSIONS}.${version}.JSONSchemaPropsOrArray`,
      (bytes, nested) =>
        propsOr(bytes, nested, (fields) => listAt(fields, 2, (part) => nested('JSONSchemaProps', part)), 1),
    ],
    [
      `${EXTENSIONS}.${version}.JSONSchemaPropsOrStringArray`,
      (bytes, nested) => propsOr(bytes, nested, (fields) => listAt(fields, 2, textOf), 1),
    ],
  ]),
]);

type Fields = Map<number, WireValue[]>;

function fieldsOf(bytes: Uint8Array): Fields {
  const fields: Fields = new Map();
  for (const { id, value } of wireFields(bytes)) fields.set(id, [...(fields.get(id) ?? []), value]);
  return fields;
}

function numberAt(fields: Fields, id: number): bigint {
  const value = fields.get(id)?.at(-1);
  return typeof value === 'bigint' ? value : 0n;
}

function textAt(fields: Fields, id: number): string {
  const value = fields.get(id)?.at(-1);
  return value instanceof Uint8Array ? textOf(value) : '';
}

function listAt(fields: Fields, id: number, decode: (part: Uint8Array) => Json): Json[] {
  return (fields.get(id) ?? []).flatMap((value) => (value instanceof Uint8Array ? [decode(value)] : []));
}

/** An empty message is Go's zero time, which JSON shows as null. */
function time(bytes: Uint8Array, digits: 0 | 6): Json {
  const fields = fieldsOf(bytes);
  if (fields.size === 0) return null;
  const seconds = Number(BigInt.asIntN(64, numberAt(fields, 1)));
  const nanos = Number(BigInt.asIntN(32, numberAt(fields, 2)));
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  return digits === 0 ? `${whole}Z` : `${whole}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`;
}

/** Go's time.Duration.String(): `1h2m3.5s`, `1.5ms`, `0s`. */
function goDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  if (size < 1000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 1000n)}µs`;
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 1_000_000n)}ms`;
  const minutes = size / 60_000_000_000n;
  const seconds = `${decimal(size % 60_000_000_000n, 1_000_000_000n)}s`;
  if (minutes === 0n) return sign + seconds;
  return minutes < 60n ? `${sign}${minutes}m${seconds}` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '');
  return fraction === '' ? `${value / unit}` : `${value / unit}.${fraction}`;
}

function intOrString(bytes: Uint8Array): Json {
  const fields = fieldsOf(bytes);
  return numberAt(fields, 1) === 1n ? textAt(fields, 3) : Number(BigInt.asIntN(32, numberAt(fields, 2)));
}

function rawJson(bytes: Uint8Array): Json {
  const text = textAt(fieldsOf(bytes), 1);
  return text === '' ? null : parseJson(text);
}

/** apiextensions' either-or types: the schema where it is set, the other form otherwise. */
function propsOr(
  bytes: Uint8Array,
  nested: (message: string, bytes: Uint8Array) => Json,
  other: (fields: Fields) => Json,
  id: number,
): Json {
  const fields = fieldsOf(bytes);
  const alternative = other(fields);
  const schema = fields.get(id)?.at(-1);
  const listed = Array.isArray(alternative) && alternative.length > 0;
  return schema instanceof Uint8Array && !listed ? nested('JSONSchemaProps', schema) : alternative;
}
