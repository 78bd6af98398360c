import { GLYPHS } from '../../src/core/timeline/glyphs.ts';
import type { MarkKind } from '../../src/core/timeline/model.ts';
import type { Picture } from '../../src/core/timeline/picture.ts';
import type { Scene, SceneBar, SceneText } from '../../src/core/timeline/sceneTypes.ts';
import { arcPath, DIM_OPACITY, TEXT_RIM_PX } from '../../src/core/timeline/svg.ts';
import type { ScreenPalette } from './palette.ts';

const SPRITE_PX = 20;
/** A bar of less height is a line without an outline. */
const MIN_OUTLINED_PX = 4;

/**
 * Draws scenes on a canvas. Marks are drawn from sprites made once for each theme and pixel ratio: copying small images is
 * what a canvas without a GPU does fastest.
 */
export class Painter {
  private readonly palette: ScreenPalette;
  private readonly ratio: number;
  private readonly sprites = new Map<MarkKind, CanvasImageSource>();
  private readonly hatch: CanvasPattern | null;

  constructor(context: CanvasRenderingContext2D, palette: ScreenPalette, ratio: number) {
    this.palette = palette;
    this.ratio = ratio;
    for (const kind of Object.keys(GLYPHS) as MarkKind[]) this.sprites.set(kind, sprite(kind, palette, ratio));
    this.hatch = context.createPattern(hatchTile(palette, ratio), 'repeat');
    this.hatch?.setTransform(new DOMMatrix().scale(1 / ratio));
  }

  /** Draws a scene over whatever is there; (0, 0) is the top left of the lanes. */
  paint(context: CanvasRenderingContext2D, scene: Scene): void {
    const { palette } = this;
    context.fillStyle = palette.grid;
    for (const x of scene.gridX) context.fillRect(this.snap(x), 0, 1, scene.height);
    context.fillStyle = palette.row;
    for (const row of scene.rows) context.fillRect(0, this.snap(row.y + row.height) - 1, scene.width, 1);
    for (const bar of scene.bars) this.bar(context, bar);
    this.hatches(context, scene);
    context.fillStyle = palette.inks.warning;
    for (const lag of scene.lags) {
      context.globalAlpha = lag.dim === true ? DIM_OPACITY : 1;
      context.fillRect(lag.x, lag.y, lag.width, 1.5);
    }
    context.globalAlpha = 1;
    this.clusters(context, scene);
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
    const { bars, contrast } = this.palette;
    context.globalAlpha = bar.dim ? DIM_OPACITY : 1;
    context.fillStyle = bars[bar.incarnation % bars.length] ?? contrast;
    if (bar.height < MIN_OUTLINED_PX) {
      // A line: where bars are outlines, it is as they are.
      if (!isClear(contrast)) context.fillStyle = contrast;
      context.fillRect(bar.x, this.snap(bar.y), bar.width, bar.height);
      context.globalAlpha = 1;
      return;
    }
    const left = bar.openLeft ? 0 : 4;
    const right = bar.openRight ? 0 : 4;
    context.beginPath();
    context.roundRect(bar.x, bar.y, bar.width, bar.height, [left, right, right, left]);
    context.fill();
    if (!isClear(contrast)) {
      context.strokeStyle = contrast;
      context.lineWidth = 1;
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  private hatches(context: CanvasRenderingContext2D, scene: Scene): void {
    if (this.hatch === null) return;
    context.fillStyle = this.hatch;
    for (const hatch of scene.hatches) context.fillRect(hatch.x, hatch.y, hatch.width, hatch.height);
  }

  private clusters(context: CanvasRenderingContext2D, scene: Scene): void {
    let kind: MarkKind | undefined;
    let dim = false;
    for (const cluster of scene.clusters) {
      if (cluster.kind !== kind) {
        ({ kind } = cluster);
        context.fillStyle = this.palette.inks[kind];
      }
      if (cluster.dim !== dim) {
        ({ dim } = cluster);
        context.globalAlpha = dim ? DIM_OPACITY : 1;
      }
      context.fillRect(this.snap(cluster.x), this.snap(cluster.y), cluster.width, cluster.height);
    }
    context.globalAlpha = 1;
  }

  private glyphs(context: CanvasRenderingContext2D, scene: Scene): void {
    let dim = false;
    for (const glyph of scene.glyphs) {
      const image = this.sprites.get(glyph.kind);
      if (image === undefined) continue;
      if (glyph.dim !== dim) {
        ({ dim } = glyph);
        context.globalAlpha = dim ? DIM_OPACITY : 1;
      }
      context.drawImage(
        image,
        this.snap(glyph.x - SPRITE_PX / 2),
        this.snap(glyph.y - SPRITE_PX / 2),
        SPRITE_PX,
        SPRITE_PX,
      );
    }
    context.globalAlpha = 1;
  }

  private arcs(context: CanvasRenderingContext2D, scene: Scene): void {
    context.lineWidth = 1;
    for (const arc of scene.arcs) {
      context.strokeStyle = arc.kind === 'reference' ? this.palette.inks.warning : this.palette.inks.conflict;
      context.setLineDash(arc.kind === 'winner' ? [] : [3, 3]);
      context.stroke(new Path2D(arcPath(arc)));
    }
    context.setLineDash([]);
  }

  /** Words; with a rim of the background where lines may lie beneath them. */
  private texts(context: CanvasRenderingContext2D, texts: readonly SceneText[], rimmed = false): void {
    let font = '';
    context.strokeStyle = this.palette.background;
    context.lineWidth = TEXT_RIM_PX;
    context.lineJoin = 'round';
    for (const text of texts) {
      const next = `${text.bold === true ? '600 ' : ''}${text.size}px ${text.mono === true ? this.palette.mono : this.palette.font}`;
      if (next !== font) {
        font = next;
        context.font = font;
      }
      context.textAlign = text.anchor === 'middle' ? 'center' : (text.anchor ?? 'start');
      context.fillStyle = this.palette.inks[text.ink];
      if (rimmed) context.strokeText(text.text, text.x, text.y);
      context.globalAlpha = text.dim === true ? DIM_OPACITY : 1;
      context.fillText(text.text, text.x, text.y);
      context.globalAlpha = 1;
    }
    context.globalAlpha = 1;
  }

  /** To a whole pixel of the device, so that edges are sharp and copying is fast. */
  private snap(value: number): number {
    return Math.round(value * this.ratio) / this.ratio;
  }
}

function sprite(kind: MarkKind, palette: ScreenPalette, ratio: number): CanvasImageSource {
  const canvas = new OffscreenCanvas(Math.ceil(SPRITE_PX * ratio), Math.ceil(SPRITE_PX * ratio));
  const context = canvas.getContext('2d');
  const shape = GLYPHS[kind];
  if (context === null) return canvas;
  context.scale(ratio, ratio);
  context.translate(SPRITE_PX / 2, SPRITE_PX / 2);
  const path = new Path2D(shape.path);
  // A rim of the background keeps marks apart from the bar and from one another.
  context.strokeStyle = palette.background;
  context.lineJoin = 'round';
  context.lineCap = 'round';
  context.lineWidth = shape.style === 'fill' ? 1.6 : shape.lineWidth + 1.6;
  context.stroke(path);
  if (shape.style === 'fill') {
    context.fillStyle = palette.inks[kind];
    fillEvenOdd(context, path);
  } else {
    context.fillStyle = palette.background;
    if (shape.hollow === true) fillEvenOdd(context, path);
    context.strokeStyle = palette.inks[kind];
    context.lineWidth = shape.lineWidth;
    context.stroke(path);
  }
  return canvas;
}

function fillEvenOdd(context: OffscreenCanvasRenderingContext2D, path: Path2D): void {
  context.fill(path, 'evenodd');
}

function hatchTile(palette: ScreenPalette, ratio: number): OffscreenCanvas {
  const size = Math.round(7 * ratio);
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

function isClear(colour: string): boolean {
  return colour === 'transparent' || /^rgba\(.*, 0\)$/.test(colour);
}
