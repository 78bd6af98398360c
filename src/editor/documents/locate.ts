import { l10n } from 'vscode';
import { inGroup } from '../../core/inGroup.ts';
import { AppError } from '../../base/appError.ts';
import { nameKey, type History, type Incarnation } from '../../core/history.ts';
import type { ObjectRef } from '../../core/timeline/detailTypes.ts';
import { limited } from '../app/signal.ts';
import type { Clusters } from '../clusters/clusters.ts';
import type { ObjectAddress } from './address.ts';
import type { Located } from './objectSaver.ts';

const LOCATE_LIMIT_MS = 30_000;

/**
 * Finds the cluster and resource that an address means.
 * @throws AppError where the cluster cannot be reached or does not have the resource
 */
export async function locate(clusters: Clusters, address: ObjectAddress): Promise<Located> {
  const signal = limited(LOCATE_LIMIT_MS);
  const connected = await clusters.connect(address.cluster, signal);
  const discovery = await connected.discovery(signal);
  const resource = discovery.find(inGroup(`${address.resource}.${address.version}`, address.group));
  const { group, version, kind, namespaced } = resource;
  const { namespace, name, uid } = address;
  return {
    connected,
    resource,
    target: { group, version, resource: resource.resource, kind, namespaced, namespace, name, uid },
  };
}

/**
 * The address of an incarnation of the log. `living` wants it on a cluster that is connected.
 * @throws AppError `not-found` where the log does not know it, `unreachable` where no connected cluster has it
 */
export function addressOf(history: History, clusters: Clusters, object: ObjectRef): ObjectAddress {
  const incarnation = findIncarnation(history, object);
  const connected = clusters.byId(object.cluster);
  return addressOfIncarnation(incarnation, connected?.key ?? object.cluster);
}

/** The address of an incarnation on the cluster with a key. */
export function addressOfIncarnation(incarnation: Incarnation, cluster: string): ObjectAddress {
  const { name, apiVersion, kind, uid } = incarnation;
  const version = apiVersion.includes('/') ? (apiVersion.split('/')[1] ?? '') : apiVersion;
  return {
    cluster,
    group: name.group,
    version,
    resource: name.resource,
    kind,
    namespace: name.namespace,
    name: name.name,
    uid,
  };
}

/** The incarnation that an object of the timeline means. */
export function findIncarnation(history: History, object: ObjectRef): Incarnation {
  const { cluster, group, resource, namespace, name, uid } = object;
  const found = history.names
    .get(nameKey(cluster, { group, resource, namespace, name }))
    ?.incarnations.find((incarnation) => incarnation.uid === uid);
  if (found === undefined) throw new AppError('not-found', l10n.t('The log does not know this object any more.'));
  return found;
}
