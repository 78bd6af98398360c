import type { StateOf } from '../../src/protocol/labStates.ts';

type Run = StateOf<'contention'>['runs'][number];

const HEIGHT = 150;
const LEFT = 34;
const BOTTOM = 20;
const TOP = 8;
const HATCH = 5;

/** What charts beside each other share, so that they can be compared: the highest bar and the longest time. */
export interface ChartScale {
  readonly most: number;
  readonly ms: number;
}

/** The scale that fits all of these runs. */
export function scaleOf(runs: readonly Run[]): ChartScale {
  const perSecond = runs.flatMap(({ binMs, acceptedBins, refusedBins }) =>
    acceptedBins.map((count, bin) => rate(count + (refusedBins[bin] ?? 0), binMs)),
  );
  return {
    most: Math.max(1, ...perSecond),
    ms: Math.max(1, ...runs.map(({ binMs, acceptedBins }) => binMs * acceptedBins.length)),
  };
}

/** Attempts in a bin as attempts a second, which bins of different lengths have in common. */
export function rate(count: number, binMs: number): number {
  return binMs === 0 ? 0 : Math.round((count * 1000) / binMs);
}

/** Draws attempts a second over time: accepted below, refused above them, hatched as well as coloured. */
export function drawAttempts(canvas: HTMLCanvasElement, run: Run, scale: ChartScale, secondsWord: string): void {
  const width = canvas.clientWidth;
  const ratio = window.devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(HEIGHT * ratio);
  const pen = canvas.getContext('2d');
  if (pen === null || width === 0) return;
  const style = getComputedStyle(canvas);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  pen.scale(ratio, ratio);
  pen.font = `11px ${style.fontFamily}`;
  const plotWidth = width - LEFT - 8;
  const plotHeight = HEIGHT - TOP - BOTTOM;
  const x = (ms: number): number => LEFT + (ms / scale.ms) * plotWidth;
  const y = (perSecond: number): number => TOP + plotHeight - (perSecond / scale.most) * plotHeight;

  pen.fillStyle = colour('--ov-muted');
  pen.textAlign = 'right';
  for (const value of [0, scale.most]) pen.fillText(String(value), LEFT - 6, y(value) + 4);
  pen.textAlign = 'left';
  pen.fillText('0', LEFT, HEIGHT - 6);
  pen.textAlign = 'right';
  pen.fillText(`${(scale.ms / 1000).toFixed(1)} ${secondsWord}`, width - 8, HEIGHT - 6);
  pen.fillStyle = colour('--ov-line');
  for (const value of [0, scale.most / 2, scale.most]) pen.fillRect(LEFT, Math.round(y(value)), plotWidth, 1);

  run.acceptedBins.forEach((accepted, bin) => {
    const refused = run.refusedBins[bin] ?? 0;
    const left = x(bin * run.binMs);
    const wide = Math.max(1, x((bin + 1) * run.binMs) - left - 1);
    const low = y(rate(accepted, run.binMs));
    const high = y(rate(accepted + refused, run.binMs));
    pen.fillStyle = colour('--ov-good');
    pen.fillRect(left, low, wide, y(0) - low);
    hatched(pen, [left, high, wide, low - high], colour('--ov-error'));
  });
}

function hatched(pen: CanvasRenderingContext2D, area: [number, number, number, number], colour: string): void {
  const [left, top, wide, tall] = area;
  if (tall <= 0) return;
  pen.save();
  pen.beginPath();
  pen.rect(left, top, wide, tall);
  pen.clip();
  pen.fillStyle = colour;
  pen.globalAlpha = 0.35;
  pen.fillRect(left, top, wide, tall);
  pen.globalAlpha = 1;
  pen.strokeStyle = colour;
  pen.lineWidth = 1.5;
  pen.beginPath();
  const first = Math.floor((left - tall) / HATCH) * HATCH;
  for (let at = first; at < left + wide + tall; at += HATCH) {
    pen.moveTo(at, top + tall);
    pen.lineTo(at + tall, top);
  }
  pen.stroke();
  pen.restore();
}
