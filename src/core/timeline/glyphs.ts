import type { MarkKind } from './model.ts';

/** The shape of a mark around (0, 0): SVG path data, which Path2D reads too. Shapes differ, so colour is never alone. */
export interface GlyphShape {
  readonly path: string;
  /** Filled, or drawn as a line of this width over the background. */
  readonly style: 'fill' | 'line';
  readonly lineWidth: number;
  /** A line whose inside hides what lies beneath. */
  readonly hollow?: boolean;
  /** Half of its extent in pixels, for hits and spacing. */
  readonly radius: number;
}

const circle = (r: number): string => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
const diamond = (r: number): string => `M0 ${-r}L${r} 0L0 ${r}L${-r} 0z`;
const filled = (path: string, radius: number): GlyphShape => ({ path, style: 'fill', lineWidth: 0, radius });
const lined = (path: string, radius: number, lineWidth = 1.6): GlyphShape => ({
  path,
  style: 'line',
  lineWidth,
  radius,
});

/** The shapes: dots for versions, diamonds for refusals, triangles and hexagons for what was lost or taken. */
export const GLYPHS: Readonly<Record<MarkKind, GlyphShape>> = {
  renewal: filled(circle(1.6), 2),
  metadata: filled(circle(1.9), 2),
  status: { ...lined(circle(3.3), 4), hollow: true },
  unknown: { ...lined(circle(2.4), 3, 1.2), hollow: true },
  spec: filled(circle(4.5), 5),
  created: filled(`${circle(4.5)}M-1.9 -0.7v1.4h1.2v1.2h1.4v-1.2h1.2v-1.4h-1.2v-1.2h-1.4v1.2z`, 5),
  terminating: lined('M-3 -3L3 3M3 -3L-3 3', 4),
  deleted: filled('M-4 -5.2h8v10.4h-8zM-2.2 -3.2v6.4h4.4v-6.4z', 5),
  note: filled('M-3.5 -5h7v6.5h-3.4l-2.2 3v-3h-1.4z', 5),
  refused: lined('M-3.4 -3.4L3.4 3.4M3.4 -3.4L-3.4 3.4', 5, 2.2),
  uncertain: lined('M-2.6 -2.6a2.7 2.7 0 1 1 3.6 2.9q-1 .4 -1 1.6M0 4.2v.6', 5, 1.8),
  conflict: filled(diamond(6), 6),
  'uid-mismatch': filled('M-5.5 0L0 -5.5V5.5zM1.4 -4.1L5.5 0L1.4 4.1z', 6),
  'field-conflict': filled('M0 -6L6 0H1v1.4h3.6L0 6L-4.6 1.4H-1V0h-5z', 6),
  takeover: filled('M-5.5 -1.6H0V-5.5L6 0L0 5.5V1.6h-5.5z', 6),
  'stale-reference': lined(circle(6), 7, 2),
  'lost-update': filled('M0 -6.6L7 6H-7z', 7),
  finding: filled('M-3.5 -6h7l3.5 6l-3.5 6h-7l-3.5 -6zM-.9 -3.6v4.6h1.8v-4.6zM-.9 2v1.8h1.8V2z', 7),
};
