import type { JsonObject } from '../codec/json.ts';
import { badRequest, forbidden, notFound } from './status.ts';
import { metadataOf, metaString, resourceOf, type ApiState, type Call } from './state.ts';

/** The store's bucket of namespaces. */
export const NAMESPACE_BUCKET = '/namespaces';

/** Namespaces that no user may delete. Source: the NamespaceLifecycle admission plugin. */
export const IMMORTAL_NAMESPACES: readonly string[] = ['default', 'kube-system', 'kube-public'];

/** A create needs its namespace, and not a terminating one. Throws 404 or 403. */
export function checkNamespaceTakesNew(state: ApiState, call: Call, name: string): void {
  if (!call.kind.namespaced) return;
  const namespace = state.store.get(NAMESPACE_BUCKET, call.namespace)?.object;
  if (namespace === undefined) throw notFound({ group: '', resource: 'namespaces' }, call.namespace);
  if (metaString(namespace, 'deletionTimestamp') === '') return;
  throw forbidden(
    resourceOf(call.kind),
    name,
    `unable to create new content in namespace ${call.namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${call.namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

/** The namespace of what was sent is the URL's; an absent one is filled in. Throws 400. */
export function settleNamespace(call: Call, object: JsonObject): void {
  const metadata = metadataOf(object);
  const sent = metaString(object, 'namespace');
  const expected = call.kind.namespaced ? call.namespace : '';
  if (sent === '' && expected !== '') metadata['namespace'] = expected;
  else if (sent !== '' && expected === '') delete metadata['namespace'];
  else if (sent !== expected)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** The name of what was sent is the URL's. Throws 400. */
export function checkName(call: Call, object: JsonObject): void {
  const sent = metaString(object, 'name');
  if (sent === '')
    throw badRequest(`the name of the object (${call.name} based on URL) was undeterminable: name must be provided`);
  if (sent !== call.name)
    throw badRequest(`the name of the object (${sent}) does not match the name on the URL (${call.name})`);
}

/** The 403 of deleting a namespace that has to stay. */
export function checkMortal(call: Call): void {
  if (call.kind.group !== '' || call.kind.plural !== 'namespaces' || call.subresource !== '') return;
  if (IMMORTAL_NAMESPACES.includes(call.name))
    throw forbidden(resourceOf(call.kind), call.name, 'this namespace may not be deleted');
}
