import type { Server } from '../../base/server.ts';
import { isJsonObject } from '../../codec/json.ts';
import { readJson } from '../../kube/answers.ts';

/** The names of the objects of a collection, in the server's order; at most 500. @throws AppError of the connection or the refusal */
export async function listNames(server: Server, path: string, signal: AbortSignal): Promise<string[]> {
  const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';
  const { items } = await readJson(server, { path, query: { limit: '500' }, headers: { accept } }, signal);
  if (!Array.isArray(items)) return [];
  return items.flatMap((item) => {
    const metadata = isJsonObject(item) ? item['metadata'] : undefined;
    const name = isJsonObject(metadata) ? metadata['name'] : undefined;
    return typeof name === 'string' ? [name] : [];
  });
}
