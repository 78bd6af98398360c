import { element } from '../common/dom.ts';

/** A canvas that follows the size of its box and the pixel ratio of the screen. */
export class SizedCanvas {
  readonly canvas = element('canvas', { attributes: { 'aria-hidden': 'true' } });
  readonly context: CanvasRenderingContext2D;
  width = 0;
  height = 0;
  ratio = 1;

  constructor(className: string) {
    this.canvas.className = className;
    const context = this.canvas.getContext('2d');
    if (context === null) throw new Error('This browser has no canvas.');
    this.context = context;
  }

  /** Takes a size in CSS pixels. */
  resize(width: number, height: number): void {
    const ratio = window.devicePixelRatio;
    if (width === this.width && height === this.height && ratio === this.ratio) return;
    this.width = width;
    this.height = height;
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.ceil(width * ratio));
    this.canvas.height = Math.max(1, Math.ceil(height * ratio));
    // A pixel of it is one of the screen, also at 125 %: stretched to the box, or between pixels, it would be blurred.
    const { left = 0, top = 0 } = this.canvas.parentElement?.getBoundingClientRect() ?? {};
    this.canvas.style.left = `${snapped(left, ratio) - left}px`;
    this.canvas.style.top = `${snapped(top, ratio) - top}px`;
    this.canvas.style.width = `${this.canvas.width / ratio}px`;
    this.canvas.style.height = `${this.canvas.height / ratio}px`;
  }

  /** Clears all, in CSS pixels from now on, and as fine as the screen is now. */
  clear(colour?: string): CanvasRenderingContext2D {
    this.resize(this.width, this.height);
    const { context, ratio } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [width, height] = [this.canvas.width / ratio, this.canvas.height / ratio];
    if (colour === undefined) context.clearRect(0, 0, width, height);
    else {
      context.fillStyle = colour;
      context.fillRect(0, 0, width, height);
    }
    return context;
  }

  /** A line from a height down to the end, one pixel wide, with sharp edges. */
  line(x: number, top = 0): void {
    const { context, ratio, height } = this;
    context.fillRect(snapped(x, ratio), top, snapped(1, ratio), height);
  }
}

/** To a whole pixel of the device, so that edges are sharp and copying is fast. */
export function snapped(value: number, ratio: number): number {
  return Math.round(value * ratio) / ratio;
}
