import { matchesText, type Filter, type FilterTerm } from './filter.ts';
import { FLAG, kindCode, MARK_OUTCOMES, type AnnotationInfo, type GapInfo, type LaneInfo } from './model.ts';
import type { TimelineStore } from './store.ts';
import type { StoredLane } from './storedLane.ts';

/** Which lanes a filter shows, and which of their marks match; `marks` is absent where all of them do. */
export interface FilterMatch {
  readonly filter: Filter;
  readonly lanes: Uint8Array;
  /** 1 for each mark that matches, by its place in the columns; it may have room for more. */
  readonly marks: Uint8Array | undefined;
  /** How many marks were looked at. */
  readonly counted: number;
}

type LaneTest = (lane: StoredLane) => boolean;
type MarkTest = (mark: number) => boolean;

/**
 * Applies a filter. Terms about the object (`kind`, `ns`, `name`) choose lanes; terms about what happened (`manager`, `uid`,
 * `is`, `outcome`, plain words) choose marks, and a lane without any stays, dimmed by its marks. `before` is the match of the
 * same filter over fewer marks: only what is new is looked at.
 */
export function matchFilter(store: TimelineStore, filter: Filter, before?: FilterMatch): FilterMatch {
  const laneTests = groupTests(
    filter.terms.filter((term) => isLaneTerm(term)),
    laneTest(store),
  );
  const lanes = new Uint8Array(store.lanes.length);
  store.lanes.forEach((lane, index) => {
    lanes[index] = laneTests(lane) ? 1 : 0;
  });
  const markTerms = filter.terms.filter((term) => !isLaneTerm(term));
  const count = store.marks.length;
  if (markTerms.length === 0) return { filter, lanes, marks: undefined, counted: count };
  const test = groupTests(markTerms, markTest(store));
  const marks = withRoom(before?.marks, count);
  for (let mark = before?.marks === undefined ? 0 : before.counted; mark < count; mark += 1) {
    marks[mark] = lanes[store.marks.lane.at(mark)] === 1 && test(mark) ? 1 : 0;
  }
  return { filter, lanes, marks, counted: count };
}

/** Whether a read matches, by its place in its columns; undefined where no term chooses among what happened. */
export function readTest(store: TimelineStore, filter: Filter): ((read: number) => boolean) | undefined {
  const terms = filter.terms.filter((term) => !isLaneTerm(term));
  if (terms.length === 0) return undefined;
  const { reads } = store;
  return groupTests(terms, ({ key, value }): ((read: number) => boolean) => {
    const isBy = textTest(store, (read) => reads.actor.at(read), value);
    const isOf = textTest(store, (read) => reads.uid.at(read), value);
    if (key === 'manager') return isBy;
    if (key === 'uid') return isOf;
    if (key !== undefined) return () => key === 'is' && value === 'read';
    const isNamed = laneNameTest(store, value);
    return (read) => isBy(read) || isOf(read) || isNamed(reads.lane.at(read));
  });
}

/** Whether a filter chooses among objects. */
export function choosesLanes({ terms }: Filter): boolean {
  return terms.some((term) => isLaneTerm(term));
}

function withRoom(known: Uint8Array | undefined, count: number): Uint8Array {
  if (known !== undefined && known.length >= count) return known;
  const marks = new Uint8Array(Math.max(1024, Math.ceil(count * 1.25)));
  if (known !== undefined) marks.set(known);
  return marks;
}

/** Whether a finding's annotation matches: dimmed where not. */
export function annotationMatches(store: TimelineStore, filter: Filter, annotation: AnnotationInfo): boolean {
  const lane = store.lanes[annotation.lane];
  const test = (term: FilterTerm): ((value: AnnotationInfo) => boolean) => {
    if (isLaneTerm(term)) return () => lane !== undefined && laneTest(store)(term)(lane);
    if (term.key === 'is') {
      return (value) =>
        term.value === 'finding' ||
        term.value === value.glyph ||
        (term.value === 'conflict' && value.id.includes('conflict'));
    }
    if (term.key === undefined)
      return (value) =>
        matchesText(`${value.text} ${value.id}`, term.value) || (lane !== undefined && nameMatches(lane, term.value));
    return () => false;
  };
  return groupTests(filter.terms, test)(annotation);
}

/** Whether words of no object hold what a filter looks for; terms with a key are about objects and what happened to them. */
export function textMatches({ terms }: Filter, text: string): boolean {
  return terms.every(({ key, value, negated }) => key === undefined && matchesText(text, value) !== negated);
}

/** Whether a gap is about an object that a match shows, and its words hold what the filter looks for beside. */
export function gapMatches(store: TimelineStore, { filter, lanes }: FilterMatch, gap: GapInfo): boolean {
  const terms = filter.terms.filter((term) => !isLaneTerm(term));
  return (
    textMatches({ terms }, `${gap.cause} ${gap.scope.resource} ${gap.scope.namespace ?? ''} ${gap.scope.name ?? ''}`) &&
    store.lanes.some((lane, index) => lanes[index] === 1 && isInScope(store, gap, lane.info))
  );
}

/** Whether a gap is about an object. */
export function isInScope({ groups }: TimelineStore, { cluster, scope }: GapInfo, lane: LaneInfo): boolean {
  const group = groups[lane.group];
  return (
    group?.cluster === cluster &&
    group.apiGroup === scope.group &&
    group.resource === scope.resource &&
    (scope.namespace === undefined || scope.namespace === lane.namespace) &&
    (scope.name === undefined || scope.name === lane.name)
  );
}

function isLaneTerm(term: FilterTerm): boolean {
  return term.key === 'kind' || term.key === 'ns' || term.key === 'name';
}

/** All keys must hold; terms of one key that are not negated are alternatives. */
function groupTests<T>(
  terms: readonly FilterTerm[],
  make: (term: FilterTerm) => (value: T) => boolean,
): (value: T) => boolean {
  const all: ((value: T) => boolean)[] = [];
  const alternatives = new Map<string, ((value: T) => boolean)[]>();
  for (const term of terms) {
    const test = make(term);
    if (term.negated) all.push((value) => !test(value));
    else if (term.key === undefined) all.push(test);
    else alternatives.set(term.key, [...(alternatives.get(term.key) ?? []), test]);
  }
  for (const tests of alternatives.values()) all.push((value) => tests.some((test) => test(value)));
  return (value) => all.every((test) => test(value));
}

function laneTest(store: TimelineStore): (term: FilterTerm) => LaneTest {
  return (term) => (lane) => {
    if (term.key === 'kind') {
      const group = store.groups[lane.info.group];
      return matchesText(lane.info.kind, term.value) || matchesText(group?.resource ?? '', term.value);
    }
    return matchesText(term.key === 'ns' ? lane.info.namespace : lane.info.name, term.value);
  };
}

function nameMatches(lane: StoredLane, value: string): boolean {
  const { kind, namespace, name } = lane.info;
  return matchesText(kind, value) || matchesText(namespace, value) || matchesText(name, value);
}

function markTest(store: TimelineStore): (term: FilterTerm) => MarkTest {
  const { marks } = store;
  return (term) => {
    if (term.key === 'manager') return textTest(store, (mark) => marks.actor.at(mark), term.value);
    if (term.key === 'uid') return textTest(store, (mark) => marks.uid.at(mark), term.value);
    if (term.key === 'is') return isTest(store, term.value);
    if (term.key === 'outcome') {
      return (mark) =>
        marks.outcome.at(mark) > 0 && matchesText(MARK_OUTCOMES[marks.outcome.at(mark)] ?? '', term.value);
    }
    return wordTest(store, term.value);
  };
}

/** Compares each distinct string once. */
function textTest(store: TimelineStore, place: (mark: number) => number, value: string): MarkTest {
  const known = new Map<number, boolean>();
  return (mark) => {
    const at = place(mark);
    let matches = known.get(at);
    if (matches === undefined) {
      const text = store.text(at);
      matches = value === '' ? text === '' : matchesText(text, value);
      known.set(at, matches);
    }
    return matches;
  };
}

function wordTest(store: TimelineStore, value: string): MarkTest {
  const { marks } = store;
  const actor = textTest(store, (mark) => marks.actor.at(mark), value);
  const uid = textTest(store, (mark) => marks.uid.at(mark), value);
  const label = textTest(store, (mark) => marks.label.at(mark), value);
  const isNamed = laneNameTest(store, value);
  return (mark) => isNamed(marks.lane.at(mark)) || actor(mark) || uid(mark) || label(mark);
}

const REFUSED = ['refused', 'conflict', 'uid-mismatch', 'field-conflict'] as const;

/** Looks at the name of each lane once. */
function laneNameTest(store: TimelineStore, value: string): (lane: number) => boolean {
  const known = new Map<number, boolean>();
  return (index) => {
    let named = known.get(index);
    if (named === undefined) {
      const lane = store.lanes[index];
      named = lane !== undefined && nameMatches(lane, value);
      known.set(index, named);
    }
    return named;
  };
}

function isTest(store: TimelineStore, value: string): MarkTest {
  const { marks } = store;
  const kindIs =
    (...kinds: number[]): MarkTest =>
    (mark) =>
      kinds.includes(marks.kind.at(mark));
  switch (value) {
    case 'heartbeat':
      return (mark) => (marks.flags.at(mark) & FLAG.heartbeat) !== 0;
    case 'unplaced':
      return (mark) => (marks.flags.at(mark) & FLAG.unplaced) !== 0;
    case 'refused':
      return kindIs(...REFUSED.map((kind) => kindCode(kind)));
    case 'recreated':
      return (mark) => isLaterIncarnation(store, mark);
    case 'finding':
      return () => false;
    default:
      return (mark) => marks.kind.at(mark) === KIND_CODES.get(value);
  }
}

const KIND_CODES = new Map<string, number>(
  (
    [
      'spec',
      'status',
      'metadata',
      'created',
      'deleted',
      'terminating',
      'conflict',
      'field-conflict',
      'uid-mismatch',
      'uncertain',
      'note',
    ] as const
  ).map((kind) => [kind, kindCode(kind)]),
);

/** The first mark of an incarnation that is not the first at its name. */
function isLaterIncarnation(store: TimelineStore, mark: number): boolean {
  const bars = store.lanes[store.marks.lane.at(mark)]?.info.bars ?? [];
  const at = store.marks.at.at(mark);
  return bars.some((bar, index) => index > 0 && bar.from === at);
}
