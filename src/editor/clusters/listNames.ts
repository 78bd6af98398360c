import type { Server } from '../../base/server.ts';
import { isJsonObject, parseJson } from '../../codec/json.ts';
import { errorOf } from '../../kube/answers.ts';

/** The names of the objects of a collection, in the server's order; at most 500. */
export async function listNames(server: Server, path: string, signal: AbortSignal): Promise<string[]> {
  const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';
  const reply = await server.send({ method: 'GET', path, query: { limit: '500' }, headers: { accept } }, signal);
  if (reply.status !== 200) throw errorOf(reply);
  const list = parseJson(reply.body);
  const items = isJsonObject(list) && Array.isArray(list['items']) ? list['items'] : [];
  return items.flatMap((item) => {
    const metadata = isJsonObject(item) ? item['metadata'] : undefined;
    const name = isJsonObject(metadata) ? metadata['name'] : undefined;
    return typeof name === 'string' ? [name] : [];
  });
}
