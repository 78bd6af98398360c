import type { Version } from '../history.ts';
import type { Actor, ObjectName, WriteEvent, WriteOutcome } from '../traceEvent.ts';
import { MARK_OUTCOMES, type MarkKind } from './model.ts';
import type { Translate } from './translate.ts';

/**
 * What a person would call an actor: the recorder's client, as several may call themselves the same, with its field manager;
 * else the field manager, the program, or the user; '' if unknown.
 */
export function actorName(actor: Actor | undefined): string {
  const { client, manager } = actor ?? {};
  if (client === undefined) return manager ?? programOf(actor?.agent) ?? actor?.user ?? '';
  return manager === undefined || manager === client ? client : `${client} (${manager})`;
}

function programOf(agent: string | undefined): string | undefined {
  const program = agent?.split(/[/ ]/, 1)[0];
  return program === '' ? undefined : program;
}

/** The kind of the mark of a version. `first`: it is the first of its incarnation. */
export function versionKind(version: Version, first: boolean, began: 'seen' | 'earlier' | 'in-gap'): MarkKind {
  if (first) return began === 'seen' ? 'created' : 'unknown';
  const changed = version.changed;
  if (changed === undefined) return 'unknown';
  if (changed.spec) return 'spec';
  return changed.status ? 'status' : 'metadata';
}

const KIND_OF_OUTCOME: Partial<Record<WriteOutcome, MarkKind>> = {
  'version-conflict': 'conflict',
  'uid-mismatch': 'uid-mismatch',
  'field-conflict': 'field-conflict',
  uncertain: 'uncertain',
  'already-exists': 'refused',
  terminating: 'refused',
  'not-found': 'refused',
  forbidden: 'refused',
  unauthenticated: 'refused',
  invalid: 'refused',
  unsupported: 'refused',
  'too-large': 'refused',
  throttled: 'refused',
  unavailable: 'refused',
  failed: 'refused',
};

/** The kind of the mark of a write of its own; undefined where its version is the mark, or nothing happened. */
export function writeKind(write: WriteEvent): MarkKind | undefined {
  return KIND_OF_OUTCOME[write.outcome];
}

/** The kind of the mark of an accepted write by what it asked for, where nobody saw what it changed. */
export function askedKind({ verb, subresource, outcome, paths = [] }: WriteEvent): MarkKind {
  if (verb === 'create') return 'created';
  if (verb === 'delete' || verb === 'deletecollection') return 'terminating';
  if (outcome === 'unchanged') return 'renewal';
  const all = (part: string): boolean => paths.every((path) => path.startsWith(part));
  if (subresource === 'status' || (paths.length > 0 && all('.status'))) return 'status';
  if (paths.length === 0) return 'unknown';
  return all('.metadata') ? 'metadata' : 'spec';
}

/** The place of an outcome in MARK_OUTCOMES. */
export function outcomeCode(outcome: WriteOutcome): number {
  return MARK_OUTCOMES.indexOf(outcome);
}

/** The words beside a refused write. */
export function writeLabel(write: WriteEvent, translate: Translate): string {
  if (write.outcome === 'field-conflict') {
    const field = write.causes?.find((cause) => cause.field !== undefined)?.field ?? write.wonBy?.[0]?.fields[0];
    const owner = ownerInCauses(write);
    if (field !== undefined && owner !== undefined) return translate('apply conflict: {0} owned by {1}', field, owner);
    return field === undefined ? translate('apply conflict') : translate('apply conflict: {0}', field);
  }
  if (write.outcome === 'version-conflict') return '';
  if (write.outcome === 'uid-mismatch') return translate('the name belongs to another incarnation');
  if (write.outcome === 'uncertain') return translate('the answer was lost');
  return [write.code, write.reason].filter((part) => part !== undefined).join(' ');
}

/** The other field manager, as the server's cause names it: `conflict with "resizer" using example.org/v1`. */
function ownerInCauses(write: WriteEvent): string | undefined {
  for (const cause of write.causes ?? []) {
    const named = /conflict with "([^"]+)"/.exec(cause.message ?? '')?.[1];
    if (named !== undefined) return named;
  }
  return write.wonBy?.[0]?.manager;
}

const RENEWED = /^\.(metadata(\.|\[|$)|spec\.(renewTime|acquireTime)$)/;
const COUNTED = new Set(['events', 'events.k8s.io/events']);
const BEATING = new Set(['endpoints', 'discovery.k8s.io/endpointslices']);

/**
 * Whether a change is noise by the nature of its resource: the renewal of a lease, a repeated core Event, an annotation of
 * endpoints. A lease that changes hands is none, and where the changed paths are not known nothing is called noise.
 */
export function isRenewal(name: ObjectName, kind: MarkKind, version: Version): boolean {
  if (kind === 'created' || version.changed === undefined) return false;
  const resource = name.group === '' ? name.resource : `${name.group}/${name.resource}`;
  if (COUNTED.has(resource)) return true;
  if (BEATING.has(resource)) return kind === 'metadata';
  if (resource !== 'coordination.k8s.io/leases') return false;
  return version.changed.paths.length > 0 && version.changed.paths.every((path) => RENEWED.test(path));
}
