import { ticksOf } from '../../src/core/timeline/axis.ts';
import { spanning, timeAt, xOf, type TimeScale } from '../../src/core/timeline/scale.ts';
import { element } from '../common/dom.ts';
import { SizedCanvas } from './canvas.ts';
import type { ScreenPalette } from './palette.ts';
import { drag, DRAG_PX, wheelZoom } from './pointer.ts';
import type { TimelineView } from './view.ts';

const COLUMN_PX = 6;
/** The window is never drawn narrower. */
const MIN_WINDOW_PX = 3;

/** All of the log in one strip, how busy it was and where it went wrong, with the window that is shown; and the time axis. */
export class Minimap {
  readonly root = element('div', { class: 'minimap' });
  readonly axis = element('div', { class: 'axis' });
  private readonly strip = new SizedCanvas('strip');
  private readonly lines = new SizedCanvas('lines');
  private readonly view: TimelineView;
  private palette: ScreenPalette;

  constructor(view: TimelineView, palette: ScreenPalette, onScrub: (at: number) => void) {
    this.view = view;
    this.palette = palette;
    this.root.append(this.strip.canvas);
    this.axis.append(this.lines.canvas);
    this.listenToWindow();
    this.axis.addEventListener('pointerdown', (down) => {
      if (down.button !== 0) return;
      const scrub = (event: PointerEvent): void =>
        onScrub(timeAt(this.view.scale, event.clientX - this.axis.getBoundingClientRect().left));
      scrub(down);
      drag(this.axis, down, scrub);
    });
  }

  setPalette(palette: ScreenPalette): void {
    this.palette = palette;
  }

  resize(): void {
    this.strip.resize(this.root.clientWidth, this.root.clientHeight);
    this.lines.resize(this.axis.clientWidth, this.axis.clientHeight);
  }

  draw(): void {
    this.drawStrip();
    this.drawAxis();
  }

  /** The stretch of the whole strip. */
  private whole(): TimeScale {
    const { store, scale } = this.view;
    const from = Math.min(store.firstAt, scale.from);
    const to = Math.max(store.lastAt, this.view.live ? scale.to : store.lastAt, from + 1000);
    return {
      from: Number.isFinite(from) ? from : 0,
      to: Number.isFinite(to) ? to : 1,
      width: Math.max(1, this.strip.width),
    };
  }

  private drawStrip(): void {
    const context = this.strip.clear();
    const { store, scale, hasData } = this.view;
    const { width, height } = this.strip;
    context.fillStyle = this.palette.panel;
    context.fillRect(0, 0, width, height);
    if (!hasData) return;
    const whole = this.whole();
    const columns = Math.max(1, Math.floor(width / COLUMN_PX));
    const sums = store.density.columns(whole.from, whole.to, columns);
    const most = Math.log2(1 + Math.max(1, ...sums.map((sum) => sum.count)));
    for (const [index, sum] of sums.entries()) {
      if (sum.count === 0) continue;
      const tall = Math.max(2, (Math.log2(1 + sum.count) / most) * (height - 6));
      const x = index * COLUMN_PX;
      context.fillStyle = sum.alarms > 0 ? this.palette.inks.conflict : this.palette.minimap;
      context.globalAlpha = sum.alarms > 0 && sum.alarms < sum.count / 8 ? 0.75 : 1;
      context.fillRect(x + 1, height - tall, COLUMN_PX - 2, tall);
    }
    context.globalAlpha = 1;
    this.drawFindings(context, whole);
    // Seen at the edge also where it is beyond.
    const left = Math.max(0, Math.min(width - MIN_WINDOW_PX, xOf(whole, scale.from)));
    const right = Math.min(width, Math.max(left + MIN_WINDOW_PX, xOf(whole, scale.to)));
    context.fillStyle = this.palette.measure;
    context.fillRect(left, 0, right - left, height);
    context.strokeStyle = this.palette.inks.spec;
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, 0.5, right - left - 1, height - 1);
  }

  private drawFindings(context: CanvasRenderingContext2D, whole: TimeScale): void {
    context.fillStyle = this.palette.inks.warning;
    const { annotations } = this.view.store;
    const grave = annotations.filter(({ severity }) => severity !== 'info');
    // One for each pixel, however many there are.
    for (const x of new Set(grave.map(({ to }) => Math.round(xOf(whole, to))))) {
      context.beginPath();
      context.moveTo(x - 3, 0);
      context.lineTo(x + 3, 0);
      context.lineTo(x, 5);
      context.fill();
    }
  }

  private drawAxis(): void {
    const context = this.lines.clear();
    const { scale, settings, store, hasData } = this.view;
    if (!hasData) return;
    context.font = `11px ${this.palette.font}`;
    context.textAlign = 'left';
    for (const tick of ticksOf(scale, settings.timeZoneOffsetMin)) {
      context.fillStyle = this.palette.grid;
      this.lines.line(tick.x, 4);
      context.fillStyle = this.palette.inks.muted;
      if (tick.x + 6 + context.measureText(tick.label).width < this.lines.width)
        context.fillText(tick.label, tick.x + 4, 15);
    }
    context.fillStyle = this.palette.inks.note;
    for (const note of store.notes) {
      const x = xOf(scale, note.at);
      if (x < 0 || x > scale.width) continue;
      this.lines.line(x, 2);
      context.fillRect(x, 2, 6, 4);
    }
  }

  /** Dragging inside the window moves it; outside, it draws a new one; a click centres it. */
  private listenToWindow(): void {
    this.root.addEventListener('pointerdown', (down) => {
      if (down.button !== 0 || !this.view.hasData) return;
      const whole = this.whole();
      const { scale } = this.view;
      const left = this.root.getBoundingClientRect().left;
      const start = timeAt(whole, down.clientX - left);
      const inside = start >= scale.from && start <= scale.to;
      let dragged = false;
      const move = (event: PointerEvent): void => {
        const at = timeAt(whole, event.clientX - left);
        dragged ||= Math.abs(event.clientX - down.clientX) >= DRAG_PX;
        if (inside) this.view.setScale({ ...scale, from: scale.from + at - start, to: scale.to + at - start });
        else if (dragged) this.view.setScale(spanning(scale, start, at));
      };
      drag(this.root, down, move, () => {
        if (inside || dragged) return;
        const half = (scale.to - scale.from) / 2;
        this.view.setScale({ ...scale, from: start - half, to: start + half });
      });
    });
    this.root.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        this.view.zoom(wheelZoom(event), this.view.scale.width / 2);
      },
      { passive: false },
    );
  }
}
