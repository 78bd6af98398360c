import { isJsonObject, parseJson, stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import { noListSchema, type ListSchema } from '../core/listSchema.ts';
import { objectOf, readReply } from './answers.ts';
import type { Cluster } from './cluster.ts';
import type { ApiResource } from './discoveryAnswers.ts';
import { partForKind, schemaFromOpenApi } from './openApiSchema.ts';

/** Documents of one cluster, by their address, which holds a hash of their content. */
const documents = new WeakMap<Cluster, Map<string, JsonObject>>();
/** Answers of servers that publish no schema, or not to this user. */
const NO_SCHEMA = [403, 404, 406];

/** Texts that outlive the process, such as files. Neither call fails: what cannot be kept is fetched again. */
export interface KeptTexts {
  read(key: string): Promise<string | undefined>;
  write(key: string, text: string): Promise<void>;
}

/**
 * How the lists of a resource are merged, as the server publishes it. Where it publishes nothing, nothing is known.
 * Documents are read again only when their hash changes; with `kept`, a kind's part of one is known to later processes too.
 * Source: Kubernetes documentation, "The Kubernetes API: OpenAPI V3".
 * @throws AppError of the connection or of any other refusal
 */
export async function listSchemaFor(
  cluster: Cluster,
  resource: Pick<ApiResource, 'group' | 'version' | 'kind'>,
  signal: AbortSignal,
  kept?: KeptTexts,
): Promise<ListSchema> {
  const index = await readReply(cluster, { path: '/openapi/v3' }, signal);
  if (NO_SCHEMA.includes(index.status)) return noListSchema;
  const address = addressOf(objectOf(index), resource);
  if (address === undefined) return noListSchema;
  const { group, version, kind } = resource;
  const named = { group, version, kind };
  const document =
    kept === undefined || !address.includes('hash=')
      ? await readDocument(cluster, address, signal)
      : await readPart(cluster, address, named, kept, signal);
  return schemaFromOpenApi(document, named) ?? noListSchema;
}

/** A kind's part of a document: a hundredth of it, mostly. The address holds the hash of the content, so it is the key. */
async function readPart(
  cluster: Cluster,
  address: string,
  kind: Pick<ApiResource, 'group' | 'version' | 'kind'>,
  kept: KeptTexts,
  signal: AbortSignal,
): Promise<JsonObject> {
  const key = [cluster.url, address, kind.kind].join(' ');
  const text = await kept.read(key);
  const known = text === undefined ? undefined : keptObject(text);
  if (known !== undefined) return known;
  const part = partForKind(await readDocument(cluster, address, signal), kind);
  await kept.write(key, stringifyJson(part));
  return part;
}

/** What was kept, unless it was not kept whole. */
function keptObject(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    // A torn or foreign file: the document is fetched again and kept anew.
    return undefined;
  }
}

function addressOf(index: JsonObject, { group, version }: Pick<ApiResource, 'group' | 'version'>): string | undefined {
  const paths = isJsonObject(index['paths']) ? index['paths'] : {};
  const entry = paths[group === '' ? `api/${version}` : `apis/${group}/${version}`];
  const address = isJsonObject(entry) ? entry['serverRelativeURL'] : undefined;
  return typeof address === 'string' && address.startsWith('/') ? address : undefined;
}

async function readDocument(cluster: Cluster, address: string, signal: AbortSignal): Promise<JsonObject> {
  const known = documents.get(cluster) ?? new Map<string, JsonObject>();
  documents.set(cluster, known);
  const found = known.get(address);
  if (found !== undefined) return found;
  const document = await fetchDocument(cluster, address, signal);
  const path = address.split('?')[0];
  for (const old of known.keys()) if (old.split('?')[0] === path) known.delete(old);
  known.set(address, document);
  return document;
}

async function fetchDocument(cluster: Cluster, address: string, signal: AbortSignal): Promise<JsonObject> {
  const [path = address, parameters = ''] = address.split('?');
  const query = Object.fromEntries(new URLSearchParams(parameters));
  const document = objectOf(await readReply(cluster, { path, query }, signal));
  dropProse(document);
  return document;
}

/** Three quarters of a document are descriptions, which nobody reads here. */
function dropProse(value: Json): void {
  if (Array.isArray(value)) for (const item of value) dropProse(item);
  if (!isJsonObject(value)) return;
  if (typeof value['description'] === 'string') delete value['description'];
  for (const item of Object.values(value)) dropProse(item);
}
