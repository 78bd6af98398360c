import { isJsonObject, parseJson, type Json, type JsonObject } from '../codec/json.ts';

const BEGIN = '{"kind":"PartialObjectMetadataList"';
const ITEMS = '"items":[';
const METADATA = '"metadata":{';
const FIELDS = '"managedFields":[';
const MAX_KNOWN = 4096;

/**
 * Parses metadata lists as kube-apiserver writes them. Most of such a list are managed fields, and most of those are the
 * same text again: each text is parsed once, and the objects share what it says.
 */
export class MetadataPages {
  private readonly known = new Map<string, Json>();

  /** The list, equal to what plain parsing gives; undefined for a text in any other form, to be parsed plainly. */
  parse(text: string): JsonObject | undefined {
    try {
      return this.parseParts(text);
    } catch {
      // What went wrong is for plain parsing to say.
      return undefined;
    }
  }

  private parseParts(text: string): JsonObject | undefined {
    const separator = separatorOf(text);
    if (separator === undefined) return undefined;
    const fields: Json[] = [];
    const parts: string[] = [];
    let start = 0;
    for (let at = text.indexOf(FIELDS); at >= 0; at = text.indexOf(FIELDS, start)) {
      const from = at + FIELDS.length - 1;
      const end = endOfFields(text, from, separator);
      if (end < 0) return undefined;
      // The number stands for the fields until the rest is parsed.
      parts.push(text.slice(start, from), String(fields.length));
      fields.push(this.fieldsOf(text.slice(from, end)));
      start = end;
    }
    parts.push(text.slice(start));
    const list = parseJson(parts.join(''));
    return isJsonObject(list) && putBack(list, fields) ? list : undefined;
  }

  private fieldsOf(text: string): Json {
    const known = this.known.get(text);
    if (known !== undefined) return known;
    const fields = parseJson(text);
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    this.known.set(text, fields);
    return fields;
  }
}

/** What stands between the managed fields of one object and the metadata of the next: they are the last of an object. */
function separatorOf(text: string): string | undefined {
  if (!text.startsWith(BEGIN)) return undefined;
  const items = text.indexOf(ITEMS);
  const metadata = items < 0 ? -1 : text.indexOf(METADATA, items);
  if (metadata < 0) return undefined;
  return `]}},${text.slice(items + ITEMS.length, metadata + METADATA.length)}`;
}

/**
 * The position after the list that begins at `from`. A string cannot hold the separator, whose quotes would be escaped in
 * it, and no list but this one ends there.
 */
function endOfFields(text: string, from: number, separator: string): number {
  const next = text.indexOf(separator, from);
  const end = next >= 0 ? next : text.lastIndexOf(']}}]}');
  return end < from ? -1 : end + 1;
}

/** False unless every number stands where it was put. */
function putBack(list: JsonObject, fields: readonly Json[]): boolean {
  const items = list['items'];
  if (!Array.isArray(items)) return false;
  let next = 0;
  for (const item of items) {
    const metadata = isJsonObject(item) ? item['metadata'] : undefined;
    if (!isJsonObject(metadata)) return false;
    if (metadata['managedFields'] === undefined) continue;
    const found = fields[next];
    if (metadata['managedFields'] !== next || found === undefined) return false;
    metadata['managedFields'] = found;
    next += 1;
  }
  return next === fields.length;
}
