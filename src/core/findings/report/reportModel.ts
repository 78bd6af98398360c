import { annotate } from '../../timeline/annotate.ts';
import { LagTable, LinkTable, MarkTable, StringTable } from '../../timeline/columns.ts';
import { LaneTable, type LaneState } from '../../timeline/lanes.ts';
import { kindCode, LINK_KINDS, noReads, type BarInfo, type TimelineModel } from '../../timeline/model.ts';
import { english } from '../../timeline/translate.ts';
import type { Token } from '../../traceEvent.ts';
import type { Finding } from '../finding.ts';
import type { Mark } from './mark.ts';
import { objectText } from './report.ts';

const MAX_OBJECTS = 40;
const MAX_ACTORS = 8;

/** A timeline model, and the marks of the report in its order. */
export interface ReportModel {
  readonly model: TimelineModel;
  readonly marks: readonly Mark[];
}

/**
 * The timeline of a report: a lane for each object with findings, with the writes that are kept, and the versions of others
 * that were only seen, where it is known who made them. An object's incarnations
 * are known by the UIDs in them, each from when it was first named; what wins over a refused write is known where all that
 * was shown of the object since says so.
 */
export function reportModel(findings: readonly Finding[], all: readonly Mark[]): ReportModel {
  const table = new LaneTable((cluster) => cluster);
  const lanes = new Map<string, LaneState>();
  for (const finding of findings) {
    const text = objectText(finding);
    if (lanes.has(text) || lanes.size === MAX_OBJECTS) continue;
    lanes.set(text, table.lane(finding.cluster, finding.object, undefined, undefined));
  }
  const ofLane = Map.groupBy(
    all.filter(({ object }) => lanes.has(object)),
    ({ object }) => object,
  );
  for (const [object, lane] of lanes) lane.bars = barsOf(ofLane.get(object) ?? []);
  const marks = [...ofLane.values()].flatMap(drawnOf).sort((a, b) => a.seq - b.seq);
  const strings = new StringTable();
  const columns = new MarkTable();
  const actors = new Map<LaneState, Set<string>>();
  for (const mark of marks) {
    const lane = lanes.get(mark.object);
    if (lane === undefined) continue;
    columns.push({
      at: mark.at,
      lane: lane.index,
      kind: kindCode(mark.drawn ?? (mark.kind === 'refused' ? 'refused' : 'unknown')),
      flags: 0,
      event: mark.seq,
      actor: strings.place(actorOf(actors, lane, mark.writer ?? mark.actor)),
      label: 0,
      uid: strings.place(mark.uid),
      outcome: 0,
    });
  }
  const placed = findings.map((finding) => ({ ...finding, object: { ...finding.object, cluster: finding.cluster } }));
  const annotations = annotate(
    table,
    placed.filter((finding) => lanes.has(objectText(finding))),
    () => undefined,
    english,
  );
  const clusters = new Set(table.lanes.map(({ cluster }) => cluster));
  const packed = table.packed(strings);
  const model = {
    strings: strings.copy(),
    groups: table.groups.map((group) => ({
      ...group,
      label: clusters.size > 1 ? group.label : group.label.slice(group.label.lastIndexOf(' / ') + 3),
    })),
    ...packed,
    marks: columns.copy(),
    links: linksOf(lanes, ofLane).copy(),
    lags: new LagTable().copy(),
    reads: noReads(),
    gaps: [],
    annotations,
    notes: [],
    lastAt: findings.reduce((last, { lastAt }) => Math.max(last, lastAt), marks.at(-1)?.at ?? 0),
    lastSeq: marks.at(-1)?.seq ?? 1,
  };
  return { model, marks };
}

/** What is drawn of one object: its writes, and the first sight of each version that none of them made, with its writer. */
function drawnOf(marks: readonly Mark[]): Mark[] {
  const made = new Set(marks.filter(({ kind }) => kind === 'accepted').map(({ token }) => token));
  return marks.filter((mark) => {
    if (mark.kind !== 'read') return true;
    if (mark.writer === undefined || made.has(mark.token)) return false;
    made.add(mark.token);
    return true;
  });
}

/** Actors that come when there is no more room for rows share one. */
function actorOf(known: Map<LaneState, Set<string>>, lane: LaneState, actor: string): string {
  const actors = known.get(lane) ?? new Set<string>();
  known.set(lane, actors);
  if (actors.size < MAX_ACTORS) actors.add(actor);
  return actors.has(actor) ? actor : 'others';
}

function barsOf(marks: readonly Mark[]): BarInfo[] {
  const bars: { uid: string; from: number; began: 'earlier'; to?: number; endHow?: 'in-gap' }[] = [];
  const known = new Set<string>();
  for (const { uid, at } of marks) {
    if (uid === '' || known.has(uid)) continue;
    known.add(uid);
    const last = bars.at(-1);
    if (last !== undefined) Object.assign(last, { to: at, endHow: 'in-gap' });
    bars.push({ uid, from: at, began: 'earlier' });
  }
  return bars;
}

function linksOf(lanes: ReadonlyMap<string, LaneState>, ofLane: ReadonlyMap<string, readonly Mark[]>): LinkTable {
  const links = new LinkTable();
  for (const [object, marks] of ofLane) {
    const lane = lanes.get(object)?.index ?? 0;
    const versions = versionsOf(marks);
    for (const refused of marks) {
      if (refused.drawn !== 'conflict' || refused.basedOn === undefined) continue;
      const read = versions.get(refused.basedOn);
      if (read === undefined) continue;
      const at = { lane, at: refused.at };
      links.add(LINK_KINDS.indexOf('read'), refused.seq, { lane, at: read.at }, at);
      const won = read.next === undefined ? undefined : versions.get(read.next)?.madeBy;
      if (won !== undefined && won.seq < refused.seq)
        links.add(LINK_KINDS.indexOf('winner'), refused.seq, at, { lane, at: won.at });
    }
  }
  return links;
}

/** The versions of one object in the order in which they were shown: when each was first, who made it, and what came next. */
function versionsOf(marks: readonly Mark[]): Map<Token, { readonly at: number; madeBy?: Mark; next?: Token }> {
  const versions = new Map<Token, { readonly at: number; madeBy?: Mark; next?: Token }>();
  let last: Token | undefined;
  for (const mark of marks) {
    if (mark.token === undefined) continue;
    let version = versions.get(mark.token);
    if (version === undefined) {
      version = { at: mark.at };
      versions.set(mark.token, version);
      const before = last === undefined ? undefined : versions.get(last);
      if (before !== undefined) before.next = mark.token;
      last = mark.token;
    }
    if (mark.kind === 'accepted') version.madeBy ??= mark;
  }
  return versions;
}
