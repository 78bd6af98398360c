import { isJsonObject, isTooDeep, parseJson, TOO_DEEP, type Json, type JsonObject } from '../codec/json.ts';
import type { ReadEvent } from '../core/traceEvent.ts';

/** One object that an answer gave, with the whole of it where the answer holds it whole. */
export interface GivenObject {
  readonly given: ReadEvent['given'][number];
  readonly object: JsonObject;
  readonly whole: boolean;
  /** Why the content is not read, where it is there. */
  readonly notAnalysed?: string;
  readonly change?: 'ADDED' | 'MODIFIED' | 'DELETED';
}

/** What one object of an answer (an item, a Table's row, a single object) gives; undefined for what is none. */
export function givenObject(value: Json | undefined, change?: GivenObject['change']): GivenObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const isRow = Array.isArray(value['cells']) && isJsonObject(value['object']);
  const object = isRow ? (value['object'] as JsonObject) : value;
  const metadata = object['metadata'];
  if (!isJsonObject(metadata)) return undefined;
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata;
  if (typeof name !== 'string' || typeof uid !== 'string' || typeof resourceVersion !== 'string') return undefined;
  const tooDeep = isTooDeep(object);
  return {
    object,
    ...(tooDeep ? { notAnalysed: String(TOO_DEEP) } : {}),
    whole: !tooDeep && !isRow && object['kind'] !== 'PartialObjectMetadata' && object['kind'] !== 'Scale',
    given: {
      namespace: typeof namespace === 'string' ? namespace : '',
      name,
      uid,
      token: resourceVersion,
      ...(change === 'DELETED' ? { deleted: true } : {}),
      ...(typeof deletionTimestamp === 'string' ? { terminating: true } : {}),
    },
    ...(change === undefined ? {} : { change }),
  };
}

/** What one line of a watch gives: bookmarks and errors give nothing. */
export function givenByLine(line: string): GivenObject[] {
  const event = parseJson(line);
  return isJsonObject(event) ? givenByEvent(event['type'], event['object']) : [];
}

/** What one watch event gives; a Table's event may hold several rows. */
export function givenByEvent(type: Json | undefined, object: Json | undefined): GivenObject[] {
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return [];
  const rows = isJsonObject(object) && object['kind'] === 'Table' ? object['rows'] : undefined;
  const items = Array.isArray(rows) ? rows : [object];
  return items.flatMap((item) => givenObject(item, type) ?? []);
}
