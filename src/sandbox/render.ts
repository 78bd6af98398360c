import type { JsonObject } from '../codec/json.ts';
import type { Kind } from './kinds/kind.ts';
import { printJson, type Output } from './negotiate.ts';
import { apiVersionOf } from './registry.ts';
import { inVersion } from './state.ts';
import { badRequest, bareError, failure } from './status.ts';
import type { Stored } from './store.ts';

/** Which part of an object a Table's rows carry. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** Reads `includeObject`, which only a Table looks at. Throws 400. */
export function readIncludeObject(query: URLSearchParams, output: Output): IncludeObject {
  if (output.as !== 'Table') return 'Metadata';
  const value = query.get('includeObject') ?? '';
  if (value === '') return 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** Texts of list items, kept as long as what is stored. A stored version never changes. */
const itemTexts = new WeakMap<JsonObject, string>();

/** The JSON of a stored object inside a list: those of built-in kinds are without kind and apiVersion. */
export function itemText(stored: Stored, kind: Kind): string {
  const object = inVersion(stored.object, kind);
  const known = itemTexts.get(object);
  if (known !== undefined) return known;
  const { kind: kindName, apiVersion, ...rest } = object;
  const text = printJson(
    kind.origin === 'custom' ? { apiVersion: apiVersion ?? null, kind: kindName ?? null, ...rest } : rest,
  );
  itemTexts.set(object, text);
  return text;
}

/** A list's metadata. */
export interface ListMeta {
  readonly resourceVersion: string;
  readonly continueToken: string | undefined;
  readonly remaining: number | undefined;
}

/** The JSON of a list in the form asked for. Throws 406 where that form is for single objects. */
export function listText(
  kind: Kind,
  items: readonly Stored[],
  meta: ListMeta,
  output: Output,
  includeObject: IncludeObject,
  nowMs: number,
): string {
  if (output.as === 'PartialObjectMetadata') throw listAsSingle(kind);
  const metadata: JsonObject = {
    ...(kind.origin === 'custom' && output.as === undefined ? { continue: '' } : {}),
    resourceVersion: meta.resourceVersion,
    ...(meta.continueToken === undefined ? {} : { continue: meta.continueToken }),
    ...(meta.remaining === undefined ? {} : { remainingItemCount: meta.remaining }),
  };
  if (output.as === 'Table')
    return printJson({
      ...table(
        kind,
        items.map((item) => inVersion(item.object, kind)),
        output,
        includeObject,
        nowMs,
        true,
      ),
      metadata,
    });
  if (output.as === 'PartialObjectMetadataList') {
    const apiVersion = `meta.k8s.io/${output.metaVersion}`;
    const parts = items.map((item) => partialMetadata(item.object, output));
    return printJson({ kind: 'PartialObjectMetadataList', apiVersion, metadata, items: parts });
  }
  const texts = items.map((item) => itemText(item, kind)).join(',');
  return `${listHead(kind, metadata)}${texts}]}`;
}

const listHead = (kind: Kind, metadata: JsonObject): string =>
  `{"kind":${JSON.stringify(kind.listKind)},"apiVersion":"${apiVersionOf(kind)}","metadata":${printJson(metadata)},"items":[`;

/** Lists longer than this are kept as bytes until one of their objects changes: many clients ask for the same long list. */
const LONG_LIST = 500;

/** The bytes of long lists by kind, each with the objects that it shows. */
const longLists = new WeakMap<Kind, { items: readonly Stored[]; bytes: Buffer }>();

/** A whole list in plain JSON; the bytes of a long one are used again while nothing in it has changed. */
export function wholeList(kind: Kind, items: readonly Stored[], resourceVersion: string): string | readonly Buffer[] {
  const metadata = kind.origin === 'custom' ? { continue: '', resourceVersion } : { resourceVersion };
  if (items.length < LONG_LIST)
    return `${listHead(kind, metadata)}${items.map((item) => itemText(item, kind)).join(',')}]}`;
  let known = longLists.get(kind);
  if (known === undefined || !sameItems(known.items, items)) {
    known = { items, bytes: Buffer.from(`${items.map((item) => itemText(item, kind)).join(',')}]}`, 'utf8') };
    longLists.set(kind, known);
  }
  return [Buffer.from(listHead(kind, metadata), 'utf8'), known.bytes];
}

function sameItems(a: readonly Stored[], b: readonly Stored[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

function listAsSingle(kind: Kind): Error {
  const type =
    kind.origin === 'custom' ? '*unstructured.UnstructuredList' : `*${internalPackage(kind)}.${kind.listKind}`;
  return failure(
    406,
    'NotAcceptable',
    `you requested PartialObjectMetadata, but the requested object is a list (${type})`,
  );
}

/** The Go package of a group's internal types. */
function internalPackage(kind: Kind): string {
  if (kind.group === '') return 'core';
  if (kind.group === 'rbac.authorization.k8s.io') return 'rbac';
  return kind.group.split('.')[0] ?? '';
}

/** One object in the form asked for. Throws 406 where that form is for lists. */
export function objectText(
  kind: Kind,
  object: JsonObject,
  output: Output,
  includeObject: IncludeObject,
  nowMs: number,
): string {
  if (output.as === undefined || object['kind'] === 'Status') return printJson(object);
  if (output.as === 'PartialObjectMetadataList') {
    if (kind.origin === 'custom') throw bareError('content is not a list');
    throw failure(
      406,
      'NotAcceptable',
      `you requested PartialObjectMetadataList, but the requested object is not a list (*${internalPackage(kind)}.${kind.kind})`,
    );
  }
  if (output.as === 'PartialObjectMetadata') return printJson(partialMetadata(object, output));
  const version = (object['metadata'] as JsonObject)['resourceVersion'];
  return printJson({
    ...table(kind, [object], output, includeObject, nowMs, true),
    metadata: version === undefined ? {} : { resourceVersion: version },
  });
}

/** Only the metadata of an object. */
export function partialMetadata(object: JsonObject, output: Output): JsonObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.k8s.io/${output.metaVersion}`,
    metadata: object['metadata'] ?? {},
  };
}

/** Rows for display. In a watch only the first event names the columns. */
export function table(
  kind: Kind,
  objects: readonly JsonObject[],
  output: Output,
  includeObject: IncludeObject,
  nowMs: number,
  columns: boolean,
): JsonObject {
  // Kinds without a printer of their own go through the general one, which has null for no rows.
  const isPlain = kind.origin === 'built-in' && kind.tableColumns[1]?.name === 'Created At';
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${output.metaVersion}`,
    metadata: {},
    columnDefinitions: columns ? kind.tableColumns.map((column) => ({ ...column })) : null,
    rows:
      isPlain && objects.length === 0
        ? null
        : objects.map((object) => ({
            cells: kind.tableCells(object, nowMs),
            object:
              includeObject === 'None' ? null : includeObject === 'Object' ? object : partialMetadata(object, output),
          })),
  };
}
