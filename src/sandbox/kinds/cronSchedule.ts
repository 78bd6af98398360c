/** The limits of the five fields of a schedule, and the names that stand for numbers. */
interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];

/**
 * What is wrong with a cron schedule, in the words of the parser that Kubernetes uses; undefined if nothing is.
 * Source: the CronJob page of the Kubernetes documentation, and robfig/cron.
 */
export function scheduleProblem(schedule: string): string | undefined {
  const zone = /^(?:TZ|CRON_TZ)=(\S*)\s+/.exec(schedule);
  const rest = zone === null ? schedule : schedule.slice(zone[0].length);
  if (rest.startsWith('@')) {
    const known = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/.test(rest);
    const isInterval = /^@every (\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$/.test(rest);
    return known || isInterval ? undefined : `unrecognized descriptor: ${rest}`;
  }
  const fields = rest.trim().split(/\s+/);
  if (fields.length !== FIELDS.length)
    return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`;
  for (const [index, bounds] of FIELDS.entries()) {
    for (const range of (fields[index] ?? '').split(',').filter((part) => part !== '')) {
      const problem = rangeProblem(range, bounds);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

/** `N`, `N-M`, `*`, each with an optional `/STEP`. */
function rangeProblem(range: string, bounds: Bounds): string | undefined {
  const [span = '', stepText, ...moreSlashes] = range.split('/');
  const [low = '', high, ...moreHyphens] = span.split('-');
  const isAny = low === '*' || low === '?';
  if (!isAny && moreHyphens.length > 0) return `too many hyphens: ${range}`;
  const start = isAny ? bounds.min : numberOf(low, bounds.names);
  if (typeof start === 'string') return start;
  let end = isAny ? bounds.max : high === undefined ? start : numberOf(high, bounds.names);
  if (typeof end === 'string') return end;
  if (moreSlashes.length > 0) return `too many slashes: ${range}`;
  const step = stepText === undefined ? 1 : numberOf(stepText, undefined);
  if (typeof step === 'string') return step;
  if (stepText !== undefined && high === undefined) end = bounds.max;
  if (start < bounds.min) return `beginning of range (${start}) below minimum (${bounds.min}): ${range}`;
  if (end > bounds.max) return `end of range (${end}) above maximum (${bounds.max}): ${range}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${range}`;
  return step === 0 ? `step of range should be a positive number: ${range}` : undefined;
}

/** A number, or the sentence of what is none. */
function numberOf(text: string, names: readonly string[] | undefined): number | string {
  const named = text === '' ? -1 : (names?.indexOf(text.toLowerCase()) ?? -1);
  if (named >= 0) return named;
  if (!/^[-+]?\d+$/.test(text))
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  const value = Number(text);
  return value < 0 ? `negative number (${value}) not allowed: ${text}` : value;
}

/** What is wrong with a time zone's name; undefined if nothing is. */
export function timeZoneProblems(zone: string): string[] {
  const unknown = `unknown time zone ${zone}`;
  const parts = zone.split('/');
  if (parts.some((part) => ['.', '..'].includes(part) || !/^(?!-)[A-Za-z._\-0-9+]{1,14}$/.test(part))) return [unknown];
  if (zone.toLowerCase() === 'local')
    return ['timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'];
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone }).format(0);
    return [];
  } catch (error) {
    if (error instanceof RangeError) return [unknown];
    throw error;
  }
}
