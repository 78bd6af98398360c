import type { Json, JsonObject } from '../codec/json.ts';

/**
 * The one form in which everything seen or done is kept: an event of the log. The log on disk, an exported trace, a
 * recording and a lab's trace hold these, one JSON object a line, behind a header line; see `docs/trace-format.md`.
 * Tree, timeline, findings and exports are projections of these events and of nothing else.
 */
export type TraceEvent = ObservedEvent | AbsentEvent | GapEvent | ReadEvent | WriteEvent | NoteEvent;

/** The first line of a trace. Readers refuse a greater version and ignore members they do not know. */
export interface TraceHeader {
  trace: 'object-versions';
  version: 1;
  /** Milliseconds since the epoch. */
  createdAt: number;
  /** What wrote it, such as `object-versions/0.1.0`. */
  creator: string;
  /** The clusters that events name by id: what a person calls them, and what they are. */
  clusters?: ClusterLabels;
}

/** What a person calls each cluster, by its id, and where it is. */
export type ClusterLabels = Record<string, { label: string; server?: string }>;

/** How something became known. */
export type Via = 'list' | 'watch' | 'get' | 'write' | 'recorder' | 'audit' | 'sandbox';

/** A resourceVersion: opaque, compared for equality and nothing else. */
export type Token = string;

/** What locates an object inside a cluster. `namespace` is '' for cluster-scoped resources, `group` '' for the core group. */
export interface ObjectName {
  group: string;
  /** The plural, such as `configmaps`. */
  resource: string;
  namespace: string;
  name: string;
}

/** Who did something, as far as it is known. All absent: unknown. A field manager is not an identity. */
export interface Actor {
  /** The recorder's client name. */
  client?: string;
  /** The authenticated user, from an audit log, the sandbox, or our own SelfSubjectReview. */
  user?: string;
  /** The User-Agent header. */
  agent?: string;
  /** The field manager. */
  manager?: string;
}

interface EventBase {
  /** Order of arrival in this log, from 1, rising. */
  seq: number;
  /** Local clock, milliseconds since the epoch. For an imported audit log, the server's time. */
  at: number;
  via: Via;
  /** The cluster: UID of its kube-system namespace, or, where that may not be read, server and CA. */
  cluster: string;
}

/** One version of one incarnation was seen. */
export interface ObservedEvent extends EventBase {
  type: 'observed';
  name: ObjectName;
  uid: string;
  token: Token;
  apiVersion?: string;
  kind?: string;
  /**
   * The stream that delivered it: versions of one UID are ordered by their order in one stream, and only by that.
   * Absent for what came outside a stream (get, write response).
   */
  stream?: string;
  /** The watch event that delivered it. */
  change?: 'ADDED' | 'MODIFIED';
  generation?: number;
  observedGeneration?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  finalizers?: string[];
  /** `metadata.managedFields` as the server sent it. */
  managedFields?: Json[];
  ownerReferences?: Json[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  /** A hash for each leaf by its path, where the body is not kept. A Secret's are keyed, so that nothing can be guessed. */
  leaves?: Record<string, string>;
  /** The whole object, where bodies are kept. Never a Secret's values. */
  body?: JsonObject;
  /** The HTTP status that answered it is a dry run's or a last finalizer's: the content is not stored under this token. */
  notStored?: boolean;
}

/** An object is known not to be there. */
export interface AbsentEvent extends EventBase {
  type: 'absent';
  name: ObjectName;
  uid?: string;
  /** The version of the deletion, where a watch gave it. */
  token?: Token;
  how: 'event' | 'list' | '404';
  stream?: string;
  /** The last stored content, where the event carried it and bodies are kept. */
  body?: JsonObject;
}

/** A time in which changes could not be seen. Open while `to` is absent; the same `gap` id closes it. */
export interface GapEvent extends EventBase {
  type: 'gap';
  gap: string;
  /** What was being watched. Absent namespace or name: all of them. */
  scope: { group: string; resource: string; namespace?: string; name?: string };
  from: number;
  to?: number;
  cause: 'relist' | 'expired' | 'connection-lost' | 'idle' | 'error' | 'paused' | 'recorder' | 'restart';
  detail?: string;
  /** Closed by a watch that went on from the last version given: nothing was missed, only late. */
  resumed?: boolean;
}

/** An actor was given versions of objects. */
export interface ReadEvent extends EventBase {
  type: 'read';
  actor: Actor;
  verb: 'get' | 'list' | 'watch';
  scope: { group: string; resource: string; namespace?: string; name?: string; subresource?: string };
  /** Each object given, with the UID and token it was given. Contents are in `observed` events of the same UID and token. */
  given: { namespace: string; name: string; uid: string; token: Token; deleted?: boolean; terminating?: boolean }[];
  /** Whether a cache was allowed to answer (`resourceVersion=0`, or a lower bound). */
  cacheAllowed: boolean;
  /** The HTTP status where it was not 200. */
  code?: number;
  request?: string;
}

/** What came of a write. `uncertain`: the answer was lost. */
export const writeOutcomes = [
  'accepted',
  'unchanged',
  'version-conflict',
  'uid-mismatch',
  'field-conflict',
  'already-exists',
  'terminating',
  'not-found',
  'forbidden',
  'unauthenticated',
  'invalid',
  'unsupported',
  'too-large',
  'throttled',
  'unavailable',
  'uncertain',
  'cancelled',
  'failed',
] as const;

/** One of what can come of a write. */
export type WriteOutcome = (typeof writeOutcomes)[number];

/** An actor sent a write. */
export interface WriteEvent extends EventBase {
  type: 'write';
  actor: Actor;
  verb: 'create' | 'replace' | 'patch' | 'apply' | 'delete' | 'deletecollection';
  patchType?: 'json-patch' | 'merge-patch' | 'strategic' | 'apply';
  name: ObjectName;
  subresource?: string;
  force?: boolean;
  dryRun?: boolean;
  /** What the request itself carried. */
  preconditions?: { uid?: string; token?: Token };
  /** The version its content came from, and how that is known. */
  basedOn?: { uid: string; token: Token; known: 'token' | 'given' | 'content' };
  /** From 1; attempts of one write share `write`. */
  attempt?: number;
  write?: string;
  /** Paths that the request wants changed against its base, where known. */
  paths?: string[];
  /** The body sent, where bodies are kept. Never a Secret's values. */
  body?: Json;
  /** Why the body could not be analysed, where it could not. */
  notAnalysed?: string;
  startedAt?: number;
  outcome: WriteOutcome;
  code?: number;
  reason?: string;
  message?: string;
  causes?: { reason?: string; message?: string; field?: string }[];
  /** What the answer said is stored now; `released`: nothing is, the write took the last finalizer away, and the token is of the version before. */
  result?: { uid: string; token: Token; generation?: number; released?: true };
  /** Who made progress in between, for a refused write of ours. */
  wonBy?: { manager: string; operation: string; subresource?: string; time?: string; fields: string[] }[];
}

/** What a lab or a person wrote into the log. */
export interface NoteEvent extends EventBase {
  type: 'note';
  text: string;
  name?: ObjectName;
  mark?: string;
  /**
   * Something outside of the cluster that was declared to belong to the incarnation `uid` of `name`; the newest note about
   * one `what` and `id` holds. `ended`: it belongs to nothing any more.
   */
  association?: { what: string; id: string; uid: string; ended?: boolean };
}

/** An event without what the log itself gives it. */
export type NewTraceEvent = TraceEvent extends infer E ? (E extends TraceEvent ? Omit<E, 'seq'> : never) : never;
