import { goQuote } from './goText.ts';

const UNITS = ['ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h'];

/** What Go says of a text that is no duration such as `1h30m`; undefined for one. Source: time.ParseDuration. */
export function goDurationError(text: string): string | undefined {
  const invalid = `time: invalid duration ${goQuote(text)}`;
  let rest = text.replace(/^[-+]/, '');
  if (rest === '0') return undefined;
  if (rest === '') return invalid;
  while (rest !== '') {
    const number = /^(\d+\.?\d*|\.\d+)/.exec(rest)?.[0];
    if (number === undefined) return invalid;
    rest = rest.slice(number.length);
    const unit = /^[^.\d]*/.exec(rest)?.[0] ?? '';
    if (unit === '') return `time: missing unit in duration ${goQuote(text)}`;
    if (!UNITS.includes(unit)) return `time: unknown unit ${goQuote(unit)} in duration ${goQuote(text)}`;
    rest = rest.slice(unit.length);
  }
  return undefined;
}
