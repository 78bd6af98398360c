/** A stretch of time on a width of pixels. Immutable: panning and zooming give a new one. Times in ms since the epoch. */
export interface TimeScale {
  readonly from: number;
  readonly to: number;
  readonly width: number;
}

/** The shortest and the longest stretch that can be shown: 1 ms and 10 years. */
const MIN_SPAN_MS = 1;
const MAX_SPAN_MS = 10 * 365 * 86_400_000;

/** Milliseconds for each pixel. */
export function msPerPixel(scale: TimeScale): number {
  return (scale.to - scale.from) / Math.max(1, scale.width);
}

/** The pixel of a time; may lie outside the width. */
export function xOf(scale: TimeScale, at: number): number {
  return ((at - scale.from) / (scale.to - scale.from)) * scale.width;
}

/** A stretch in pixels. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** No life and no gap is drawn narrower, however short. */
const MIN_SPAN_PX = 3;

/** Where a stretch of time is drawn: one that has not ended reaches until now. May lie outside the width. */
export function drawnSpan(
  { scale, now }: { readonly scale: TimeScale; readonly now: number },
  { from, to }: { readonly from: number; readonly to?: number },
): Span {
  const x = xOf(scale, from);
  return { from: x, to: Math.max(x + MIN_SPAN_PX, xOf(scale, to ?? now)) };
}

/** The time at a pixel. */
export function timeAt(scale: TimeScale, x: number): number {
  return scale.from + (x / Math.max(1, scale.width)) * (scale.to - scale.from);
}

/** Moves by pixels: what was at `pixels` is at the left edge. */
export function panned(scale: TimeScale, pixels: number): TimeScale {
  const ms = pixels * msPerPixel(scale);
  return { ...scale, from: scale.from + ms, to: scale.to + ms };
}

/**
 * A length of time, in ms, that grows or shrinks by a factor within what can be shown: one that is already beyond, as it holds
 * a whole log, only comes back.
 */
export function zoomedSpan(span: number, factor: number, least = MIN_SPAN_MS): number {
  return Math.min(Math.max(MAX_SPAN_MS, span), Math.max(Math.min(least, span), span * factor));
}

/** A stretch from one time to another, in whichever order, of at least 1 ms. */
export function spanning(scale: TimeScale, a: number, b: number): TimeScale {
  const from = Math.min(a, b);
  return { ...scale, from, to: Math.max(a, b, from + MIN_SPAN_MS) };
}

/** Zooms so that the time under `x` stays there; a factor below 1 shows less time. */
export function zoomed(scale: TimeScale, x: number, factor: number): TimeScale {
  const span = zoomedSpan(scale.to - scale.from, factor);
  const at = timeAt(scale, x);
  const from = at - (x / Math.max(1, scale.width)) * span;
  return { ...scale, from, to: from + span };
}

/** Shows a stretch with a margin of 3 % on both sides; an empty stretch becomes one second. */
export function fitted(from: number, to: number, width: number): TimeScale {
  const span = Math.max(1000, to - from);
  const margin = span * 0.03;
  return { from: from - margin, to: from + span + margin, width };
}

/** Moves just so far that `at` is inside, with a margin in pixels; the scale itself if it is already. */
export function withTimeInView(scale: TimeScale, at: number, marginPx = Math.min(60, scale.width / 4)): TimeScale {
  const x = xOf(scale, at);
  if (x < marginPx) return panned(scale, x - marginPx);
  if (x > scale.width - marginPx) return panned(scale, x - scale.width + marginPx);
  return scale;
}
