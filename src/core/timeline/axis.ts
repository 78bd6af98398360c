import { msPerPixel, xOf, type TimeScale } from './scale.ts';

/** One line of the time axis. */
export interface Tick {
  readonly x: number;
  readonly at: number;
  readonly label: string;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS_MS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  SECOND,
  2 * SECOND,
  5 * SECOND,
  10 * SECOND,
  15 * SECOND,
  30 * SECOND,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
  14 * DAY,
  30 * DAY,
  90 * DAY,
  365 * DAY,
];
const LABEL_PX = 90;

/** The lines of the axis at round local times, at least about 90 pixels apart. */
export function ticksOf(scale: TimeScale, timeZoneOffsetMin: number): Tick[] {
  const least = msPerPixel(scale) * LABEL_PX;
  const step = STEPS_MS.find((ms) => ms >= least) ?? 365 * DAY * Math.ceil(least / (365 * DAY));
  const offset = timeZoneOffsetMin * MINUTE;
  const ticks: Tick[] = [];
  const first = Math.ceil((scale.from + offset) / step) * step - offset;
  for (let at = first; at <= scale.to; at += step) {
    ticks.push({ x: xOf(scale, at), at, label: tickLabel(at, step, timeZoneOffsetMin) });
  }
  return ticks;
}

function tickLabel(at: number, step: number, timeZoneOffsetMin: number): string {
  const local = at + timeZoneOffsetMin * MINUTE;
  if (step >= DAY || mod(local, DAY) === 0) return dateText(at, timeZoneOffsetMin);
  if (step >= SECOND) return timeText(at, timeZoneOffsetMin);
  return preciseTimeText(at, timeZoneOffsetMin);
}

/** `14:03:09` in local time. */
export function timeText(at: number, timeZoneOffsetMin: number): string {
  const ms = mod(Math.floor(at) + timeZoneOffsetMin * MINUTE, DAY);
  return [Math.floor(ms / HOUR), Math.floor(ms / MINUTE) % 60, Math.floor(ms / SECOND) % 60].map(twoDigits).join(':');
}

/** `14:03:09.482` in local time. */
export function preciseTimeText(at: number, timeZoneOffsetMin: number): string {
  return `${timeText(at, timeZoneOffsetMin)}.${String(mod(Math.floor(at), SECOND)).padStart(3, '0')}`;
}

/** `2026-11-29` in local time (Howard Hinnant's civil_from_days). */
export function dateText(at: number, timeZoneOffsetMin: number): string {
  const days = Math.floor((at + timeZoneOffsetMin * MINUTE) / DAY) + 719_468;
  const era = Math.floor(days / 146_097);
  const dayOfEra = days - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(day)}`;
}

/** `9.4 s`, `3 min 20 s`, `2 h 5 min`, `450 ms`; what is less than the last digit is left out. */
export function durationText(ms: number): string {
  const whole = Math.round(Math.abs(ms));
  if (whole < SECOND) return `${whole} ms`;
  if (whole < 10 * SECOND) return `${(Math.floor(whole / 10) / 100).toFixed(2)} s`;
  if (whole < MINUTE) return `${(Math.floor(whole / 100) / 10).toFixed(1)} s`;
  if (whole < HOUR) return joined(Math.floor(whole / MINUTE), 'min', Math.floor((whole % MINUTE) / SECOND), 's');
  if (whole < DAY) return joined(Math.floor(whole / HOUR), 'h', Math.floor((whole % HOUR) / MINUTE), 'min');
  return joined(Math.floor(whole / DAY), 'd', Math.floor((whole % DAY) / HOUR), 'h');
}

function joined(great: number, greatUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${great} ${greatUnit}` : `${great} ${greatUnit} ${small} ${smallUnit}`;
}

function mod(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
