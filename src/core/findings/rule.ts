import type {
  AbsentEvent,
  GapEvent,
  NoteEvent,
  ObservedEvent,
  ReadEvent,
  TraceEvent,
  WriteEvent,
} from '../traceEvent.ts';
import type { ObjectState, VersionRecord } from './objectState.ts';
import type { World } from './world.ts';

/** A version whose place among the others is settled, with what changed against the one before. */
export interface VersionChange {
  readonly object: ObjectState;
  readonly index: number;
  readonly version: VersionRecord;
  readonly previous: VersionRecord | undefined;
  /** Absent where one of the two contents is not known. Timekeeping fields and the order of lists are left out. */
  readonly changed: readonly string[] | undefined;
  /** The accepted write that made it, where it was seen. */
  readonly write: WriteEvent | undefined;
}

/** What time alone tells, without an event. */
export interface Timed {
  /** When it tells something next, in milliseconds since the epoch; undefined where nothing waits. */
  due(): number | undefined;
  /** That moment has come: `now` is what `due` said, and what was due until then is due no more. */
  time(now: number, world: World): void;
}

/**
 * One rule, or a family of rules that share what they remember. Every hook is called in the order of the log and may
 * report to `world.report`; a rule's own memory is bounded.
 */
export interface Rule {
  /** What is written to one object may tell this rule something about another one. */
  readonly between?: true;
  /** A write, before the world knows of it. */
  write?(event: WriteEvent, world: World): void;
  read?(event: ReadEvent, world: World): void;
  /** `version` is new where this is its first sight. */
  observed?(event: ObservedEvent, object: ObjectState, version: VersionRecord, world: World): void;
  absent?(event: AbsentEvent, world: World): void;
  gap?(event: GapEvent, world: World): void;
  note?(event: NoteEvent, world: World): void;
  /** A name is known to be held by another incarnation now. */
  recreated?(before: ObjectState, after: ObjectState, event: TraceEvent, world: World): void;
  /** A version known to be superseded, or of an incarnation known to be gone, was seen again. */
  behind?(event: ObservedEvent, object: ObjectState, world: World): void;
  judged?(change: VersionChange, world: World): void;
  /** What time alone tells this rule. */
  readonly timed?: Timed;
  end?(world: World): void;
}
