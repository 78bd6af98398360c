import * as visTimeline from 'vis-timeline/standalone';
import { MARK_KINDS, type TimelineModel } from '../../src/core/timeline/model.ts';
import { startTestHost } from '../webview/hostPage.ts';
import { BENCH_SPAN_MS, BENCH_START, benchDelta, benchModel } from './timelineModel.ts';

/** What vis-timeline's standalone build exports but its types do not declare. */
interface VisStandalone {
  readonly DataSet: new (items: readonly object[]) => object;
  readonly Timeline: new (
    box: HTMLElement,
    items: object,
    groups: object,
    options: object,
  ) => {
    setWindow(from: number, to: number, options: object): void;
    redraw(): void;
    destroy(): void;
  };
}

const { DataSet, Timeline } = visTimeline as unknown as VisStandalone;

/** What the bench's page measures. All times in ms; frame times are the intervals between frames. */
interface PageBench {
  /** Shows a model in the real timeline; gives the time until its first picture. */
  show(count: number, lanes: number): Promise<number>;
  /** Pans, or zooms, the real timeline once a frame. */
  drive(how: 'pan' | 'zoom', frames: number): Promise<number[]>;
  /** Draws every event on its own, as one would without thinking. */
  naive(count: number, lanes: number, frames: number): Promise<number[]>;
  /** Pans vis-timeline with this many items. */
  vis(count: number, lanes: number, frames: number): Promise<number[]>;
  /** Appends events at a rate, or rests at rate 0; gives all frame times. */
  append(perSecond: number, seconds: number, lanes: number, already: number): Promise<number[]>;
}

declare global {
  interface Window {
    bench: PageBench;
  }
}

const nextFrame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));

/** Runs a step once a frame and gives the intervals; the first ten frames warm up. */
async function intervals(frames: number, step: (frame: number) => void): Promise<number[]> {
  const times: number[] = [];
  let last = await nextFrame();
  for (let frame = 0; frame < frames + 10; frame += 1) {
    step(frame);
    const now = await nextFrame();
    if (frame >= 10) times.push(now - last);
    last = now;
  }
  return times;
}

function chart(): HTMLElement {
  const found = document.querySelector<HTMLElement>('.chart');
  if (found === null) throw new Error('there is no chart');
  return found;
}

async function show(count: number, lanes: number): Promise<number> {
  const model = benchModel(count, lanes);
  await nextFrame();
  const start = performance.now();
  window.testHost.showModel(model);
  await nextFrame();
  await nextFrame();
  return performance.now() - start;
}

function drive(how: 'pan' | 'zoom', frames: number): Promise<number[]> {
  const box = chart().getBoundingClientRect();
  return intervals(frames, (frame) => {
    const forth = Math.floor(frame / 30) % 2 === 0 ? 1 : -1;
    chart().dispatchEvent(
      new WheelEvent('wheel', {
        deltaY: (how === 'pan' ? 13 : 24) * forth,
        shiftKey: how === 'pan',
        ctrlKey: how === 'zoom',
        clientX: box.left + box.width / 2,
        clientY: box.top + 40,
        cancelable: true,
        bubbles: true,
      }),
    );
  });
}

const COLOURS = ['#9d9d9d', '#9d9d9d', '#3fc49a', '#9d9d9d', '#4d9bff'];

async function naive(count: number, lanes: number, frames: number): Promise<number[]> {
  const model = benchModel(count, lanes);
  const canvas = document.createElement('canvas');
  const { width, height } = chart().getBoundingClientRect();
  canvas.width = width;
  canvas.height = height;
  canvas.className = 'naive';
  chart().append(canvas);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('no canvas');
  const times = await intervals(frames, (frame) => {
    const forth = Math.abs((frame % 60) - 30);
    drawNaively(context, model, forth * 13, width, height);
  });
  canvas.remove();
  return times;
}

function drawNaively(
  context: CanvasRenderingContext2D,
  model: TimelineModel,
  shift: number,
  width: number,
  height: number,
): void {
  context.clearRect(0, 0, width, height);
  const { at, lane, kind } = model.marks;
  const laneHeight = 58;
  for (let index = 0; index < at.length; index += 1) {
    const x = (((at[index] ?? 0) - BENCH_START) / BENCH_SPAN_MS) * width - shift;
    const y = (lane[index] ?? 0) * laneHeight + 30;
    if (x < -8 || x > width + 8 || y > height) continue;
    context.fillStyle = COLOURS[kind[index] ?? 0] ?? '#f4535e';
    context.beginPath();
    context.arc(x, y, 4, 0, Math.PI * 2);
    context.fill();
  }
}

async function vis(count: number, lanes: number, frames: number): Promise<number[]> {
  const model = benchModel(count, lanes);
  const box = document.createElement('div');
  box.className = 'vis-box';
  document.body.append(box);
  const groups = new DataSet(Array.from({ length: lanes }, (_, id) => ({ id, content: `thing-${id}` })));
  const items = new DataSet(
    Array.from(model.marks.at, (at, id) => ({
      id,
      group: model.marks.lane[id] ?? 0,
      start: at,
      content: '',
      type: 'point' as const,
      className: MARK_KINDS[model.marks.kind[id] ?? 0] ?? '',
    })),
  );
  const timeline = new Timeline(box, items, groups, { stack: false, height: '560px', verticalScroll: true });
  const window = BENCH_SPAN_MS;
  const times = await intervals(frames, (frame) => {
    const forth = Math.abs((frame % 60) - 30) * (BENCH_SPAN_MS / 100);
    timeline.setWindow(BENCH_START + forth, BENCH_START + forth + window, { animation: false });
    timeline.redraw();
  });
  timeline.destroy();
  box.remove();
  return times;
}

/** Of the messages sent so far; the model was the first. */
let sequence = 1;

async function append(perSecond: number, seconds: number, lanes: number, already: number): Promise<number[]> {
  const tickMs = 50;
  const each = Math.round((perSecond * tickMs) / 1000);
  let event = already + 1;
  let at = BENCH_START + BENCH_SPAN_MS + (already / perSecond) * 1000;
  const timer = setInterval(() => {
    if (each === 0) return;
    sequence += 1;
    window.testHost.send({ type: 'append', sequence, delta: benchDelta(each, lanes, at, tickMs, event) });
    event += each;
    at += tickMs;
  }, tickMs);
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  let last = await nextFrame();
  while (performance.now() < end) {
    const now = await nextFrame();
    times.push(now - last);
    last = now;
  }
  clearInterval(timer);
  return times;
}

startTestHost();
window.bench = { show, drive, naive, vis, append };
