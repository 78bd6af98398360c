import type { ObjectName } from '../traceEvent.ts';

/** Every rule by its id; each has a page `docs/findings/<id>.md`. */
export const findingIds = [
  'recreated',
  'stale-reference',
  'stale-use',
  'stale-incarnation-write',
  'version-conflict',
  'uid-mismatch',
  'hot-conflict-loop',
  'already-exists-loop',
  'lost-update',
  'force-takeover',
  'ownership-fight',
  'responsibility-breach',
  'update-loop',
  'no-op-writes',
  'stale-read',
  'invented-token',
  'uncertain-write',
  'generation-lag',
  'unguarded-patch',
  'ignored-part',
  'server-behind',
  'token-reuse',
  'watch-gap',
] as const;

/** The id of a rule. */
export type FindingId = (typeof findingIds)[number];

/** How much a finding matters: normal and worth knowing, likely wrong, or proven damage. */
export type Severity = 'info' | 'warning' | 'error';

/** From the gravest on. */
export const severities: readonly Severity[] = ['error', 'warning', 'info'];

/** What a finding is about. */
export interface FindingObject extends ObjectName {
  uid: string;
}

/**
 * A named conclusion with its evidence. The JSON of `analyze` and `record` is an array of these, so members are only
 * added, never renamed. What one actor does again to one object, by one rule and kind, is one finding whose `count` and
 * `lastAt` grow, whichever fields it takes each time.
 */
export interface Finding {
  readonly id: FindingId;
  readonly kind?: string;
  readonly severity: Severity;
  readonly cluster: string;
  readonly object: FindingObject;
  /** Who did it first, then who else takes part, as a person would call them: client, user, manager or agent. At most 50. */
  readonly actors: readonly string[];
  /** Paths of fields, as apply conflicts print them, of all occurrences, the first ones first: at most 100. */
  readonly fields: readonly string[];
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** `seq` of the events that prove it: at most 64, those of the first and of the last occurrences. */
  readonly events: readonly number[];
  /** What happened and how it is known, in words; of several occurrences the last one. */
  readonly explanation: string;
  /** What to do about it. */
  readonly remedy: string;
  /** How sure: certain by the protocol, or likely by content. */
  readonly sureness: 'certain' | 'likely';
  /** Facts of a rule that a machine may want: tokens, other UIDs, counts. Never a Secret's value. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

/** Rules about two actors at a time. */
const BETWEEN_TWO: ReadonlySet<string> = new Set(['force-takeover', 'ownership-fight']);

/** Those whose doing a finding is: who did it, of a takeover or fight both. Whom else it harmed may be others each time. */
export function doersOf({
  id,
  actors,
}: {
  readonly id: string;
  readonly actors: readonly string[];
}): readonly string[] {
  return actors.slice(0, BETWEEN_TWO.has(id) ? 2 : 1);
}

/** The severity of each rule unless the rule itself says otherwise. */
export const severityOf: Readonly<Record<FindingId, Severity>> = {
  recreated: 'info',
  'stale-reference': 'warning',
  'stale-use': 'info',
  'stale-incarnation-write': 'error',
  'version-conflict': 'info',
  'uid-mismatch': 'info',
  'hot-conflict-loop': 'warning',
  'already-exists-loop': 'warning',
  'lost-update': 'error',
  'force-takeover': 'warning',
  'ownership-fight': 'warning',
  'responsibility-breach': 'warning',
  'update-loop': 'warning',
  'no-op-writes': 'warning',
  'stale-read': 'warning',
  'invented-token': 'warning',
  'uncertain-write': 'warning',
  'generation-lag': 'warning',
  'unguarded-patch': 'info',
  'ignored-part': 'info',
  'server-behind': 'info',
  'token-reuse': 'error',
  'watch-gap': 'info',
};
