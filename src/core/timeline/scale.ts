/** A stretch of time on a width of pixels. Immutable: panning and zooming give a new one. Times in ms since the epoch. */
export interface TimeScale {
  readonly from: number;
  readonly to: number;
  readonly width: number;
}

/** The shortest and the longest stretch that can be shown: 1 ms and 10 years. */
export const MIN_SPAN_MS = 1;
export const MAX_SPAN_MS = 10 * 365 * 86_400_000;

/** Milliseconds for each pixel. */
export function msPerPixel(scale: TimeScale): number {
  return (scale.to - scale.from) / Math.max(1, scale.width);
}

/** The pixel of a time; may lie outside the width. */
export function xOf(scale: TimeScale, at: number): number {
  return ((at - scale.from) / (scale.to - scale.from)) * scale.width;
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

/** Zooms so that the time under `x` stays there; a factor below 1 shows less time. */
export function zoomed(scale: TimeScale, x: number, factor: number): TimeScale {
  const span = Math.min(MAX_SPAN_MS, Math.max(MIN_SPAN_MS, (scale.to - scale.from) * factor));
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

/** The same stretch on another width. */
export function resized(scale: TimeScale, width: number): TimeScale {
  return { ...scale, width };
}

/** Moves just so far that `at` is inside, with a margin in pixels; the scale itself if it is already. */
export function withTimeInView(scale: TimeScale, at: number, marginPx = Math.min(60, scale.width / 4)): TimeScale {
  const x = xOf(scale, at);
  if (x < marginPx) return panned(scale, x - marginPx);
  if (x > scale.width - marginPx) return panned(scale, x - scale.width + marginPx);
  return scale;
}
