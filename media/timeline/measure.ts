import type { Measure } from '../../src/core/timeline/labels.ts';
import type { ScreenPalette } from './palette.ts';

/** Widths are remembered for so many texts. */
const MAX_KNOWN = 4000;

/** Measures words in the fonts that they are drawn with; each text once. */
export function measureWith(palette: Pick<ScreenPalette, 'font' | 'mono'>): Measure {
  const context = new OffscreenCanvas(1, 1).getContext('2d');
  const known = new Map<string, number>();
  return (text, size, mono) => {
    const font = `${size}px ${mono ? palette.mono : palette.font}`;
    const key = `${font}\0${text}`;
    const before = known.get(key);
    if (before !== undefined || context === null) return before ?? 0;
    context.font = font;
    const { width } = context.measureText(text);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(key, width);
    return width;
  };
}
