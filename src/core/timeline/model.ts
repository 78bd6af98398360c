import type { GapEvent, WriteOutcome } from '../traceEvent.ts';
import { writeOutcomes } from '../traceEvent.ts';

/**
 * What a mark on the timeline stands for, the least important first: where several fall on one place, the last of them is
 * drawn. `unknown` is a version of which the version before was not seen, `renewal` a change that is noise by the nature of
 * its resource.
 */
export const MARK_KINDS = [
  'renewal',
  'metadata',
  'status',
  'unknown',
  'spec',
  'created',
  'terminating',
  'deleted',
  'note',
  'refused',
  'uncertain',
  'conflict',
  'uid-mismatch',
  'field-conflict',
  'takeover',
  'stale-reference',
  'lost-update',
  'finding',
] as const;
export type MarkKind = (typeof MARK_KINDS)[number];

/** The outcome of a write as a small number; 0 is "no write". */
export const MARK_OUTCOMES: readonly ('' | WriteOutcome)[] = ['', ...writeOutcomes];

/** Bits of `MarkColumns.flags`. */
export const FLAG = {
  /** A status-only change or a renewal: it may be folded with its neighbours. */
  foldable: 1,
  /** The same run of foldable changes by the same actor as the mark before it on its lane. */
  continuesRun: 2,
  /** Noise that is normal: the third and later of a run, and renewals of leases, endpoints and events. */
  heartbeat: 4,
  /** No stream has placed this version among the others yet. */
  unplaced: 8,
} as const;

/** Marks by column, in order of arrival. `actor`, `label` and `uid` are places in `strings`; place 0 is the empty string. */
export interface MarkColumns {
  /** Milliseconds since the epoch. */
  readonly at: Float64Array;
  readonly lane: Uint32Array;
  /** A place in MARK_KINDS. */
  readonly kind: Uint8Array;
  readonly flags: Uint8Array;
  /** The event's `seq`. */
  readonly event: Uint32Array;
  readonly actor: Uint32Array;
  readonly label: Uint32Array;
  readonly uid: Uint32Array;
  /** A place in MARK_OUTCOMES. */
  readonly outcome: Uint8Array;
}

/** What a link joins: a refused write with the version it had read, or with the write that won; a reference with its target. */
export const LINK_KINDS = ['read', 'winner', 'reference'] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

/** Links by column. A link goes from a place on one lane to a place on the same or another. */
export interface LinkColumns {
  readonly kind: Uint8Array;
  /** The event of the mark that the link explains. */
  readonly event: Uint32Array;
  readonly fromLane: Uint32Array;
  readonly fromAt: Float64Array;
  readonly toLane: Uint32Array;
  readonly toAt: Float64Array;
}

/** Times in which observedGeneration had not reached generation, by column; closed ones only. */
export interface LagColumns {
  readonly lane: Uint32Array;
  readonly from: Float64Array;
  readonly to: Float64Array;
}

/** The lane of a read that gave so many objects that it is of none of them. */
export const NO_LANE = 0xff_ff_ff_ff;

/** How something was read. */
export const READ_VERBS = ['get', 'list', 'watch'] as const;

/**
 * What recorded actors were given, by column, in order of arrival: one row for each object, where they were few. `actor` and
 * `uid` are places in `strings`.
 */
export interface ReadColumns {
  readonly at: Float64Array;
  /** A lane, or NO_LANE. */
  readonly lane: Uint32Array;
  readonly actor: Uint32Array;
  /** The event's `seq`. */
  readonly event: Uint32Array;
  /** 0 where nothing was there, or where it is of no lane. */
  readonly uid: Uint32Array;
  /** A place in READ_VERBS. */
  readonly verb: Uint8Array;
}

/** How a bar may begin, and how end: 0 is "not ended". */
export const BAR_BEGINNINGS = ['seen', 'earlier', 'in-gap'] as const;
export const BAR_ENDS = ['', 'event', 'in-gap', '404'] as const;

/** One incarnation on a lane. */
export interface BarInfo {
  readonly uid: string;
  readonly from: number;
  readonly began: (typeof BAR_BEGINNINGS)[number];
  readonly terminatingAt?: number;
  readonly to?: number;
  readonly endHow?: Exclude<(typeof BAR_ENDS)[number], ''>;
}

/** One name: a lane. Its place in `lanes` never changes. */
export interface LaneInfo {
  /** A place in `groups`. */
  readonly group: number;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly bars: readonly BarInfo[];
  /** How many bars there are. */
  readonly incarnations: number;
  /** Since when observedGeneration lags, if it does now. */
  readonly lagFrom: number | undefined;
  /** Something worth saying beside the name, such as "refers to a gone UID". */
  readonly remark: string | undefined;
  /** How many findings are about it. */
  readonly findings: number;
  /** Whether a watch of ours showed it; false where it is known from others' requests alone. */
  readonly watched: boolean;
}

/** Lanes by column. `kind`, `namespace`, `name` and `remark` are places in `strings`. */
export interface LaneColumns {
  /** The lane's place. */
  readonly place: Uint32Array;
  readonly group: Uint32Array;
  readonly kind: Uint32Array;
  readonly namespace: Uint32Array;
  readonly name: Uint32Array;
  /** 0: none. */
  readonly remark: Uint32Array;
  readonly findings: Uint32Array;
  /** 1: watched. */
  readonly watched: Uint8Array;
  /** NaN: it does not lag now. */
  readonly lagFrom: Float64Array;
  /** Where its bars end in their columns; they begin where those of the row before end. */
  readonly barsEnd: Uint32Array;
}

/** Bars by column, in order of their lanes. `uid` is a place in `strings`; NaN where a time is not known. */
export interface BarColumns {
  readonly uid: Uint32Array;
  readonly from: Float64Array;
  /** A place in BAR_BEGINNINGS. */
  readonly began: Uint8Array;
  readonly terminatingAt: Float64Array;
  readonly to: Float64Array;
  /** A place in BAR_ENDS. */
  readonly endHow: Uint8Array;
}

/** Lanes as they are sent: a hundred thousand objects would take longer to copy and to check than a million marks. */
export interface PackedLanes {
  readonly lanes: LaneColumns;
  readonly bars: BarColumns;
}

/** The lanes of one resource of one cluster. */
export interface GroupInfo {
  readonly key: string;
  readonly cluster: string;
  readonly clusterLabel: string;
  readonly apiGroup: string;
  readonly resource: string;
  readonly kind: string;
  readonly label: string;
}

/** A time in which nothing could be seen, for the lanes it concerns. `to` is absent while it lasts. */
export interface GapInfo {
  readonly id: string;
  readonly cluster: string;
  readonly scope: GapEvent['scope'];
  readonly from: number;
  readonly to?: number;
  /** Why nothing could be seen, in words. */
  readonly cause: string;
  /** The event's `seq`. */
  readonly event: number;
}

/** The severity of a finding. */
export type Severity = 'info' | 'warning' | 'error';

/** A finding on a lane: words over a stretch of time, and a glyph at its end where no mark of its own is there already. */
export interface AnnotationInfo {
  readonly lane: number;
  readonly from: number;
  readonly to: number;
  /** The finding's id, and what tells this one from others of that id. */
  readonly id: string;
  readonly key: string;
  readonly severity: Severity;
  readonly glyph?: MarkKind;
  readonly text: string;
  readonly events: readonly number[];
  /** How often it happened, and when before `to`, as far as the evidence tells. */
  readonly count: number;
  readonly repeats: readonly number[];
  /** Where the thing is that it points to, such as the gone incarnation of a stale reference. */
  readonly originLane?: number;
  readonly originAt?: number;
}

/** What a lab or a person wrote about no object in particular. */
export interface NoteInfo {
  readonly at: number;
  readonly text: string;
  readonly event: number;
}

/** All that the timeline shows, in full, its lanes in order of their places. Whoever holds it only reads it. */
export interface TimelineModel extends PackedLanes {
  readonly strings: readonly string[];
  readonly groups: readonly GroupInfo[];
  readonly marks: MarkColumns;
  readonly links: LinkColumns;
  readonly lags: LagColumns;
  readonly reads: ReadColumns;
  readonly gaps: readonly GapInfo[];
  readonly annotations: readonly AnnotationInfo[];
  readonly notes: readonly NoteInfo[];
  /** The time of the last event, or 0 where there is none. */
  readonly lastAt: number;
  readonly lastSeq: number;
}

/** What came since: columns to append, lanes that are new or changed, places that changed, small lists anew. */
export interface TimelineDelta extends PackedLanes {
  readonly strings: readonly string[];
  readonly groups: readonly GroupInfo[];
  readonly marks: MarkColumns;
  /** Marks of before whose kind, flags, actor or label became known. */
  readonly patches: readonly MarkPatch[];
  readonly links: LinkColumns;
  readonly lags: LagColumns;
  readonly reads: ReadColumns;
  /** Absent where nothing changed. */
  readonly gaps?: readonly GapInfo[];
  readonly annotations?: readonly AnnotationInfo[];
  readonly notes?: readonly NoteInfo[];
  readonly lastAt: number;
  readonly lastSeq: number;
}

/** A mark of before, by its place in the columns, as it is now. */
export interface MarkPatch {
  readonly index: number;
  readonly kind: number;
  readonly flags: number;
  readonly actor: number;
  readonly label: number;
}

/** What the timeline needs of a finding. */
export interface TimelineFinding {
  readonly id: string;
  readonly kind?: string | undefined;
  readonly severity: Severity;
  readonly object: {
    readonly cluster?: string | undefined;
    readonly group: string;
    readonly resource: string;
    readonly namespace: string;
    readonly name: string;
    readonly uid?: string | undefined;
  };
  readonly actors: readonly string[];
  readonly fields: readonly string[];
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly events: readonly number[];
  readonly explanation: string;
  readonly remedy?: string | undefined;
}

/** The place of a kind in MARK_KINDS. */
export function kindCode(kind: MarkKind): number {
  return MARK_KINDS.indexOf(kind);
}

/** Columns of no reads. */
export function noReads(): ReadColumns {
  return {
    at: new Float64Array(),
    lane: new Uint32Array(),
    actor: new Uint32Array(),
    event: new Uint32Array(),
    uid: new Uint32Array(),
    verb: new Uint8Array(),
  };
}

/** Columns of no lanes. */
export function noLanes(): PackedLanes {
  return {
    lanes: {
      place: new Uint32Array(),
      group: new Uint32Array(),
      kind: new Uint32Array(),
      namespace: new Uint32Array(),
      name: new Uint32Array(),
      remark: new Uint32Array(),
      findings: new Uint32Array(),
      watched: new Uint8Array(),
      lagFrom: new Float64Array(),
      barsEnd: new Uint32Array(),
    },
    bars: {
      uid: new Uint32Array(),
      from: new Float64Array(),
      began: new Uint8Array(),
      terminatingAt: new Float64Array(),
      to: new Float64Array(),
      endHow: new Uint8Array(),
    },
  };
}

/** The model of a log without events. */
export function emptyModel(): TimelineModel {
  return {
    strings: [''],
    groups: [],
    ...noLanes(),
    marks: {
      at: new Float64Array(),
      lane: new Uint32Array(),
      kind: new Uint8Array(),
      flags: new Uint8Array(),
      event: new Uint32Array(),
      actor: new Uint32Array(),
      label: new Uint32Array(),
      uid: new Uint32Array(),
      outcome: new Uint8Array(),
    },
    links: {
      kind: new Uint8Array(),
      event: new Uint32Array(),
      fromLane: new Uint32Array(),
      fromAt: new Float64Array(),
      toLane: new Uint32Array(),
      toAt: new Float64Array(),
    },
    lags: { lane: new Uint32Array(), from: new Float64Array(), to: new Float64Array() },
    reads: noReads(),
    gaps: [],
    annotations: [],
    notes: [],
    lastAt: 0,
    lastSeq: 0,
  };
}
