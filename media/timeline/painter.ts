import { GLYPHS } from '../../src/core/timeline/glyphs.ts';
import type { MarkKind } from '../../src/core/timeline/model.ts';
import type { Picture } from '../../src/core/timeline/picture.ts';
import type { Scene, SceneBar, SceneText } from '../../src/core/timeline/sceneTypes.ts';
import {
  arcCurve,
  ARC_DASH,
  arcStroke,
  barShape,
  DIM_OPACITY,
  GLYPH_RIM_PX,
  LAG_PX,
  TEXT_RIM_PX,
} from '../../src/core/timeline/shapes.ts';
import { snapped } from './canvas.ts';
import type { ScreenPalette } from './palette.ts';

/** The side of the square that a mark is drawn on, in CSS pixels; on the screen it ends at a whole pixel. */
const SPRITE_PX = 20;
const HATCH_PX = 7;

/**
 * Draws scenes on a canvas. Marks are drawn from sprites made once for each theme and pixel ratio: copying small images is
 * what a canvas without a GPU does fastest.
 */
export class Painter {
  readonly ratio: number;
  private readonly palette: ScreenPalette;
  private readonly sprites = new Map<MarkKind, OffscreenCanvas>();
  private readonly hatch: CanvasPattern | null;

  /** `ratio`: pixels of the device for each CSS pixel. */
  constructor(context: CanvasRenderingContext2D, palette: ScreenPalette, ratio: number) {
    this.palette = palette;
    this.ratio = ratio;
    for (const kind of Object.keys(GLYPHS) as MarkKind[]) this.sprites.set(kind, sprite(kind, palette, ratio));
    this.hatch = context.createPattern(hatchTile(palette, ratio), 'repeat');
    this.hatch?.setTransform(new DOMMatrix().scale(1 / ratio));
  }

  /** Draws a scene over whatever is there; (0, 0) is the top left of the lanes. */
  paint(context: CanvasRenderingContext2D, scene: Scene): void {
    const { inks, grid, row } = this.palette;
    context.fillStyle = grid;
    for (const x of scene.gridX) this.box(context, { x, y: 0, width: 1, height: scene.height });
    context.fillStyle = row;
    for (const { y, height } of scene.rows)
      this.box(context, { x: 0, y: y + height - 1, width: scene.width, height: 1 });
    for (const bar of scene.bars) this.bar(context, bar);
    if (this.hatch !== null) {
      context.fillStyle = this.hatch;
      for (const hatch of scene.hatches) this.box(context, hatch);
    }
    context.fillStyle = inks.warning;
    for (const lag of scene.lags) {
      dim(context, lag.dim);
      this.box(context, { ...lag, height: LAG_PX });
    }
    for (const cluster of scene.clusters) {
      dim(context, cluster.dim);
      context.fillStyle = inks[cluster.kind];
      this.box(context, cluster);
    }
    dim(context, false);
    this.arcs(context, scene);
    this.glyphs(context, scene);
    this.texts(context, scene.texts, isCrossed(scene));
  }

  /** Draws a picture to be saved. */
  paintPicture(context: CanvasRenderingContext2D, picture: Picture): void {
    context.fillStyle = this.palette.background;
    context.fillRect(0, 0, picture.width, picture.height);
    context.save();
    context.translate(picture.left, picture.top);
    context.beginPath();
    context.rect(0, 0, picture.scene.width, picture.scene.height);
    context.clip();
    this.paint(context, picture.scene);
    context.restore();
    this.texts(context, picture.texts);
  }

  private bar(context: CanvasRenderingContext2D, bar: SceneBar): void {
    const { fill, outline, left, right } = barShape(bar, this.palette);
    dim(context, bar.dim);
    context.fillStyle = fill;
    context.beginPath();
    context.roundRect(bar.x, this.snap(bar.y), bar.width, bar.height, [left, right, right, left]);
    context.fill();
    if (outline !== undefined) {
      context.strokeStyle = outline;
      context.lineWidth = 1;
      context.stroke();
    }
    dim(context, false);
  }

  private glyphs(context: CanvasRenderingContext2D, { glyphs }: Scene): void {
    for (const glyph of glyphs) {
      const image = this.sprites.get(glyph.kind);
      if (image === undefined) continue;
      dim(context, glyph.dim);
      // As large as it is: an image that is scaled is blurred.
      const size = image.width / this.ratio;
      const [x, y] = [this.snap(glyph.x - SPRITE_PX / 2), this.snap(glyph.y - SPRITE_PX / 2)];
      context.drawImage(image, x, y, size, size);
    }
    dim(context, false);
  }

  private arcs(context: CanvasRenderingContext2D, { arcs }: Scene): void {
    context.lineWidth = 1;
    for (const arc of arcs) {
      const [x1, y1, ...rest] = arcCurve(arc);
      const { ink, dashed } = arcStroke(arc);
      context.strokeStyle = this.palette.inks[ink];
      context.setLineDash(dashed ? ARC_DASH : []);
      context.beginPath();
      context.moveTo(x1, y1);
      context.bezierCurveTo(...rest);
      context.stroke();
    }
    context.setLineDash([]);
  }

  /** Words; with a rim of the background where lines may lie beneath them. */
  private texts(context: CanvasRenderingContext2D, texts: readonly SceneText[], rimmed = false): void {
    let font = '';
    context.strokeStyle = this.palette.background;
    context.lineWidth = TEXT_RIM_PX;
    context.lineJoin = 'round';
    context.textAlign = 'left';
    for (const text of texts) {
      const next = `${text.bold === true ? '600 ' : ''}${text.size}px ${text.mono === true ? this.palette.mono : this.palette.font}`;
      if (next !== font) {
        font = next;
        context.font = font;
      }
      context.fillStyle = this.palette.inks[text.ink];
      if (rimmed) context.strokeText(text.text, text.x, text.y);
      dim(context, text.dim);
      context.fillText(text.text, text.x, text.y);
      dim(context, false);
    }
  }

  /** A box whose edges are sharp; boxes of one size stay of one size. */
  private box(
    context: CanvasRenderingContext2D,
    { x, y, width, height }: { x: number; y: number; width: number; height: number },
  ): void {
    context.fillRect(this.snap(x), this.snap(y), this.snap(width), this.snap(height));
  }

  private snap(value: number): number {
    return snapped(value, this.ratio);
  }
}

function dim(context: CanvasRenderingContext2D, isDim: boolean | undefined): void {
  context.globalAlpha = isDim === true ? DIM_OPACITY : 1;
}

function sprite(kind: MarkKind, palette: ScreenPalette, ratio: number): OffscreenCanvas {
  const canvas = new OffscreenCanvas(Math.ceil(SPRITE_PX * ratio), Math.ceil(SPRITE_PX * ratio));
  const context = canvas.getContext('2d');
  const { path: data, style, lineWidth, hollow } = GLYPHS[kind];
  if (context === null) return canvas;
  context.scale(ratio, ratio);
  context.translate(SPRITE_PX / 2, SPRITE_PX / 2);
  const path = new Path2D(data);
  context.strokeStyle = palette.background;
  context.lineJoin = 'round';
  context.lineCap = 'round';
  context.lineWidth = lineWidth + GLYPH_RIM_PX;
  context.stroke(path);
  context.fillStyle = style === 'fill' ? palette.inks[kind] : palette.background;
  if (style === 'fill' || hollow === true) fillEvenOdd(context, path);
  if (style === 'line') {
    context.strokeStyle = palette.inks[kind];
    context.lineWidth = lineWidth;
    context.stroke(path);
  }
  return canvas;
}

function fillEvenOdd(context: OffscreenCanvasRenderingContext2D, path: Path2D): void {
  context.fill(path, 'evenodd');
}

function hatchTile(palette: ScreenPalette, ratio: number): OffscreenCanvas {
  const size = Math.round(HATCH_PX * ratio);
  const canvas = new OffscreenCanvas(size, size);
  const context = canvas.getContext('2d');
  if (context === null) return canvas;
  context.strokeStyle = palette.hatch;
  context.lineWidth = ratio;
  context.beginPath();
  for (const shift of [-size, 0, size]) {
    context.moveTo(shift - 1, size + 1);
    context.lineTo(shift + size + 1, -1);
  }
  context.stroke();
  return canvas;
}

/** Whether anything lies beneath words: a rim around each of them costs time. */
function isCrossed({ arcs, hatches }: Scene): boolean {
  return (
    arcs.some(({ across, kind }) => across === true || kind === 'reference') ||
    hatches.some(({ kind }) => kind === 'gap')
  );
}
