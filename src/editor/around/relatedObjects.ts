import { isAppError } from '../../base/appError.ts';
import { isJsonObject, type JsonObject } from '../../codec/json.ts';
import { referencesOf } from '../../core/references.ts';
import { readJson } from '../../kube/answers.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { pathOf, type ApiResource, type Discovery } from '../../kube/discovery.ts';

/** An object that owns another or is owned by it, by UID. */
export interface RelatedObject {
  readonly relation: 'owner' | 'owned';
  readonly resource: ApiResource;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What was found around an object. */
export interface Around {
  readonly related: readonly RelatedObject[];
  /** Resources that this user may not list: what they hold is not known. */
  readonly unread: readonly string[];
}

const PAGE = '500';
const AT_ONCE = 4;
/** What is never owned, or far too lively to be asked for: core Events are shown by a watch of their own. */
const LEFT_OUT = new Set(['events', 'leases', 'endpointslices']);

/**
 * The objects that own an object, as its ownerReferences say, and those of its namespace (or, for a cluster-scoped one, of
 * the cluster) that name it as their owner by UID. Only metadata is read.
 * @throws AppError of the connection, `cancelled`
 */
export async function relatedObjects(
  cluster: Cluster,
  discovery: Discovery,
  object: JsonObject,
  signal: AbortSignal,
): Promise<Around> {
  const { namespace, uid } = identity(object);
  const listable = preferred(discovery.resources).filter(
    ({ verbs, namespaced, resource }) =>
      verbs.includes('list') &&
      verbs.includes('watch') &&
      !LEFT_OUT.has(resource) &&
      (namespaced || namespace === undefined),
  );
  const related: RelatedObject[] = ownersOf(object, discovery, namespace);
  const unread: string[] = [];
  const look = async (resource: ApiResource): Promise<void> => {
    try {
      for (const item of await listMetadata(cluster, resource, resource.namespaced ? namespace : undefined, signal)) {
        const own = identity(item);
        if (ownerUids(item).includes(uid))
          related.push({ relation: 'owned', resource, namespace: own.namespace ?? '', name: own.name, uid: own.uid });
      }
    } catch (error) {
      if (!isAppError(error, 'forbidden', 'not-found')) throw error;
      unread.push(resource.resource);
    }
  };
  for (let at = 0; at < listable.length; at += AT_ONCE) await Promise.all(listable.slice(at, at + AT_ONCE).map(look));
  return { related, unread };
}

/** One version of each resource: the server's preferred one. */
function preferred(resources: readonly ApiResource[]): ApiResource[] {
  const seen = new Map<string, ApiResource>();
  for (const resource of resources) {
    const key = `${resource.group}/${resource.resource}`;
    if (!seen.has(key)) seen.set(key, resource);
  }
  return [...seen.values()];
}

function ownersOf(object: JsonObject, discovery: Discovery, namespace: string | undefined): RelatedObject[] {
  return referencesOf(object).flatMap((reference) => {
    if (reference.sort !== 'owner' || reference.uid === undefined) return [];
    const resource = discovery.resources.find(
      ({ group, version, kind }) =>
        kind === reference.kind && (group === '' ? version : `${group}/${version}`) === reference.apiVersion,
    );
    if (resource === undefined) return [];
    const place = resource.namespaced ? (namespace ?? '') : '';
    return [{ relation: 'owner' as const, resource, namespace: place, name: reference.name, uid: reference.uid }];
  });
}

async function listMetadata(
  cluster: Cluster,
  resource: ApiResource,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<JsonObject[]> {
  const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';
  const all: JsonObject[] = [];
  for (let next: string | undefined = ''; next !== undefined;) {
    const query: Record<string, string> = { limit: PAGE, ...(next === '' ? {} : { continue: next }) };
    const list = await readJson(cluster, { path: pathOf(resource, namespace), query, headers: { accept } }, signal);
    if (Array.isArray(list['items'])) all.push(...list['items'].filter(isJsonObject));
    const metadata = list['metadata'];
    const token = isJsonObject(metadata) ? metadata['continue'] : undefined;
    next = typeof token === 'string' && token !== '' ? token : undefined;
  }
  return all;
}

function ownerUids(object: JsonObject): string[] {
  const metadata = object['metadata'];
  const owners = isJsonObject(metadata) ? metadata['ownerReferences'] : undefined;
  if (!Array.isArray(owners)) return [];
  return owners.flatMap((owner) => (isJsonObject(owner) && typeof owner['uid'] === 'string' ? [owner['uid']] : []));
}

function identity(object: JsonObject): { namespace: string | undefined; name: string; uid: string } {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const namespace = metadata['namespace'];
  return {
    namespace: typeof namespace === 'string' ? namespace : undefined,
    name: text(metadata['name']),
    uid: text(metadata['uid']),
  };
}
