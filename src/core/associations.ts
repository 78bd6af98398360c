import { inGroup } from './inGroup.ts';
import { isJsonObject, type JsonObject } from '../codec/json.ts';
import { parsePath, valueAt } from '../codec/path.ts';
import { matchesPattern } from './pattern.ts';
import type { NewTraceEvent, ObjectName } from './traceEvent.ts';

/**
 * Something outside the cluster that belongs to an object: a disk, a record in a DNS, a row in a database. It is bound to
 * the UID, not to the name: a later object of that name is another one and has not been given it.
 */
export interface Association {
  readonly cluster: string;
  readonly name: ObjectName;
  readonly uid: string;
  /** What it is, for people: `load balancer`. */
  readonly what: string;
  /** Which one it is, out there: `lb-1234`. */
  readonly id: string;
  /** When it was declared, ms since the epoch. */
  readonly declaredAt: number;
}

/** A rule by which associations are found: the external id stands at this path of objects of this resource. */
export interface AssociationRule {
  /** The plural with its group, `services` or `volumes.example.com`; `*` in it stands for anything. */
  readonly resource: string;
  readonly path: string;
  readonly what: string;
}

/**
 * `holds`: the object that it was bound to is there. `stale`: another incarnation has the name. `orphaned`: nothing has
 * the name. `unknown`: nobody has looked since.
 */
export type AssociationState = 'holds' | 'stale' | 'orphaned' | 'unknown';

/** What is known of who holds a name: a UID, nobody (null), or nothing (undefined). */
export type Holder = string | null | undefined;

/** The state of an association, given who holds its name now. */
export function stateOf(association: Pick<Association, 'uid'>, holder: Holder): AssociationState {
  if (holder === undefined) return 'unknown';
  if (holder === null) return 'orphaned';
  return holder === association.uid ? 'holds' : 'stale';
}

/** The associations that rules find in an object, bound to its UID. */
export function associationsFrom(
  rules: readonly AssociationRule[],
  cluster: string,
  name: ObjectName,
  object: JsonObject,
  at: number,
): Association[] {
  const metadata = object['metadata'];
  const uid = isJsonObject(metadata) && typeof metadata['uid'] === 'string' ? metadata['uid'] : '';
  const resource = inGroup(name.resource, name.group);
  if (uid === '') return [];
  return rules
    .filter((rule) => matchesPattern(rule.resource, resource))
    .flatMap(({ path, what }) => {
      const parsed = parsePath(path);
      const value = 'path' in parsed ? valueAt(object, parsed.path) : undefined;
      if (value === undefined || value === null || value === '' || isJsonObject(value) || Array.isArray(value))
        return [];
      return [{ cluster, name, uid, what, id: String(value), declaredAt: at }];
    });
}

/**
 * What is left of associations after a person decided about one: cleaned up, it is gone; adopted, it belongs to the
 * incarnation that holds the name now. Until then it stays as it was declared, stale for everyone to see.
 */
export function decide(
  associations: readonly Association[],
  one: Association,
  decision: { readonly kind: 'clean-up' } | { readonly kind: 'adopt'; readonly uid: string; readonly at: number },
): Association[] {
  return associations.flatMap((association) => {
    if (!isSame(association, one)) return [association];
    return decision.kind === 'clean-up' ? [] : [{ ...association, uid: decision.uid, declaredAt: decision.at }];
  });
}

/** Adds associations; what is declared already stays as it was first declared. A rule never rebinds what a person bound. */
export function declare(known: readonly Association[], found: readonly Association[]): Association[] {
  const fresh = found.filter(
    (one) => !known.some((other) => other.cluster === one.cluster && other.what === one.what && other.id === one.id),
  );
  return [...known, ...fresh];
}

function isSame(a: Association, b: Association): boolean {
  return a.cluster === b.cluster && a.uid === b.uid && a.what === b.what && a.id === b.id;
}

/** What the log is told of an association, so that a trace tells the same without the settings it was declared in. */
export function associationNote(association: Association, ended: boolean, at: number): NewTraceEvent {
  const { cluster, name, uid, what, id } = association;
  return {
    type: 'note',
    at,
    via: 'write',
    cluster,
    name,
    mark: 'association',
    text: ended
      ? `${what} ${id} is cleaned up: it belongs to nothing any more.`
      : `${what} ${id}, outside of the cluster, belongs to the incarnation ${uid} of ${name.name}.`,
    association: { what, id, uid, ...(ended ? { ended } : {}) },
  };
}
