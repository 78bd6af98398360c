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

  /** Takes a size in CSS pixels; true where it is another one now. */
  resize(width: number, height: number): boolean {
    const ratio = window.devicePixelRatio;
    if (width === this.width && height === this.height && ratio === this.ratio) return false;
    this.width = width;
    this.height = height;
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    return true;
  }

  /** Clears all, in CSS pixels from now on. */
  clear(colour?: string): CanvasRenderingContext2D {
    const { context, ratio } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (colour === undefined) context.clearRect(0, 0, this.width, this.height);
    else {
      context.fillStyle = colour;
      context.fillRect(0, 0, this.width, this.height);
    }
    return context;
  }
}
