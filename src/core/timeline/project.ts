import { endingWrite } from '../endingWrite.ts';
import { uidKey, type History, type Incarnation, type Version } from '../history.ts';
import type { AbsentEvent, NoteEvent, ObservedEvent, TraceEvent, WriteEvent } from '../traceEvent.ts';
import { annotate } from './annotate.ts';
import { actorName, isRenewal, outcomeCode, versionKind, writeKind, writeLabel } from './classify.ts';
import { LagTable, LinkTable, MarkTable, StringTable } from './columns.ts';
import { gapsOf } from './gaps.ts';
import { LaneTable, type LaneState } from './lanes.ts';
import { Reads } from './reads.ts';
import {
  kindCode,
  LINK_KINDS,
  type AnnotationInfo,
  type GapInfo,
  type MarkKind,
  type MarkPatch,
  type NoteInfo,
  type TimelineDelta,
  type TimelineFinding,
  type TimelineModel,
} from './model.ts';
import type { Translate } from './translate.ts';

/** What the projection needs besides the log. */
export interface ProjectionOptions {
  /** What a person calls a cluster. */
  readonly clusterLabel: (cluster: string) => string;
  readonly translate: Translate;
  /** The evidence of findings. */
  readonly eventAt: (seq: number) => TraceEvent | undefined;
}

/** How many refused writes of one lane may wait for their winner to be seen, and how many ends for who ended it. */
const [MAX_AWAITED, MAX_ENDS] = [64, 16];

/**
 * Folds the log into lanes and marks, batch by batch: `add` each batch with the history that already holds it. `model` gives
 * everything, `takeDelta` what came since the last of either. The same events give the same marks, however they are batched.
 */
export class TimelineProjection {
  private readonly options: ProjectionOptions;
  private readonly table: LaneTable;
  private readonly strings = new StringTable();
  private readonly marks = new MarkTable();
  private readonly links = new LinkTable();
  private readonly lags = new LagTable();
  private readonly reads = new Reads();
  private readonly patched = new Set<number>();
  private gaps: readonly GapInfo[] = [];
  private annotations: readonly AnnotationInfo[] = [];
  private readonly notes: NoteInfo[] = [];
  private changed = { gaps: false, annotations: false, notes: false };
  private taken = { strings: 0, groups: 0, marks: 0, links: 0, lags: 0, reads: 0 };
  private lastAt = 0;
  private lastSeq = 0;

  constructor(options: ProjectionOptions) {
    this.options = options;
    this.table = new LaneTable(options.clusterLabel);
  }

  /** Takes the next events; `history` holds them already. */
  add(events: readonly TraceEvent[], history: History): void {
    for (const event of events) {
      this.lastSeq = event.seq;
      this.lastAt = Math.max(this.lastAt, event.at);
      if (event.type === 'observed') this.addObserved(event, history);
      else if (event.type === 'absent') this.addAbsent(event, history);
      else if (event.type === 'write') this.addWrite(event, history);
      else if (event.type === 'gap') this.changed.gaps = true;
      else if (event.type === 'read') this.reads.add(event, this.table, this.strings);
      else if (event.type === 'note') this.addNote(event);
    }
    if (this.changed.gaps) this.gaps = gapsOf(history, this.options.translate);
  }

  /** Takes all findings as they are now. */
  setFindings(findings: readonly TimelineFinding[]): void {
    this.annotations = annotate(this.table, findings, this.options.eventAt, this.options.translate);
    this.changed.annotations = true;
  }

  /** Everything, copied. */
  model(): TimelineModel {
    const lanes = this.table.packed(this.strings);
    this.startDelta();
    return {
      strings: this.strings.copy(),
      groups: this.table.groups.slice(),
      ...lanes,
      marks: this.marks.copy(),
      links: this.links.copy(),
      lags: this.lags.copy(),
      reads: this.reads.copy(),
      gaps: this.gaps,
      annotations: this.annotations,
      notes: this.notes.slice(),
      lastAt: this.lastAt,
      lastSeq: this.lastSeq,
    };
  }

  /** What came since the last `model` or `takeDelta`. */
  takeDelta(): TimelineDelta {
    const { taken, changed } = this;
    const lanes = this.table.packed(this.strings, this.table.changed);
    const delta: TimelineDelta = {
      strings: this.strings.copy(taken.strings),
      groups: this.table.groups.slice(taken.groups),
      ...lanes,
      marks: this.marks.copy(taken.marks),
      patches: Array.from(this.patched)
        .filter((index) => index < taken.marks)
        .map((index) => this.patch(index)),
      links: this.links.copy(taken.links),
      lags: this.lags.copy(taken.lags),
      reads: this.reads.copy(taken.reads),
      ...(changed.gaps ? { gaps: this.gaps } : {}),
      ...(changed.annotations ? { annotations: this.annotations } : {}),
      ...(changed.notes ? { notes: this.notes.slice() } : {}),
      lastAt: this.lastAt,
      lastSeq: this.lastSeq,
    };
    this.startDelta();
    return delta;
  }

  private startDelta(): void {
    this.taken = {
      strings: this.strings.length,
      groups: this.table.groups.length,
      marks: this.marks.length,
      links: this.links.length,
      lags: this.lags.length,
      reads: this.reads.length,
    };
    this.changed = { gaps: false, annotations: false, notes: false };
    this.patched.clear();
    this.table.dirty.clear();
  }

  private patch(index: number): MarkPatch {
    return {
      index,
      kind: this.marks.kind.at(index),
      flags: this.marks.flags.at(index),
      actor: this.marks.actor.at(index),
      label: this.marks.label.at(index),
    };
  }

  private addObserved(event: ObservedEvent, history: History): void {
    const lane = this.table.lane(event.cluster, event.name, event.apiVersion, event.kind);
    if (!lane.watched && (event.via === 'list' || event.via === 'watch')) {
      lane.watched = true;
      this.table.dirty.add(lane.index);
    }
    this.table.refreshBars(lane, history);
    this.addVersion(lane, event, history.uids.get(uidKey(event.cluster, event.uid)), event.token);
    if (lane.awaited.length > 0) this.settleAwaited(lane, history);
  }

  /** Marks the version that an event is about, if this event is the first to show it, and looks again at its neighbours. */
  private addVersion(
    lane: LaneState,
    event: ObservedEvent | WriteEvent,
    incarnation: Incarnation | undefined,
    token: string,
  ): void {
    const index = incarnation?.versions.findLastIndex((version) => version.token === token) ?? -1;
    const version = incarnation?.versions[index];
    if (incarnation === undefined || version === undefined) return;
    const key = versionKey(incarnation.uid, token);
    if (version.event === event.seq) {
      const facts = this.factsOf(lane, incarnation, index);
      const mark = this.marks.length;
      const flags = lane.recent.push({ key, mark, ...facts });
      this.marks.push({
        at: event.at,
        lane: lane.index,
        kind: kindCode(facts.kind),
        flags,
        event: event.seq,
        actor: facts.actor,
        label: this.strings.place(generationLabel(version, incarnation.versions[index - 1])),
        uid: this.strings.place(incarnation.uid),
        outcome: event.type === 'write' ? outcomeCode(event.outcome) : 0,
      });
      this.followGeneration(lane, version);
    } else if (this.lookAgain(lane, incarnation, index)) this.followGeneration(lane, version);
    this.lookAgain(lane, incarnation, index + 1);
  }

  private factsOf(
    lane: LaneState,
    incarnation: Incarnation,
    index: number,
  ): { kind: MarkKind; renewal: boolean; unplaced: boolean; actor: number } {
    const version = incarnation.versions[index];
    if (version === undefined) return { kind: 'unknown', renewal: false, unplaced: true, actor: 0 };
    const before = incarnation.versions[index - 1];
    const terminates =
      version.deletionTimestamp !== undefined && before !== undefined && before.deletionTimestamp === undefined;
    const kind = terminates ? 'terminating' : versionKind(version, index === 0, incarnation.began);
    const renewal = !terminates && isRenewal(lane.name, kind, version);
    return {
      kind: renewal ? 'renewal' : kind,
      renewal,
      unplaced: !version.placed,
      actor: this.strings.place(actorName(version.actor)),
    };
  }

  /**
   * What was not known of a version when it was marked may be known now: its place, what changed, who made it. Says
   * whether anything is.
   */
  private lookAgain(lane: LaneState, incarnation: Incarnation, index: number): boolean {
    const version = incarnation.versions[index];
    const recent = version === undefined ? undefined : lane.recent.find(versionKey(incarnation.uid, version.token));
    if (version === undefined || recent === undefined) return false;
    const { mark } = recent;
    const facts = this.factsOf(lane, incarnation, index);
    const label = this.strings.place(generationLabel(version, incarnation.versions[index - 1]));
    const same = facts.kind === recent.kind && facts.renewal === recent.renewal && facts.actor === recent.actor;
    if (same && facts.unplaced === recent.unplaced && label === this.marks.label.at(mark)) return false;
    Object.assign(recent, facts);
    this.marks.kind.set(mark, kindCode(facts.kind));
    this.marks.actor.set(mark, facts.actor);
    this.marks.label.set(mark, label);
    this.patched.add(mark);
    for (const changed of lane.recent.reflag()) {
      this.marks.flags.set(changed.mark, changed.flags);
      this.patched.add(changed.mark);
    }
    return true;
  }

  /** Equality is all that is asked of the two numbers: whether the one has reached the other. */
  private followGeneration(lane: LaneState, version: Version): void {
    const { generation, observedGeneration } = version;
    if (generation === undefined || observedGeneration === undefined) return;
    if (generation !== observedGeneration) {
      if (lane.lagFrom === undefined) {
        lane.lagFrom = version.at;
        this.table.dirty.add(lane.index);
      }
    } else this.endLag(lane, version.at);
  }

  private endLag(lane: LaneState, at: number): void {
    if (lane.lagFrom === undefined) return;
    this.lags.push({ lane: lane.index, from: lane.lagFrom, to: at });
    lane.lagFrom = undefined;
    this.table.dirty.add(lane.index);
  }

  private addAbsent(event: AbsentEvent, history: History): void {
    const lane = this.table.find(event.cluster, event.name);
    if (lane === undefined) return;
    this.table.refreshBars(lane, history, true);
    const ended = history.names
      .get(lane.key)
      ?.incarnations.findLast((incarnation) => incarnation.end?.seq === event.seq);
    if (ended === undefined) return;
    this.endLag(lane, event.at);
    if (ended.end?.how === 'in-gap') return;
    lane.ends.push({ uid: ended.uid, mark: this.pushSimple(lane, 'deleted', event, ended.uid, '', 0) });
    if (lane.ends.length > MAX_ENDS) lane.ends.shift();
    this.attributeEnds(lane, history);
  }

  /** Who deleted may be told before the end is seen, or after it. */
  private attributeEnds(lane: LaneState, history: History): void {
    const at = history.names.get(lane.key);
    for (const { uid, mark } of lane.ends) {
      const incarnation = history.uids.get(uidKey(lane.cluster, uid));
      const ending = at === undefined || incarnation === undefined ? undefined : endingWrite(at, incarnation);
      const actor = this.strings.place(actorName(ending?.write.actor));
      if (actor === this.marks.actor.at(mark)) continue;
      this.marks.actor.set(mark, actor);
      this.patched.add(mark);
    }
  }

  private addWrite(event: WriteEvent, history: History): void {
    const kind = writeKind(event);
    if (event.name.name === '') return;
    if (kind === undefined) {
      if (event.outcome === 'accepted') this.addAccepted(event, history);
      return;
    }
    const lane = this.table.lane(event.cluster, event.name, undefined, undefined);
    this.table.refreshBars(lane, history);
    const uid = event.basedOn?.uid ?? event.preconditions?.uid ?? lane.uid;
    const words = writeLabel(event, this.options.translate);
    const mark = this.pushSimple(lane, kind, event, uid, words, outcomeCode(event.outcome));
    this.marks.actor.set(mark, this.strings.place(actorName(event.actor)));
    if (kind === 'conflict' || kind === 'uid-mismatch') this.linkRefused(lane, event, uid, history);
  }

  private addAccepted(event: WriteEvent, history: History): void {
    if (event.result !== undefined) this.addMade(event, event.result, history);
    if (event.verb !== 'delete' && event.result?.released !== true) return;
    const lane = this.table.find(event.cluster, event.name);
    if (lane !== undefined) this.attributeEnds(lane, history);
  }

  /** An accepted write: its version, if nobody has seen it before, else who made it. */
  private addMade(event: WriteEvent, result: NonNullable<WriteEvent['result']>, history: History): void {
    const incarnation = history.uids.get(uidKey(event.cluster, result.uid));
    if (incarnation === undefined) return;
    const lane = this.table.lane(
      event.cluster,
      event.name,
      incarnation.apiVersion || undefined,
      incarnation.kind || undefined,
    );
    this.table.refreshBars(lane, history);
    this.addVersion(lane, event, incarnation, result.token);
    if (lane.awaited.length > 0) this.settleAwaited(lane, history);
  }

  private linkRefused(lane: LaneState, event: WriteEvent, uid: string, history: History): void {
    const token = event.basedOn?.token ?? event.preconditions?.token;
    const read = history.uids.get(uidKey(event.cluster, uid))?.versions.findLast((version) => version.token === token);
    if (token === undefined || read === undefined) return;
    this.links.add(
      LINK_KINDS.indexOf('read'),
      event.seq,
      { lane: lane.index, at: read.at },
      { lane: lane.index, at: event.at },
    );
    if (event.outcome !== 'version-conflict') return;
    lane.awaited.push({ event: event.seq, at: event.at, uid, token });
    if (lane.awaited.length > MAX_AWAITED) lane.awaited.shift();
    this.settleAwaited(lane, history);
  }

  /** The version that came next after the one read is the one that won, whenever it is seen. */
  private settleAwaited(lane: LaneState, history: History): void {
    lane.awaited = lane.awaited.filter((awaited) => {
      const versions = history.uids.get(uidKey(lane.cluster, awaited.uid))?.versions ?? [];
      const read = versions.findLastIndex((version) => version.token === awaited.token);
      const winner = read < 0 ? undefined : versions[read + 1];
      if (winner?.placed !== true) return true;
      this.links.add(
        LINK_KINDS.indexOf('winner'),
        awaited.event,
        { lane: lane.index, at: awaited.at },
        { lane: lane.index, at: winner.at },
      );
      return false;
    });
  }

  private addNote(event: NoteEvent): void {
    if (event.name === undefined) {
      this.notes.push({ at: event.at, text: event.text, event: event.seq });
      this.changed.notes = true;
      return;
    }
    const lane = this.table.lane(event.cluster, event.name, undefined, undefined);
    this.pushSimple(lane, 'note', event, lane.uid, event.text, 0);
  }

  private pushSimple(
    lane: LaneState,
    kind: MarkKind,
    event: TraceEvent,
    uid: string,
    label: string,
    outcome: number,
  ): number {
    lane.recent.push({ key: '', mark: this.marks.length, kind, renewal: false, unplaced: false, actor: 0 });
    return this.marks.push({
      at: event.at,
      lane: lane.index,
      kind: kindCode(kind),
      flags: 0,
      event: event.seq,
      actor: 0,
      label: this.strings.place(label),
      uid: this.strings.place(uid),
      outcome,
    });
  }
}

function versionKey(uid: string, token: string): string {
  return `${uid}\0${token}`;
}

function generationLabel(version: Version, before: Version | undefined): string {
  if (version.generation === undefined || version.generation === before?.generation) return '';
  return `g${version.generation}`;
}
