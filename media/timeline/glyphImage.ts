import { GLYPHS, type GlyphShape } from '../../src/core/timeline/glyphs.ts';
import type { MarkKind } from '../../src/core/timeline/model.ts';

/** What is no mark: the stroke of a read, and the hatches of a gap. */
const SIGNS = {
  read: { path: 'M0 -4V4', style: 'line', lineWidth: 1.6, radius: 4 },
  gap: { path: 'M-5 -5H5V5H-5ZM-5 0L0 -5M-5 5L5 -5M0 5L5 0', style: 'line', lineWidth: 1, radius: 5 },
} satisfies Record<string, GlyphShape>;

/** The shape of a mark for the page; it takes the colour of its text. */
export function glyphImage(kind: MarkKind): SVGElement {
  return imageOf(GLYPHS[kind]);
}

/** The sign of what is no mark, in the same way. */
export function signImage(sign: keyof typeof SIGNS): SVGElement {
  return imageOf(SIGNS[sign]);
}

function imageOf(shape: GlyphShape): SVGElement {
  const space = 'http://www.w3.org/2000/svg';
  const image = document.createElementNS(space, 'svg');
  for (const [name, value] of Object.entries({
    viewBox: '-8 -8 16 16',
    width: '14',
    height: '14',
    class: 'glyph',
    'aria-hidden': 'true',
  })) {
    image.setAttribute(name, value);
  }
  const path = document.createElementNS(space, 'path');
  path.setAttribute('d', shape.path);
  path.setAttribute('fill', shape.style === 'fill' ? 'currentColor' : 'none');
  path.setAttribute('fill-rule', 'evenodd');
  if (shape.style === 'line') {
    path.setAttribute('stroke', 'currentColor');
    path.setAttribute('stroke-width', String(shape.lineWidth));
    path.setAttribute('stroke-linecap', 'round');
  }
  image.append(path);
  return image;
}
