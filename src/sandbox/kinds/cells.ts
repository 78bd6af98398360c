import type { Json, JsonObject } from '../../codec/json.ts';
import { objectAt, objectsAt, textAt } from './access.ts';
import { plainText } from '../schema/plainText.ts';

const SECOND = 1000;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The age of an object as tables show it; `<unknown>` without a time. */
export function ageOf(object: JsonObject, nowMs: number): string {
  return since(textAt(object, 'metadata', 'creationTimestamp'), nowMs);
}

/** How long ago a time was, as tables show it. */
export function since(time: string, nowMs: number): string {
  return time === '' ? '<unknown>' : humanDuration(nowMs - Date.parse(time));
}

/** A duration in at most two units: 119s, 5m30s, 3h2m, 2d4h, 29d. Source: HumanDuration of apimachinery's util/duration. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / SECOND);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  const minutes = Math.trunc(seconds / MINUTE);
  if (minutes < 10) return withRest(minutes, 'm', seconds % MINUTE, 's');
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.trunc(seconds / HOUR);
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(seconds / DAY);
  if (hours < 8 * 24) return withRest(days, 'd', hours % 24, 'h');
  if (days < 2 * 365) return `${days}d`;
  const years = Math.trunc(days / 365);
  return days < 8 * 365 ? withRest(years, 'y', days % 365, 'd') : `${years}y`;
}

function withRest(count: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${count}${unit}` : `${count}${unit}${rest}${restUnit}`;
}

/** A text, or `<none>`. */
export function orNone(text: string): string {
  return text === '' ? '<none>' : text;
}

/** Names of containers and their images, joined by commas. */
export function containerColumns(spec: JsonObject): [string, string] {
  const containers = objectsAt(spec, 'containers');
  return [
    containers.map((item) => textAt(item, 'name')).join(','),
    containers.map((item) => textAt(item, 'image')).join(','),
  ];
}

/** A label selector as tables show it: `app=d,tier in (a,b)`; `<none>` for none. */
export function selectorText(selector: Json | undefined): string {
  if (selector === undefined || selector === null) return '<none>';
  const holder: JsonObject = { selector };
  const labels = objectAt(holder, 'selector', 'matchLabels');
  const parts = Object.keys(labels)
    .sort()
    .map((key) => `${key}=${plainText(labels[key])}`);
  const requirements = objectsAt(holder, 'selector', 'matchExpressions').map(requirementText);
  return orNone([...parts, ...requirements].join(','));
}

function requirementText(requirement: JsonObject): string {
  const key = textAt(requirement, 'key');
  const values = Array.isArray(requirement['values']) ? requirement['values'].map(String).join(',') : '';
  switch (textAt(requirement, 'operator')) {
    case 'In':
      return `${key} in (${values})`;
    case 'NotIn':
      return `${key} notin (${values})`;
    case 'Exists':
      return key;
    default:
      return `!${key}`;
  }
}
