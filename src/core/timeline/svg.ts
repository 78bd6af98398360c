import { GLYPHS } from './glyphs.ts';
import type { MarkKind } from './model.ts';
import type { Picture } from './picture.ts';
import type { Ink, SceneArc, SceneBar, SceneSubject, SceneText } from './sceneTypes.ts';

/** Colours as CSS has them. */
export interface Palette {
  readonly background: string;
  readonly grid: string;
  readonly row: string;
  readonly hatch: string;
  /** One for each incarnation, in turn. */
  readonly bars: readonly string[];
  readonly inks: Readonly<Record<Ink, string>>;
  readonly font: string;
  readonly mono: string;
}

/** How much of its colour a dimmed thing keeps. */
export const DIM_OPACITY = 0.22;
/** The rim of the background around words that lines may lie beneath. */
export const TEXT_RIM_PX = 3;

/** A picture inside an HTML page: what a screen reader calls it, and what is said of its parts, and linked to inside the page. */
export interface InPage {
  readonly label: string;
  readonly about: (part: SceneSubject) => { readonly title?: string; readonly target?: string };
}

/**
 * A picture as an SVG document, or as an element of an HTML page: shapes and text only, no script, no style sheet, no link
 * to anywhere else. Pure.
 */
export function svgOf(picture: Picture, palette: Palette, inPage?: InPage): string {
  const { width, height, left, top, scene } = picture;
  const parts = [
    `<svg ${inPage === undefined ? `xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}"` : `role="img" aria-label="${escaped(inPage.label)}"`} viewBox="0 0 ${n(width)} ${n(height)}" font-family="${escaped(palette.font)}">`,
    '<defs>',
    `<pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse"><path d="M-1 8L8 -1M-1 1L1 -1M6 8L8 6" stroke="${escaped(palette.hatch)}" stroke-width="1"/></pattern>`,
    `<clipPath id="lanes"><rect width="${n(scene.width)}" height="${n(scene.height)}"/></clipPath>`,
    ...usedKinds(picture).map((kind) => symbol(kind, palette)),
    '</defs>',
    `<rect width="${n(width)}" height="${n(height)}" fill="${escaped(palette.background)}"/>`,
    `<g transform="translate(${n(left)} ${n(top)})" clip-path="url(#lanes)">`,
  ];
  for (const x of scene.gridX) parts.push(line(x, 0, x, scene.height, palette.grid));
  for (const row of scene.rows) parts.push(line(0, row.y + row.height, scene.width, row.y + row.height, palette.row));
  for (const bar of scene.bars) parts.push(barOf(bar, palette));
  for (const hatch of scene.hatches) parts.push(rect(hatch, 'url(#hatch)'));
  for (const lag of scene.lags) parts.push(line(lag.x, lag.y, lag.x + lag.width, lag.y, palette.inks.warning, lag.dim));
  const said = (part: SceneSubject, drawn: string): string =>
    inPage === undefined ? drawn : linked(part, drawn, inPage);
  for (const cluster of scene.clusters)
    parts.push(said(cluster, rect(cluster, palette.inks[cluster.kind], cluster.dim, 2)));
  for (const arc of scene.arcs) parts.push(arcOf(arc, palette));
  for (const glyph of scene.glyphs) {
    const use = `<use href="#g-${glyph.kind}" x="${n(glyph.x)}" y="${n(glyph.y)}"${opacity(glyph.dim)}/>`;
    parts.push(said(glyph, use));
  }
  for (const text of scene.texts) parts.push(said(text, textOf(text, palette, true)));
  parts.push('</g>');
  for (const text of picture.texts) parts.push(textOf(text, palette));
  parts.push('</svg>');
  return parts.join('\n');
}

/** A part of the drawing with what is said of it, as a link where there is one. */
function linked(part: SceneSubject, drawn: string, { about }: InPage): string {
  const { title, target } = about(part);
  const inside = title === undefined ? drawn : `<g><title>${escaped(title)}</title>${drawn}</g>`;
  return target === undefined ? inside : `<a href="#${escaped(target)}">${inside}</a>`;
}

function usedKinds(picture: Picture): MarkKind[] {
  return Array.from(new Set(picture.scene.glyphs.map((glyph) => glyph.kind))).sort();
}

function symbol(kind: MarkKind, palette: Palette): string {
  const shape = GLYPHS[kind];
  const ink = escaped(palette.inks[kind]);
  const paint =
    shape.style === 'fill'
      ? `fill="${ink}" fill-rule="evenodd"`
      : `fill="${shape.hollow === true ? escaped(palette.background) : 'none'}" stroke="${ink}" stroke-width="${shape.lineWidth}" stroke-linecap="round"`;
  return `<path id="g-${kind}" d="${shape.path}" ${paint}/>`;
}

function barOf(bar: SceneBar, palette: Palette): string {
  const fill = palette.bars[bar.incarnation % palette.bars.length] ?? palette.row;
  return rect(bar, fill, bar.dim, 3);
}

function rect(
  box: { x: number; y: number; width: number; height: number },
  fill: string,
  dim = false,
  radius = 0,
): string {
  const round = radius === 0 ? '' : ` rx="${radius}"`;
  return `<rect x="${n(box.x)}" y="${n(box.y)}" width="${n(box.width)}" height="${n(box.height)}"${round} fill="${escaped(fill)}"${opacity(dim)}/>`;
}

function line(x1: number, y1: number, x2: number, y2: number, stroke: string, dim?: boolean): string {
  return `<path d="M${n(x1)} ${n(y1)}L${n(x2)} ${n(y2)}" stroke="${escaped(stroke)}" fill="none"${opacity(dim)}/>`;
}

function opacity(dim: boolean | undefined): string {
  return dim === true ? ` opacity="${DIM_OPACITY}"` : '';
}

/** The curve of an arc as path data: up over the lane, or from lane to lane. */
export function arcPath(arc: SceneArc): string {
  const { x1, y1, x2, y2 } = arc;
  if (arc.kind === 'reference' || arc.across === true) {
    const middle = (y1 + y2) / 2;
    return `M${n(x1)} ${n(y1)}C${n(x1)} ${n(middle)} ${n(x2)} ${n(middle)} ${n(x2)} ${n(y2)}`;
  }
  const peak = Math.min(y1, y2) - (arc.kind === 'read' ? 5 : 0);
  return `M${n(x1)} ${n(y1)}C${n(x1)} ${n(peak)} ${n((x1 + x2) / 2)} ${n(peak)} ${n(x2)} ${n(y2)}`;
}

function arcOf(arc: SceneArc, palette: Palette): string {
  const stroke = escaped(arc.kind === 'reference' ? palette.inks.warning : palette.inks.conflict);
  const dash = arc.kind === 'winner' ? '' : ' stroke-dasharray="3 3"';
  return `<path d="${arcPath(arc)}" fill="none" stroke="${stroke}"${dash}/>`;
}

function textOf(text: SceneText, palette: Palette, rimmed = false): string {
  const rim = rimmed
    ? ` stroke="${escaped(palette.background)}" stroke-width="${TEXT_RIM_PX}" stroke-linejoin="round" paint-order="stroke"`
    : '';
  const anchor = text.anchor === undefined ? '' : ` text-anchor="${text.anchor}"`;
  const weight = text.bold === true ? ' font-weight="600"' : '';
  const family = text.mono === true ? ` font-family="${escaped(palette.mono)}"` : '';
  return `<text x="${n(text.x)}" y="${n(text.y)}" font-size="${text.size}" fill="${escaped(palette.inks[text.ink])}"${anchor}${weight}${family}${rim}${opacity(text.dim)}>${text.full === undefined ? '' : `<title>${escaped(text.full)}</title>`}${escaped(text.text)}</text>`;
}

/** A number without noise: two decimals at most. */
function n(value: number): string {
  return String(Math.round(value * 100) / 100);
}

const NOT_IN_XML = /[[\p{Cc}\p{Cs}\uFFFE\uFFFF]--[\t\n\r]]/gv;

/** Text for XML: what comes from a cluster cannot become markup. */
function escaped(text: string): string {
  return text
    .replaceAll(NOT_IN_XML, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
