import type { Ink, SceneArc, SceneBar } from './sceneTypes.ts';

/** Colours as CSS has them. */
export interface Palette {
  readonly background: string;
  readonly grid: string;
  readonly row: string;
  readonly hatch: string;
  /** One for each incarnation, in turn. */
  readonly bars: readonly string[];
  /** The outline of bars; left out where their colours tell them from the background. */
  readonly outline?: string;
  readonly inks: Readonly<Record<Ink, string>>;
  readonly font: string;
  readonly mono: string;
}

/** How much of its colour a dimmed thing keeps. */
export const DIM_OPACITY = 0.22;
/** The rim of the background, in pixels: around words that lines may lie beneath, and one that keeps marks apart. */
export const TEXT_RIM_PX = 3;
export const GLYPH_RIM_PX = 1.6;
/** How thick the line of a lag is, in pixels. */
export const LAG_PX = 1.5;
/** The dashes of a curve that is not to a winner, in pixels. */
export const ARC_DASH: readonly number[] = [3, 3];

const CORNER_PX = 4;
/** A bar of less height is a line without an outline. */
const MIN_OUTLINED_PX = 4;

/** The colours of a bar, and the radii of its corners at the left and at the right, in pixels: none where an end is open. */
export function barShape(
  { incarnation, width, height, openLeft, openRight }: SceneBar,
  { bars, row, outline }: Palette,
): { readonly fill: string; readonly outline?: string | undefined; readonly left: number; readonly right: number } {
  const fill = bars[incarnation % bars.length] ?? row;
  // Where bars are outlines, a line is as they are.
  if (height < MIN_OUTLINED_PX) return { fill: outline ?? fill, left: 0, right: 0 };
  const radius = Math.min(CORNER_PX, width / 2);
  return { fill, outline, left: openLeft ? 0 : radius, right: openRight ? 0 : radius };
}

/** A Bézier curve: where it begins, its two control points, and where it ends. */
export type Curve = readonly [
  x1: number,
  y1: number,
  fromX: number,
  fromY: number,
  toX: number,
  toY: number,
  x2: number,
  y2: number,
];

/** The curve of an arc: up over the lane, or from row to row. */
export function arcCurve({ kind, across, x1, y1, x2, y2 }: SceneArc): Curve {
  if (kind === 'reference' || across === true) {
    const middle = (y1 + y2) / 2;
    return [x1, y1, x1, middle, x2, middle, x2, y2];
  }
  const peak = Math.min(y1, y2) - (kind === 'read' ? 5 : 0);
  return [x1, y1, x1, peak, (x1 + x2) / 2, peak, x2, y2];
}

/** The ink of an arc, and whether it is dashed. */
export function arcStroke({ kind }: SceneArc): { readonly ink: Ink; readonly dashed: boolean } {
  return { ink: kind === 'reference' ? 'warning' : 'conflict', dashed: kind !== 'winner' };
}
