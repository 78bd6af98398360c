import { StringTable } from '../../src/core/timeline/columns.ts';
import {
  FLAG,
  kindCode,
  LINK_KINDS,
  noLanes,
  noReads,
  type LaneInfo,
  type LinkColumns,
  type MarkColumns,
  type TimelineDelta,
  type TimelineModel,
} from '../../src/core/timeline/model.ts';
import { packLanes } from '../../src/core/timeline/packedLanes.ts';

/** When the generated hour begins. */
export const BENCH_START = Date.UTC(2026, 10, 29, 14, 0, 0);
export const BENCH_SPAN_MS = 3_600_000;

/** A small generator of numbers in [0, 1): the same ones each time. */
export function numbersOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

/** The kinds in the mix of a busy cluster: mostly status, some metadata, few changes of the desired state, some conflicts. */
function kindOf(draw: number): number {
  if (draw < 0.68) return kindCode('status');
  if (draw < 0.88) return kindCode('metadata');
  if (draw < 0.97) return kindCode('spec');
  return draw < 0.995 ? kindCode('conflict') : kindCode('field-conflict');
}

/** An hour of `count` events on `lanes` lanes, bursts included, with links for its conflicts. */
export function benchModel(count: number, lanes: number): TimelineModel {
  const random = numbersOf(7);
  const marks = columnsFor(count);
  const links: { event: number; lane: number; from: number; to: number }[] = [];
  for (let index = 0; index < count; index += 1) {
    const at = BENCH_START + (index / count) * BENCH_SPAN_MS;
    fill(marks, index, at, lanes, random, index + 1);
    if (marks.kind[index] === kindCode('conflict') && links.length < 20_000) {
      links.push({ event: index + 1, lane: marks.lane[index] ?? 0, from: at - 2000, to: at });
    }
  }
  const strings = new StringTable();
  for (const text of ['controller', 'kubectl', 'g7', 'b77aa010-1f0b-4b6e-9c7a-000000000002']) strings.place(text);
  const packed = packLanes(
    Array.from({ length: lanes }, (_, index) => [index, benchLane(index)] as const),
    strings,
  );
  return {
    strings: strings.copy(),
    groups: ['deployments', 'configmaps', 'leases', 'pods'].map((resource) => ({
      key: resource,
      cluster: 'c1',
      clusterLabel: 'bench',
      apiGroup: '',
      resource,
      kind: resource,
      label: `bench / ${resource}`,
    })),
    ...packed,
    marks,
    links: linkColumns(links),
    lags: { lane: new Uint32Array(), from: new Float64Array(), to: new Float64Array() },
    reads: noReads(),
    gaps: [],
    annotations: [],
    notes: [],
    lastAt: BENCH_START + BENCH_SPAN_MS,
    lastSeq: count,
  };
}

/** The next `count` events, spread over `spanMs` from `at` on. */
export function benchDelta(
  count: number,
  lanes: number,
  at: number,
  spanMs: number,
  firstEvent: number,
): TimelineDelta {
  const random = numbersOf(firstEvent);
  const marks = columnsFor(count);
  for (let index = 0; index < count; index += 1)
    fill(marks, index, at + (index / count) * spanMs, lanes, random, firstEvent + index);
  return {
    strings: [],
    groups: [],
    ...noLanes(),
    marks,
    patches: [],
    links: linkColumns([]),
    lags: { lane: new Uint32Array(), from: new Float64Array(), to: new Float64Array() },
    reads: noReads(),
    lastAt: at + spanMs,
    lastSeq: firstEvent + count - 1,
  };
}

function columnsFor(count: number): MarkColumns {
  return {
    at: new Float64Array(count),
    lane: new Uint32Array(count),
    kind: new Uint8Array(count),
    flags: new Uint8Array(count),
    event: new Uint32Array(count),
    actor: new Uint32Array(count),
    label: new Uint32Array(count),
    uid: new Uint32Array(count),
    outcome: new Uint8Array(count),
  };
}

function fill(marks: MarkColumns, index: number, at: number, lanes: number, random: () => number, event: number): void {
  const kind = kindOf(random());
  marks.at[index] = at;
  // Some objects are far busier than others.
  marks.lane[index] = Math.floor(random() ** 2 * lanes);
  marks.kind[index] = kind;
  marks.flags[index] = kind === kindCode('status') ? FLAG.foldable : 0;
  marks.event[index] = event;
  marks.actor[index] = 1 + Math.floor(random() * 2);
  marks.label[index] = kind === kindCode('spec') ? 3 : 0;
  marks.uid[index] = 4;
}

function benchLane(index: number): LaneInfo {
  const uid = `b77aa010-1f0b-4b6e-9c7a-${String(index).padStart(12, '0')}`;
  const bars = [{ uid, from: BENCH_START, began: 'earlier' as const }];
  return {
    group: index % 4,
    kind: 'Thing',
    namespace: 'shop',
    name: `thing-${index}`,
    bars,
    incarnations: 1,
    lagFrom: undefined,
    remark: undefined,
    findings: 0,
    watched: false,
  };
}

function linkColumns(links: readonly { event: number; lane: number; from: number; to: number }[]): LinkColumns {
  return {
    kind: Uint8Array.from(links, () => LINK_KINDS.indexOf('read')),
    event: Uint32Array.from(links, (link) => link.event),
    fromLane: Uint32Array.from(links, (link) => link.lane),
    fromAt: Float64Array.from(links, (link) => link.from),
    toLane: Uint32Array.from(links, (link) => link.lane),
    toAt: Float64Array.from(links, (link) => link.to),
  };
}
