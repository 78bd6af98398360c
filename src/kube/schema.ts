import { isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import { noListSchema, type ListSchema } from '../core/listSchema.ts';
import { objectOf, readReply } from './answers.ts';
import type { Cluster } from './cluster.ts';
import type { ApiResource } from './discoveryAnswers.ts';
import { schemaFromOpenApi } from './openApiSchema.ts';

/** Documents of one cluster, by their address, which holds a hash of their content. */
const documents = new WeakMap<Cluster, Map<string, JsonObject>>();
/** Answers of servers that publish no schema, or not to this user. */
const NO_SCHEMA = [403, 404, 406];

/**
 * How the lists of a resource are merged, as the server publishes it. Where it publishes nothing, nothing is known.
 * Documents are read again only when their hash changes.
 * Source: Kubernetes documentation, "The Kubernetes API: OpenAPI V3".
 * @throws AppError of the connection or of any other refusal
 */
export async function listSchemaFor(
  cluster: Cluster,
  resource: Pick<ApiResource, 'group' | 'version' | 'kind'>,
  signal: AbortSignal,
): Promise<ListSchema> {
  const index = await readReply(cluster, { path: '/openapi/v3' }, signal);
  if (NO_SCHEMA.includes(index.status)) return noListSchema;
  const address = addressOf(objectOf(index), resource);
  if (address === undefined) return noListSchema;
  return schemaFromOpenApi(await readDocument(cluster, address, signal), resource) ?? noListSchema;
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
