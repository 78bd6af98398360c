import type { History, Incarnation, NameHistory } from './history.ts';
import { referencesOf, type Reference } from './references.ts';

/** The name that a reference without a UID means, if exactly one of those that were observed fits. */
export function nameMeant({ names }: History, from: Incarnation, reference: Reference): NameHistory | undefined {
  const namespace = reference.namespace ?? from.name.namespace;
  const fitting = [...names.values()].filter(
    ({ cluster, name, incarnations }) =>
      name.name === reference.name &&
      cluster === from.cluster &&
      (name.namespace === '' || name.namespace === namespace) &&
      incarnations.at(-1)?.kind === reference.kind &&
      isOfGroup(reference, name.group),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** A field whose kind is fixed by its place names one of Kubernetes' own kinds. */
function isOfGroup({ apiVersion, sort }: Reference, group: string): boolean {
  if (apiVersion !== undefined) return group === (apiVersion.includes('/') ? apiVersion.split('/', 1)[0] : '');
  return sort !== 'name' || group === '' || group.endsWith('.k8s.io');
}

/**
 * Whether the history shows that `holder` took its name from another incarnation after the reference was written: a version
 * of `from` that had it already is older. A holder that began unseen did so after its forerunner was seen last.
 */
export function recreatedSince(
  name: NameHistory,
  holder: Incarnation,
  from: Incarnation,
  reference: Reference,
): boolean {
  const before = name.incarnations[name.incarnations.indexOf(holder) - 1];
  if (before === undefined) return false;
  const since = holder.began === 'seen' ? holder.firstSeq : (before.versions.at(-1)?.seq ?? before.firstSeq);
  for (const { body, seq } of from.versions.toReversed()) {
    if (body === undefined || !referencesOf(body).some((other) => isSame(other, reference))) return false;
    if (seq < since) return true;
  }
  return false;
}

function isSame(a: Reference, b: Reference): boolean {
  return (
    a.sort === b.sort &&
    a.kind === b.kind &&
    a.apiVersion === b.apiVersion &&
    a.namespace === b.namespace &&
    a.name === b.name &&
    a.uid === b.uid
  );
}
