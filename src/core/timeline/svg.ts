import { GLYPHS } from './glyphs.ts';
import type { MarkKind } from './model.ts';
import type { Picture } from './picture.ts';
import type { SceneArc, SceneBar, SceneSubject, SceneText } from './sceneTypes.ts';
import { arcCurve, ARC_DASH, arcStroke, barShape, DIM_OPACITY, GLYPH_RIM_PX, LAG_PX, TEXT_RIM_PX } from './shapes.ts';
import type { Palette } from './shapes.ts';

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
  for (const x of scene.gridX) parts.push(rect({ x, y: 0, width: 1, height: scene.height }, palette.grid));
  for (const { y, height } of scene.rows)
    parts.push(rect({ x: 0, y: y + height - 1, width: scene.width, height: 1 }, palette.row));
  for (const bar of scene.bars) parts.push(barOf(bar, palette));
  for (const hatch of scene.hatches) parts.push(rect(hatch, 'url(#hatch)'));
  for (const lag of scene.lags) parts.push(rect({ ...lag, height: LAG_PX }, palette.inks.warning, lag.dim));
  const said = (part: SceneSubject, drawn: string): string =>
    inPage === undefined ? drawn : linked(part, drawn, inPage);
  for (const cluster of scene.clusters)
    parts.push(said(cluster, rect(cluster, palette.inks[cluster.kind], cluster.dim)));
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

/** A mark, with a rim of the background that keeps it apart from the bar and from other marks. */
function symbol(kind: MarkKind, palette: Palette): string {
  const { path, style, lineWidth, hollow } = GLYPHS[kind];
  const [ink, background] = [escaped(palette.inks[kind]), escaped(palette.background)];
  const rim = `<path d="${path}" fill="none" stroke="${background}" stroke-width="${n(lineWidth + GLYPH_RIM_PX)}" stroke-linecap="round" stroke-linejoin="round"/>`;
  const paint =
    style === 'fill'
      ? `fill="${ink}" fill-rule="evenodd"`
      : `fill="${hollow === true ? background : 'none'}" stroke="${ink}" stroke-width="${lineWidth}" stroke-linecap="round"`;
  return `<g id="g-${kind}">${rim}<path d="${path}" ${paint}/></g>`;
}

function barOf(bar: SceneBar, palette: Palette): string {
  const { fill, outline, left, right } = barShape(bar, palette);
  const { x, y, width, height } = bar;
  const corner = (radius: number, dx: number, dy: number): string =>
    radius === 0 ? '' : `a${n(radius)} ${n(radius)} 0 0 1 ${n(dx * radius)} ${n(dy * radius)}`;
  const path = `M${n(x + left)} ${n(y)}H${n(x + width - right)}${corner(right, 1, 1)}V${n(y + height - right)}${corner(right, -1, 1)}H${n(x + left)}${corner(left, -1, -1)}V${n(y + left)}${corner(left, 1, -1)}z`;
  const stroke = outline === undefined ? '' : ` stroke="${escaped(outline)}"`;
  return `<path d="${path}" fill="${escaped(fill)}"${stroke}${opacity(bar.dim)}/>`;
}

function rect(box: { x: number; y: number; width: number; height: number }, fill: string, dim?: boolean): string {
  return `<rect x="${n(box.x)}" y="${n(box.y)}" width="${n(box.width)}" height="${n(box.height)}" fill="${escaped(fill)}"${opacity(dim)}/>`;
}

function opacity(dim: boolean | undefined): string {
  return dim === true ? ` opacity="${DIM_OPACITY}"` : '';
}

function arcOf(arc: SceneArc, palette: Palette): string {
  const [x1, y1, ...rest] = arcCurve(arc);
  const { ink, dashed } = arcStroke(arc);
  const dash = dashed ? ` stroke-dasharray="${ARC_DASH.join(' ')}"` : '';
  return `<path d="M${n(x1)} ${n(y1)}C${rest.map(n).join(' ')}" fill="none" stroke="${escaped(palette.inks[ink])}"${dash}/>`;
}

function textOf(text: SceneText, palette: Palette, rimmed = false): string {
  const rim = rimmed
    ? ` stroke="${escaped(palette.background)}" stroke-width="${TEXT_RIM_PX}" stroke-linejoin="round" paint-order="stroke"`
    : '';
  const weight = text.bold === true ? ' font-weight="600"' : '';
  const family = text.mono === true ? ` font-family="${escaped(palette.mono)}"` : '';
  return `<text x="${n(text.x)}" y="${n(text.y)}" font-size="${text.size}" fill="${escaped(palette.inks[text.ink])}"${weight}${family}${rim}${opacity(text.dim)}>${text.full === undefined ? '' : `<title>${escaped(text.full)}</title>`}${escaped(text.text)}</text>`;
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
