import type { JsonObject } from '../codec/json.ts';
import type { Actor, GapEvent, ObjectName, Token, WriteEvent } from './traceEvent.ts';

/**
 * What is known of everything, folded from the events of one log by `reduce` (one event at a time, the same live and in
 * replay). Read-only to all but the reducer.
 */
export interface History {
  /** One per cluster and name, keyed by `nameKey`. */
  readonly names: ReadonlyMap<string, NameHistory>;
  /** UIDs of a cluster that are known, keyed `cluster\0uid`, to where they live. */
  readonly uids: ReadonlyMap<string, Incarnation>;
  readonly gaps: readonly GapEvent[];
  /** What was seen but adds nothing to what is known, such as an answer of a server that is behind. */
  readonly remarks: readonly Remark[];
  readonly lastSeq: number;
  readonly lastAt: number;
}

/**
 * Something that was seen and is not part of any incarnation's story.
 * `server-behind`: a server answered with a version that was known to be superseded, or with an incarnation that was known
 * to be gone.
 */
export interface Remark {
  readonly kind: 'server-behind';
  readonly seq: number;
  readonly at: number;
  readonly cluster: string;
  readonly name: ObjectName;
  readonly uid: string;
  readonly token: Token;
}

/** All that happened at one name. */
export interface NameHistory {
  readonly cluster: string;
  readonly name: ObjectName;
  /** In order of their first observation. */
  readonly incarnations: readonly Incarnation[];
  /** Every write to this name that was seen, refused ones included, in order of arrival. */
  readonly writes: readonly WriteEvent[];
}

/** One life of an object. */
export interface Incarnation {
  readonly cluster: string;
  readonly name: ObjectName;
  readonly uid: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** How its beginning is known: its creation was seen, it was there already, or it began in a gap. */
  readonly began: 'seen' | 'earlier' | 'in-gap';
  readonly firstAt: number;
  readonly firstSeq: number;
  /** When it was seen terminating first. */
  readonly terminatingAt?: number;
  /** Its end, if known. `in-gap`: it was gone after a time that nobody saw. */
  readonly end?: {
    readonly at: number;
    readonly seq: number;
    readonly how: 'event' | 'in-gap' | '404';
    readonly token?: Token;
  };
  /** Versions in stream order; those that no stream has placed stand at their arrival and say so. */
  readonly versions: readonly Version[];
}

/** One (UID, token) with what was seen in it. */
export interface Version {
  readonly token: Token;
  readonly at: number;
  readonly seq: number;
  /** Whether a stream (or token equality with one) tells its place among the others. */
  readonly placed: boolean;
  readonly generation?: number | undefined;
  readonly observedGeneration?: number | undefined;
  readonly deletionTimestamp?: string | undefined;
  /** What changed against the version before, if both were seen: unknown otherwise. */
  readonly changed?:
    | {
        readonly spec: boolean;
        readonly status: boolean;
        readonly metadata: boolean;
        readonly paths: readonly string[];
      }
    | undefined;
  /** Who made it: from a recorded write, or an unambiguous change of managedFields; absent where unknown. */
  readonly actor?: Actor | undefined;
  readonly actorKnown?: 'write' | 'managed-fields' | undefined;
  /** The content of metadata that rules and views need, and the whole object where it was kept. */
  readonly body?: JsonObject | undefined;
  readonly event: number;
}

/** What was asked for last, and its key: all rules ask for the same one in turn, and finding it again needs no new hash. */
let lastKey: { readonly cluster: string; readonly name: ObjectName; readonly key: string } | undefined;

/** The key of a name in `History.names`. */
export function nameKey(cluster: string, name: ObjectName): string {
  if (lastKey?.name === name && lastKey.cluster === cluster) return lastKey.key;
  const key = `${cluster}\0${name.group}\0${name.resource}\0${name.namespace}\0${name.name}`;
  lastKey = { cluster, name, key };
  return key;
}

/** The key of an incarnation in `History.uids`. */
export function uidKey(cluster: string, uid: string): string {
  return `${cluster}\0${uid}`;
}
