import { isAboveBar } from './cells.ts';
import { COMPACT_LANE_HEIGHT, TRACK_HEIGHT } from './layout.ts';
import type { MarkKind } from './model.ts';

/** Where things are on a lane of a height, in pixels from its top. */
export interface LaneMetrics {
  readonly barTop: number;
  readonly barHeight: number;
  /** The middle of marks on the bar, and of those above it. */
  readonly onBar: number;
  readonly above: number;
  /** How tall a block of many marks may be. */
  readonly tallest: number;
  /** Whether there is room for words: their baselines are these. */
  readonly labels: boolean;
  readonly topLine: number;
  readonly besideLine: number;
  readonly belowLine: number;
}

/** A thin line with marks on it, and refusals above. */
const TRACK: LaneMetrics = {
  barTop: 17,
  barHeight: 2,
  onBar: 18,
  above: 7.5,
  tallest: 9,
  labels: false,
  topLine: 0,
  besideLine: 0,
  belowLine: 0,
};
const COMPACT: LaneMetrics = {
  barTop: 12,
  barHeight: 12,
  onBar: 18,
  above: 6,
  tallest: 8,
  labels: false,
  topLine: 0,
  besideLine: 0,
  belowLine: 0,
};
/** Three lines of words, none of which touches another, the marks or the bar. */
const FULL: LaneMetrics = {
  barTop: 26,
  barHeight: 17,
  onBar: 34.5,
  above: 17.5,
  tallest: 13,
  labels: true,
  topLine: 9,
  besideLine: 21,
  belowLine: 54.5,
};

/** The metrics of a lane or a track by its height. */
export function laneMetrics(height: number): LaneMetrics {
  if (height <= TRACK_HEIGHT) return TRACK;
  return height <= COMPACT_LANE_HEIGHT ? COMPACT : FULL;
}

/** The height at which the glyph of a finding stands, for a lane whose top is at `y`. */
export function glyphY(y: number, metrics: LaneMetrics, glyph: MarkKind): number {
  return y + (glyph === 'finding' ? metrics.above : metrics.onBar);
}

/** The height at which a mark of a kind stands. */
export function markY(y: number, metrics: LaneMetrics, kind: number): number {
  return y + (isAboveBar(kind) ? metrics.above : metrics.onBar);
}
