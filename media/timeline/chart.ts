import { hitTest, type Hit } from '../../src/core/timeline/hitTest.ts';
import { glyphY, laneMetrics, markY } from '../../src/core/timeline/laneMetrics.ts';
import { durationText, preciseTimeText } from '../../src/core/timeline/axis.ts';
import { timeAt, xOf } from '../../src/core/timeline/scale.ts';
import { sceneOf } from '../../src/core/timeline/scene.ts';
import { readY } from '../../src/core/timeline/trackScene.ts';
import { element } from '../common/dom.ts';
import { SizedCanvas } from './canvas.ts';
import { measureWith } from './measure.ts';
import { Painter } from './painter.ts';
import type { ScreenPalette } from './palette.ts';
import { Tooltip } from './tooltip.ts';
import { sceneInput } from './sceneInput.ts';
import type { TimelineView } from './view.ts';

const SCROLL_PX = 5;
/** The ring around what is selected. */
const MARK_RING_PX = 11;
const READ_RING_PX = 5;

/**
 * The lanes: one canvas for the scene, and one above it for what follows the pointer, so that moving it redraws nothing
 * else.
 */
export class Chart {
  readonly root = element('div', {
    class: 'chart',
    attributes: { tabindex: '0', role: 'application', 'aria-describedby': 'timeline-keys' },
  });
  private readonly view: TimelineView;
  private readonly base = new SizedCanvas('base');
  private readonly overlay = new SizedCanvas('overlay');
  private readonly tooltip: Tooltip;
  private painter: Painter | undefined;
  private palette: ScreenPalette;
  private hit: Hit | undefined;

  constructor(view: TimelineView, palette: ScreenPalette) {
    this.view = view;
    this.palette = palette;
    view.textWidth = measureWith(palette);
    this.tooltip = new Tooltip(view);
    this.root.append(this.base.canvas, this.overlay.canvas, this.tooltip.root);
  }

  /** Takes another theme. */
  setPalette(palette: ScreenPalette): void {
    this.palette = palette;
    this.view.textWidth = measureWith(palette);
    this.painter = undefined;
  }

  /** Takes the size of the box. */
  resize(): void {
    const { clientWidth, clientHeight } = this.root;
    this.base.resize(clientWidth, clientHeight);
    this.overlay.resize(clientWidth, clientHeight);
    this.view.resize(clientWidth, clientHeight);
  }

  /** What is at a place of the chart. */
  hitAt(x: number, y: number): Hit | undefined {
    return hitTest(sceneInput(this.view), { x, y });
  }

  /** Draws the scene. */
  drawScene(): void {
    const context = this.base.clear(this.palette.background);
    if (this.painter?.ratio !== this.base.ratio) this.painter = undefined;
    this.painter ??= new Painter(context, this.palette, this.base.ratio);
    this.painter.paint(context, sceneOf(sceneInput(this.view)));
  }

  /** Draws what follows the pointer and the selection. */
  drawOverlay(): void {
    const context = this.overlay.clear();
    const { pointer } = this.view;
    this.hit = pointer === undefined ? undefined : this.hitAt(pointer.x, pointer.y);
    this.drawReplay(context);
    this.drawMeasure(context);
    this.drawCrosshair(context);
    const { hit } = this;
    const isOver = hit?.type === 'cell' || hit?.type === 'annotation' || hit?.type === 'read';
    if (isOver) this.ring(context, hit.x, hit.y, hit.type === 'read' ? READ_RING_PX - 1 : 9, 1);
    this.drawSelection(context);
    this.drawScroll(context);
    this.tooltip.show(this.hit, pointer);
    this.root.classList.toggle('over-mark', isOver);
  }

  /** What the pointer is on. */
  get hovered(): Hit | undefined {
    return this.hit;
  }

  /** How far down the lanes one is, where there are more than fit. */
  private drawScroll(context: CanvasRenderingContext2D): void {
    const { layout, height, top, scale } = this.view;
    if (layout.height <= height) return;
    const length = Math.max(SCROLL_PX * 4, (height * height) / layout.height);
    const y = (top / (layout.height - height)) * (height - length);
    context.fillStyle = this.palette.inks.muted;
    context.globalAlpha = 0.6;
    context.beginPath();
    context.roundRect(scale.width - SCROLL_PX - 1, y, SCROLL_PX, length, SCROLL_PX / 2);
    context.fill();
    context.globalAlpha = 1;
  }

  private drawCrosshair(context: CanvasRenderingContext2D): void {
    const { pointer, scale, settings, measure } = this.view;
    if (pointer === undefined || measure !== undefined) return;
    context.fillStyle = this.palette.selection;
    context.globalAlpha = 0.45;
    this.overlay.line(pointer.x);
    context.globalAlpha = 1;
    this.flag(context, pointer.x, 0, preciseTimeText(timeAt(scale, pointer.x), settings.timeZoneOffsetMin));
  }

  /** Words on a small plate that stays inside the chart. */
  private flag(context: CanvasRenderingContext2D, x: number, y: number, text: string): void {
    context.font = `11px ${this.palette.font}`;
    const width = context.measureText(text).width + 10;
    const left = Math.max(2, Math.min(this.overlay.width - width - 2, x - width / 2));
    context.fillStyle = this.palette.panel;
    context.strokeStyle = this.palette.grid;
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(left, y + 1.5, width, 18, 3);
    context.fill();
    context.stroke();
    context.fillStyle = this.palette.inks.text;
    context.textAlign = 'left';
    context.fillText(text, left + 5, y + 14);
  }

  private drawMeasure(context: CanvasRenderingContext2D): void {
    const { measure, scale } = this.view;
    if (measure === undefined) return;
    const x1 = xOf(scale, Math.min(measure.from, measure.to));
    const x2 = xOf(scale, Math.max(measure.from, measure.to));
    context.fillStyle = this.palette.measure;
    context.fillRect(x1, 0, x2 - x1, this.overlay.height);
    context.fillStyle = this.palette.selection;
    this.overlay.line(x1);
    this.overlay.line(x2);
    // Below, where the names of groups do not reach over the lanes, and above the words of the replay.
    this.flag(context, (x1 + x2) / 2, this.overlay.height - 46, this.measureWords(measure));
  }

  /** How long what is measured takes, and how many events are in it. */
  measureWords({ from, to }: { readonly from: number; readonly to: number }): string {
    return this.view.translate('{0} · {1} events · Enter zooms', durationText(to - from), this.countBetween(from, to));
  }

  private countBetween(a: number, b: number): number {
    const { store, match } = this.view;
    const { at, lane } = store.marks;
    const [from, to] = [Math.min(a, b), Math.max(a, b)];
    let count = 0;
    // Straight through the columns: to put the marks of all lanes in order would cost far more than to look at each.
    for (let mark = 0; mark < store.marks.length; mark += 1) {
      const time = at.at(mark);
      if (time >= from && time <= to && match.lanes[lane.at(mark)] === 1 && match.marks?.[mark] !== 0) count += 1;
    }
    return count;
  }

  private drawReplay(context: CanvasRenderingContext2D): void {
    const { scrubAt, scale, settings, translate } = this.view;
    if (scrubAt === undefined) return;
    const x = xOf(scale, scrubAt);
    context.fillStyle = this.palette.background;
    context.globalAlpha = 0.62;
    context.fillRect(Math.max(0, x), 0, this.overlay.width, this.overlay.height);
    context.globalAlpha = 1;
    context.fillStyle = this.palette.inks.spec;
    context.fillRect(Math.round(x) - 1, 0, 2, this.overlay.height);
    this.flag(
      context,
      x,
      this.overlay.height - 22,
      translate('as of {0}', preciseTimeText(scrubAt, settings.timeZoneOffsetMin)),
    );
  }

  private drawSelection(context: CanvasRenderingContext2D): void {
    const place = this.selectedPlace();
    if (place === undefined) return;
    context.fillStyle = this.palette.selection;
    context.globalAlpha = 0.5;
    this.overlay.line(place.x);
    context.globalAlpha = 1;
    this.ring(context, place.x, place.y, place.radius, 1.6);
  }

  private ring(context: CanvasRenderingContext2D, x: number, y: number, radius: number, width: number): void {
    context.beginPath();
    context.arc(x, y, radius, 0, Math.PI * 2);
    context.lineWidth = width;
    context.strokeStyle = this.palette.selection;
    context.stroke();
  }

  /** Where the selection is drawn; undefined where its lane is not laid out. */
  private selectedPlace(): { x: number; y: number; radius: number } | undefined {
    const { selection, layout, scale, store, top } = this.view;
    const at = this.view.selectedAt();
    if (selection === undefined || at === undefined) return undefined;
    const row = layout.rows[this.view.selectedRow() ?? -1];
    if (row === undefined) return undefined;
    const metrics = laneMetrics(row.height);
    const y = row.y - top;
    const x = xOf(scale, at);
    if (selection.type === 'read') {
      // On the row of its object a read has no stroke.
      return { x, y: row.type === 'track' ? readY(y, metrics) : y + metrics.onBar, radius: READ_RING_PX };
    }
    const middle =
      selection.type === 'mark'
        ? markY(y, metrics, store.marks.kind.at(selection.mark))
        : glyphY(y, metrics, selection.annotation.glyph ?? 'finding');
    return { x, y: middle, radius: MARK_RING_PX };
  }
}
