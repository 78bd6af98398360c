import type { Span } from './scale.ts';

/** How wide a text is drawn, in pixels, at a size in pixels. */
export type Measure = (text: string, size: number, mono: boolean) => number;

/** Pixels between two labels of one line. */
const LABEL_GAP_PX = 4;
/** A label that would be shorter than this many characters is left out: it would say nothing. */
const MIN_CHARACTERS = 12;
/** Pixels that words keep from the edges of the view. */
const EDGE_PX = 2;
const ELLIPSIS = '…';
/** The share of its size that a character of a proportional font takes in the mean, and that one of a fixed width takes. */
const PROPORTIONAL = 0.58;
const FIXED = 0.61;
/** From here on characters are about as wide as high: Hangul, CJK, emoji. */
const FIRST_WIDE = 0x1100;

/** A width without a font: what a common font takes at most in the mean of words. */
export const estimateWidth: Measure = (text, size, mono) => {
  let width = 0;
  for (const character of text) {
    const wide = (character.codePointAt(0) ?? 0) >= FIRST_WIDE && !/[\u2000-\u22FF]/u.test(character);
    width += size * (wide ? 1.1 : mono ? FIXED : PROPORTIONAL);
  }
  return width;
};

/** Words of at most so many characters; where there are more, the last of them is an ellipsis. */
export function cut(text: string, characters: number): string {
  const all = Array.from(text);
  return all.length <= characters
    ? text
    : `${all
        .slice(0, characters - 1)
        .join('')
        .trimEnd()}${ELLIPSIS}`;
}

/** The longest beginning of words, cut to at least so many characters, that fits with a tail; undefined where none does. */
export function longestFit(
  text: string,
  tail: string,
  fits: (words: string) => boolean,
  least = 1,
): string | undefined {
  const made = (length: number): string => `${cut(text, length)}${tail}`;
  let low = least;
  let high = Array.from(text).length - 1;
  if (high < low || !fits(made(low))) return undefined;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (fits(made(middle))) low = middle;
    else high = middle - 1;
  }
  return made(low);
}

/** Where a label may stand: from a pixel to the right, to a pixel from the left, or around one. */
export interface Anchor {
  readonly x: number;
  readonly side: 'right' | 'left' | 'around';
}

/** A label that found its place. */
export interface Placed {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** One line of words of one lane: what is placed on it never overlaps, and never leaves the view. */
export class LabelLine {
  private readonly taken: Span[];
  private readonly width: number;

  /** `width`: of the view, in pixels. `taken`: where something else stands already. */
  constructor(width: number, taken: readonly Span[] = []) {
    this.width = width;
    this.taken = [...taken];
  }

  /** Takes a stretch where words would be `width` wide; undefined where they do not fit whole. */
  whole(text: string, width: number, anchor: Anchor): Placed | undefined {
    const from = this.start(width, anchor);
    const span = { from, to: from + width };
    if (from < EDGE_PX || span.to > this.width - EDGE_PX || !this.isFree(span)) return undefined;
    this.taken.push(span);
    return { text, ...span };
  }

  /** The same words cut to what is free beside the anchor; undefined where that is too little to say anything. */
  shortened(text: string, measure: (text: string) => number, anchor: Anchor): Placed | undefined {
    if (anchor.side === 'around') return undefined;
    const room = this.roomAt(anchor);
    const short = longestFit(text, '', (words) => measure(words) <= room, MIN_CHARACTERS);
    return short === undefined ? undefined : this.whole(short, measure(short), anchor);
  }

  private start(width: number, { x, side }: Anchor): number {
    if (side === 'right') return x;
    if (side === 'left') return x - width;
    return Math.max(EDGE_PX, Math.min(this.width - EDGE_PX - width, x - width / 2));
  }

  private isFree(span: Span): boolean {
    return !this.taken.some((other) => other.from < span.to + LABEL_GAP_PX && span.from < other.to + LABEL_GAP_PX);
  }

  private roomAt({ x, side }: Anchor): number {
    let room = (side === 'right' ? this.width - x : x) - EDGE_PX;
    for (const other of this.taken) {
      if (other.from < x + LABEL_GAP_PX && x - LABEL_GAP_PX < other.to) return 0;
      const free = side === 'right' ? other.from - x : x - other.to;
      if (free >= 0) room = Math.min(room, free - LABEL_GAP_PX);
    }
    return room;
  }
}
