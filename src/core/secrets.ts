import type { Json, JsonObject } from '../codec/json.ts';
import { isJsonObject, setOwn, stringifyJson } from '../codec/json.ts';
import { sipHash, utf8Bytes } from './hash.ts';

/** What stands in for a Secret's value: this, and a keyed hash. Equal values have equal hashes under one key. */
export const HIDDEN = 'hidden:';

/** Whether objects of a resource hold secret values. */
export function isSecretResource(name: { readonly group: string; readonly resource: string }): boolean {
  return name.group === '' && name.resource === 'secrets';
}

/** The stand-in for one secret value. `key` as in `sipHash`. */
function hideValue(value: Json, key: string): string {
  if (typeof value === 'string' && value.startsWith(HIDDEN)) return value;
  return HIDDEN + sipHash(key, utf8Bytes(typeof value === 'string' ? value : stringifyJson(value)));
}

/**
 * A copy of a Secret, or of a part of one such as a patch's body, without its values: every value under `data` and
 * `stringData` becomes a keyed hash, `stringData` hashed as the `data` that it will be stored as. Annotations that repeat
 * content, such as kubectl's last-applied-configuration, and set values in managed fields are hidden too. A JSON Patch
 * (a list of operations) and a list of Secrets are understood.
 */
export function hideSecrets(value: JsonObject, key: string): JsonObject;
export function hideSecrets(value: Json, key: string): Json;
export function hideSecrets(value: Json, key: string): Json {
  if (Array.isArray(value))
    return value.map((item) => (isOperation(item) ? hideOperation(item, key) : hideSecrets(item, key)));
  if (!isJsonObject(value)) return hideValue(value, key);
  const copy: JsonObject = {};
  for (const [field, item] of Object.entries(value)) setOwn(copy, field, hideMember(field, item, value, key));
  return copy;
}

/** Members whose content is no secret. All others of a Secret are hidden whole, so that nothing unforeseen gets out. */
const OPEN = new Set(['apiVersion', 'kind', 'type', 'immutable']);

function hideMember(field: string, item: Json, secret: JsonObject, key: string): Json {
  if (OPEN.has(field)) return item;
  if (field === 'metadata') return isJsonObject(item) ? hideMetadata(item, secret, key) : hideLeaves(item, key);
  if (field === 'items' && Array.isArray(item)) return item.map((one) => hideSecrets(one, key));
  if (field === 'stringData') return hideLeaves(asData(item), key);
  return hideLeaves(item, key);
}

function hideLeaves(value: Json, key: string): Json {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((item) => hideLeaves(item, key));
  if (!isJsonObject(value)) return hideValue(value, key);
  const copy: JsonObject = {};
  for (const [field, item] of Object.entries(value)) setOwn(copy, field, hideLeaves(item, key));
  return copy;
}

function hideMetadata(metadata: JsonObject, secret: JsonObject, key: string): JsonObject {
  const copy: JsonObject = { ...metadata };
  const { annotations, managedFields } = metadata;
  if (isJsonObject(annotations)) {
    const contents = secretTexts(secret);
    const open: JsonObject = {};
    for (const [name, text] of Object.entries(annotations)) {
      setOwn(open, name, repeatsContent(name, text, contents) ? hideValue(text, key) : text);
    }
    copy['annotations'] = open;
  }
  if (Array.isArray(managedFields)) copy['managedFields'] = managedFields.map((entry) => hideSetValues(entry, key));
  return copy;
}

/** The values of a Secret as they may appear in another text: as stored, and decoded. */
function secretTexts(secret: JsonObject): string[] {
  const texts: string[] = [];
  for (const member of ['data', 'stringData']) {
    const values = secret[member];
    if (!isJsonObject(values)) continue;
    for (const value of Object.values(values)) {
      if (typeof value !== 'string' || value === '') continue;
      texts.push(value);
      if (member === 'data') texts.push(fromBase64(value));
    }
  }
  return texts.filter((text) => text.length >= 4);
}

function repeatsContent(name: string, text: Json, contents: readonly string[]): boolean {
  if (typeof text !== 'string') return true;
  if (name.includes('last-applied') || /["']?(?:stringData|data)["']?\s*:/.test(text)) return true;
  return contents.some((content) => text.includes(content));
}

/** Set values (`v:`) outside metadata could be content; the rest of FieldsV1 is names of fields. */
function hideSetValues(entry: Json, key: string): Json {
  if (!isJsonObject(entry) || !isJsonObject(entry['fieldsV1'])) return entry;
  const fields: JsonObject = {};
  for (const [name, below] of Object.entries(entry['fieldsV1'])) {
    setOwn(fields, name, name === 'f:metadata' ? below : hideNames(below, key));
  }
  return { ...entry, fieldsV1: fields };
}

function hideNames(fields: Json, key: string): Json {
  if (!isJsonObject(fields)) return fields;
  const copy: JsonObject = {};
  for (const [name, below] of Object.entries(fields)) {
    const hidden = /^[vk]:/.test(name) ? `v:${JSON.stringify(hideValue(name.slice(2), key))}` : name;
    setOwn(copy, hidden, hideNames(below, key));
  }
  return copy;
}

function isOperation(value: Json): value is JsonObject {
  return isJsonObject(value) && typeof value['op'] === 'string';
}

function hideOperation(operation: JsonObject, key: string): JsonObject {
  const { path, value } = operation;
  if (value === undefined) return operation;
  const [first, ...rest] = typeof path === 'string' ? path.split('/').slice(1) : [];
  if (first === undefined || first === '') return { ...operation, value: hideSecrets(value, key) };
  if (first !== 'metadata') {
    const inside = rest.length > 0 && first === 'stringData' ? asData(value) : value;
    return { ...operation, value: hideMember(rest.length > 0 ? 'data' : first, inside, {}, key) };
  }
  if (rest.length === 0) return { ...operation, value: hideMember(first, value, {}, key) };
  if (rest[0] === 'annotations' || rest[0] === 'managedFields') return { ...operation, value: hideLeaves(value, key) };
  return operation;
}

/** `stringData` as the server stores it in `data`: values in Base64. */
function asData(value: Json): Json {
  if (typeof value === 'string') return toBase64(utf8Bytes(value));
  if (!isJsonObject(value)) return value;
  const data: JsonObject = {};
  for (const [field, item] of Object.entries(value)) setOwn(data, field, asData(item));
  return data;
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function toBase64(bytes: readonly number[]): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const three = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    text += (DIGITS[three >> 18] ?? '') + (DIGITS[(three >> 12) & 63] ?? '');
    text += (left > 1 ? (DIGITS[(three >> 6) & 63] ?? '') : '=') + (left > 2 ? (DIGITS[three & 63] ?? '') : '=');
  }
  return text;
}

/** The text in Base64, bytes taken as UTF-8 where they are; only used to look for it elsewhere. */
function fromBase64(text: string): string {
  let encoded = '';
  let bits = 0;
  let held = 0;
  for (const letter of text) {
    const digit = DIGITS.indexOf(letter);
    if (digit < 0) continue;
    held = ((held << 6) | digit) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    encoded += `%${((held >> bits) & 0xff).toString(16).padStart(2, '0')}`;
  }
  try {
    return decodeURIComponent(encoded);
  } catch {
    return '';
  }
}
