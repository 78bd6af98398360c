import type { Cell } from './cells.ts';
import { findingRank } from './findingWords.ts';
import { cut, estimateWidth, LabelLine, type Anchor, type Measure, type Placed } from './labels.ts';
import type { LaneMetrics } from './laneMetrics.ts';
import { kindCode, MARK_KINDS, type AnnotationInfo, type BarInfo } from './model.ts';
import { drawnSpan, xOf, type Span, type TimeScale } from './scale.ts';
import type { SceneText } from './sceneTypes.ts';
import type { TimelineStore } from './store.ts';
import type { StoredLane } from './storedLane.ts';
import type { Translate } from './translate.ts';

/** Words of a lane; `y` of the text is from the top of the lane. */
export interface LaneLabel extends Span {
  readonly text: SceneText;
  /** The finding that the words are about. */
  readonly annotation?: AnnotationInfo;
}

/** Words about a gap that begin at a pixel. */
export interface GapWords {
  readonly x: number;
  readonly text: string;
}

/** What the labels of one lane are made from. */
export interface LabelInput {
  readonly store: TimelineStore;
  readonly scale: TimeScale;
  readonly translate: Translate;
  /** How wide words are drawn; left out: an estimate. */
  readonly measure?: Measure | undefined;
  /** Until when an incarnation that has not ended is drawn. */
  readonly now: number;
  readonly annotationDim: (annotation: AnnotationInfo) => boolean;
  /** 1 for each mark that a filter looks for; undefined where none chooses among marks. */
  readonly matched?: Uint8Array | undefined;
}

/** Half of the widest glyph, and the room beside it. */
const GLYPH_PX = 8;
const BESIDE_PX = 11;
/** A bar narrower than this has no room for its UID. */
const MIN_BAR_PX = 56;
const LONGEST_GENERATION = 12;
/** One finding's words leave room for those of others. */
const LONGEST_WORDS = 72;
/** More findings of one lane than this are not tried: there is no room for their words. */
const MAX_ANNOTATIONS = 60;

/**
 * All words of one lane, on three lines: above its refusals, beside them, and below the bar. Findings come first, the
 * gravest of them foremost, then refusals, what happened to the incarnations, generations, and gaps. Words that do not fit
 * whole anywhere are cut, and left out where too little would remain; nothing ever overlaps. What they are about is drawn
 * all the same, and says them when it is pointed at.
 */
export function laneLabels(
  input: LabelInput,
  lane: StoredLane,
  metrics: LaneMetrics,
  cells: { readonly above: readonly Cell[]; readonly onBar: readonly Cell[] },
  gaps: readonly GapWords[] = [],
): LaneLabel[] {
  if (!metrics.labels) return [];
  const labels = new LaneLabels(input, metrics, obstaclesOf(input, lane, cells.above));
  const { scale, store, annotationDim } = input;
  const annotations = lane.annotations
    .filter((one) => xOf(scale, one.to) >= 0 && xOf(scale, one.from) <= scale.width && !annotationDim(one))
    .sort((a, b) => findingRank(a) - findingRank(b))
    .slice(0, MAX_ANNOTATIONS);
  for (const annotation of annotations) labels.addAnnotation(annotation);
  for (const cell of cells.above) labels.addRefusal(cell);
  const { matched } = input;
  labels.addRecreations(lane.info.bars, !hasMatch(lane, matched, BEGINNINGS));
  const dim = !hasMatch(lane, matched);
  for (const bar of lane.info.bars) labels.addBar(bar, dim);
  if (lane.actorCount < 2) labels.addChanges(cells.onBar);
  else
    labels.addChanges(
      cells.onBar,
      (mark) => store.marks.actor.at(mark),
      (actor) => store.text(actor),
    );
  for (const gap of gaps) labels.addGap(gap);
  return labels.all;
}

/** All words of the lane of an actor: its refusals, and the objects where they change. */
export function trackLabels(
  input: LabelInput,
  metrics: LaneMetrics,
  cells: { readonly above: readonly Cell[]; readonly onBar: readonly Cell[] },
): LaneLabel[] {
  if (!metrics.labels) return [];
  const { store } = input;
  const labels = new LaneLabels(input, metrics, aroundCells(cells.above));
  const nameOf = (lane: number): string => store.lanes[lane]?.info.name ?? '';
  for (const cell of cells.above) labels.addRefusal(cell);
  labels.addChanges(cells.onBar, (mark) => store.marks.lane.at(mark), nameOf);
  return labels.all;
}

/** Kinds of marks with which an incarnation begins. */
const BEGINNINGS: readonly number[] = [kindCode('created'), kindCode('unknown')];

/** Whether a filter looks for anything on a lane, of these kinds or of any; true where none chooses among marks. */
export function hasMatch(lane: StoredLane, matched: Uint8Array | undefined, kinds?: readonly number[]): boolean {
  if (matched === undefined) return true;
  return lane.series.some(
    (series, kind) =>
      series !== undefined &&
      (kinds === undefined || kinds.includes(kind)) &&
      series.matchedIn(0, series.length, matched) > 0,
  );
}

/** What stands on the line of the refusals besides words. */
function obstaclesOf({ scale }: LabelInput, lane: StoredLane, above: readonly Cell[]): Span[] {
  const spans = aroundCells(above);
  for (const { glyph, to } of lane.annotations) {
    const x = xOf(scale, to);
    if (glyph === 'finding' && x > -GLYPH_PX && x < scale.width + GLYPH_PX)
      spans.push({ from: x - GLYPH_PX, to: x + GLYPH_PX });
  }
  return spans;
}

function aroundCells(cells: readonly Cell[]): Span[] {
  return cells.map((cell) => ({ from: cell.first - GLYPH_PX, to: cell.last + GLYPH_PX }));
}

type LineName = 'top' | 'beside' | 'below';
type Look = Pick<SceneText, 'ink' | 'size' | 'mono' | 'dim'>;

const dimmed = (dim: boolean): { readonly dim?: boolean } => (dim ? { dim } : {});

/** Marks of one place in a row: up to where their name may reach. */
interface Stretch extends Span {
  readonly place: number;
  readonly first: Cell;
}

/** The stretches of cells that are of one place each; a block of many marks is of no place, as it may hide another. */
function stretchesOf(cells: readonly Cell[], placeOf: (mark: number) => number): Stretch[] {
  const stretches: (Stretch & { to: number })[] = [];
  let open: (Stretch & { to: number }) | undefined;
  let from = Number.NEGATIVE_INFINITY;
  for (const cell of cells) {
    const place = cell.count === 1 ? placeOf(cell.mark) : undefined;
    if (open === undefined || open.place !== place) {
      if (open !== undefined) open.to = cell.first - BESIDE_PX / 2;
      open = place === undefined ? undefined : { place, first: cell, from, to: Number.POSITIVE_INFINITY };
      if (open !== undefined) stretches.push(open);
    }
    from = cell.last + BESIDE_PX / 2;
  }
  return stretches;
}

class LaneLabels {
  readonly all: LaneLabel[] = [];
  private readonly input: LabelInput;
  private readonly lines: Readonly<Record<LineName, LabelLine>>;
  private readonly baselines: Readonly<Record<LineName, number>>;

  constructor(input: LabelInput, metrics: LaneMetrics, obstacles: readonly Span[]) {
    const { width } = input.scale;
    this.input = input;
    this.lines = {
      top: new LabelLine(width),
      beside: new LabelLine(width, obstacles),
      below: new LabelLine(width),
    };
    this.baselines = { top: metrics.topLine, beside: metrics.besideLine, below: metrics.belowLine };
  }

  addAnnotation(annotation: AnnotationInfo): void {
    const { scale } = this.input;
    const from = xOf(scale, annotation.from);
    const to = xOf(scale, annotation.to);
    const ink = annotation.glyph ?? (annotation.id.includes('conflict') ? 'conflict' : annotation.severity);
    const look: Look = { ink, size: 10 };
    const left = Math.max(BESIDE_PX / 2, from);
    const sides: Anchor[] = [
      { x: to + BESIDE_PX, side: 'right' },
      { x: to - BESIDE_PX, side: 'left' },
    ];
    const around: Anchor[] = [
      { x: (left + Math.min(scale.width, to)) / 2, side: 'around' },
      { x: left, side: 'right' },
    ];
    const places: (readonly [LineName, Anchor])[] =
      annotation.glyph === undefined
        ? [...onLine('top', around), ...onLine('below', around)]
        : [...onLine('beside', sides), ...onLine('top', sides), ...onLine('below', sides)];
    this.put(cut(annotation.text, LONGEST_WORDS), look, places, annotation);
  }

  /** The words of a refused write beside its mark. */
  addRefusal(cell: Cell): void {
    const { store, scale } = this.input;
    const text = store.text(store.marks.label.at(cell.mark));
    if (text === '' || cell.count > 1 || cell.x < 0 || cell.x > scale.width) return;
    const sides: Anchor[] = [
      { x: cell.x + BESIDE_PX, side: 'right' },
      { x: cell.x - BESIDE_PX, side: 'left' },
    ];
    this.put(text, { ink: MARK_KINDS[cell.kind] ?? 'text', size: 10, ...dimmed(cell.matched === 0) }, [
      ...onLine('beside', sides),
      ...onLine('top', sides),
    ]);
  }

  /** That a name was taken over by another incarnation; recreations too close for words of their own are counted. */
  addRecreations(bars: readonly BarInfo[], dim: boolean): void {
    const { scale, translate } = this.input;
    const look: Look = { ink: 'text', size: 10, ...dimmed(dim) };
    const width = this.widthOf(translate('↻ recreated'), look);
    let group: { readonly x: number; count: number; inGap: boolean } | undefined;
    const close = (): void => {
      if (group === undefined) return;
      const { x, count, inGap } = group;
      const anchors = onLine('below', [{ x, side: 'right' }]);
      const words = translate('↻ recreated');
      const all = inGap ? [translate('↻ recreated, within the gap'), words, '↻'] : [words, '↻'];
      const wordings = count > 1 ? all.map((text) => `${text} ×${count}`) : all;
      wordings.some((text) => this.putWhole(text, look, anchors));
    };
    for (const [index, bar] of bars.entries()) {
      const x = xOf(scale, bar.from);
      if (index === 0 || x < -width || x > scale.width) continue;
      const start = Math.max(2, x + 2);
      if (group !== undefined && start < group.x + width + 8) {
        group.count += 1;
        group.inGap &&= bar.began === 'in-gap';
        continue;
      }
      close();
      group = { x: start, count: 1, inGap: bar.began === 'in-gap' };
    }
    close();
  }

  /** The UID of a bar, and that it is being deleted. */
  addBar(bar: BarInfo, dim: boolean): void {
    const { scale, translate } = this.input;
    const { from: left, to } = drawnSpan(this.input, bar);
    const right = Math.min(scale.width, to);
    if (right < 0 || left > scale.width) return;
    if (bar.terminatingAt !== undefined) {
      const from = Math.max(0, left, xOf(scale, bar.terminatingAt));
      const text = translate('terminating');
      const look: Look = { ink: 'muted', size: 9, mono: true, ...dimmed(dim) };
      if (right - from > this.widthOf(text, look) / 2)
        this.putWhole(text, look, onLine('beside', [{ x: (from + right) / 2, side: 'around' }]));
    }
    const x = Math.max(left, 0) + 5;
    const look: Look = { ink: 'faint', size: 9, mono: true, ...dimmed(dim) };
    if (right - Math.max(left, 0) > MIN_BAR_PX)
      this.putWhole(shortUid(bar.uid), look, onLine('beside', [{ x, side: 'right' }]));
  }

  /**
   * Below each mark the generation that it raised; and where what `placeOf` gives is another than at the mark before, its
   * name: of a lane who did it, so that one sees who takes turns; of an actor to what. A name is left out where it would
   * reach beneath marks of another.
   */
  addChanges(cells: readonly Cell[], placeOf?: (mark: number) => number, nameOf?: (place: number) => string): void {
    const { store, scale } = this.input;
    const stretches = placeOf === undefined ? [] : stretchesOf(cells, placeOf);
    const starts = new Map(stretches.map((stretch) => [stretch.first, stretch]));
    const labelOf = ({ mark }: Cell): string => store.text(store.marks.label.at(mark));
    const inView = cells.filter(({ x }) => x >= 0 && x <= scale.width);
    for (const cell of inView) {
      const label = labelOf(cell);
      if (label === '' || label.length > LONGEST_GENERATION) continue;
      const stretch = starts.get(cell);
      const name = stretch === undefined ? '' : (nameOf?.(stretch.place) ?? '');
      if (name !== '' && this.putBelow(`${label} ${name}`, 'spec', cell, stretch)) starts.delete(cell);
      else this.putBelow(label, 'spec', cell);
    }
    // Names alone have what the generations leave.
    for (const cell of inView) {
      const stretch = starts.get(cell);
      const name = stretch === undefined ? '' : (nameOf?.(stretch.place) ?? '');
      if (name !== '') this.putBelow(name, 'muted', cell, stretch);
    }
  }

  private putBelow(text: string, ink: SceneText['ink'], cell: Cell, within?: Span): boolean {
    const look: Look = { ink, size: 9, ...dimmed(cell.matched === 0) };
    if (within !== undefined) {
      const half = this.widthOf(text, look) / 2;
      if (cell.x - half < within.from || cell.x + half > within.to) return false;
    }
    return this.putWhole(text, look, onLine('below', [{ x: cell.x, side: 'around' }]));
  }

  addGap({ x, text }: GapWords): void {
    const look: Look = { ink: 'muted', size: 9 };
    const anchor: Anchor = { x, side: 'right' };
    this.put(text, look, [...onLine('below', [anchor]), ...onLine('top', [anchor])]);
  }

  private put(
    text: string,
    look: Look,
    places: readonly (readonly [LineName, Anchor])[],
    annotation?: AnnotationInfo,
  ): void {
    if (this.putWhole(text, look, places, annotation)) return;
    const measure = (part: string): number => this.widthOf(part, look);
    for (const [line, anchor] of places) {
      const placed = this.lines[line].shortened(text, measure, anchor);
      if (placed === undefined) continue;
      this.keep(placed, line, look, annotation);
      return;
    }
  }

  private putWhole(
    text: string,
    look: Look,
    places: readonly (readonly [LineName, Anchor])[],
    annotation?: AnnotationInfo,
  ): boolean {
    const width = this.widthOf(text, look);
    for (const [line, anchor] of places) {
      const placed = this.lines[line].whole(text, width, anchor);
      if (placed === undefined) continue;
      this.keep(placed, line, look, annotation);
      return true;
    }
    return false;
  }

  private keep({ text, from, to }: Placed, line: LineName, look: Look, annotation: AnnotationInfo | undefined): void {
    const words: SceneText = {
      x: from,
      y: this.baselines[line],
      text,
      ...look,
      ...(annotation === undefined ? {} : { finding: annotation.key }),
    };
    this.all.push({ from, to, text: words, ...(annotation === undefined ? {} : { annotation }) });
  }

  private widthOf(text: string, { size, mono }: Look): number {
    return (this.input.measure ?? estimateWidth)(text, size, mono === true);
  }
}

function onLine(line: LineName, anchors: readonly Anchor[]): (readonly [LineName, Anchor])[] {
  return anchors.map((anchor) => [line, anchor] as const);
}

/** The first part of a UID: enough for a person to tell two apart; the whole one is in the details. */
export function shortUid(uid: string): string {
  return uid.slice(0, 8);
}
