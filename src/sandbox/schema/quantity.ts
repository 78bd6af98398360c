/**
 * Resource quantities (`500m`, `1Gi`): read as the API server does and printed in canonical form, which is what it stores.
 * Source: the Quantity page of the Kubernetes API reference.
 */
export interface Quantity {
  /** The value in nanos, the finest step a quantity may have. */
  readonly nanos: bigint;
  readonly format: 'binary' | 'decimal' | 'exponent';
}

const GRAMMAR = /^([+-]?)(\d*)(?:\.(\d*))?((?:[KMGTPE]i)|[numkMGTPE]|[eE][+-]?\d+)?$/;
const NANO = 1_000_000_000n;
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];

/** What the server says of a text that is no quantity. */
export const QUANTITY_ERROR =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Reads a quantity; undefined where the text is none. Finer parts than a nano are rounded away from zero. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = GRAMMAR.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const format = suffix.endsWith('i') ? 'binary' : /^[eE][+-]?\d/.test(suffix) ? 'exponent' : 'decimal';
  const digits = BigInt(`${whole}${fraction}`);
  const nanos = scale(digits, fraction.length, suffix, format);
  return { nanos: sign === '-' ? -nanos : nanos, format };
}

function scale(digits: bigint, fractionDigits: number, suffix: string, format: Quantity['format']): bigint {
  if (format === 'binary')
    return divideUp(digits * NANO * 1024n ** BigInt(BINARY.indexOf(suffix)), 10n ** BigInt(fractionDigits));
  const exponent =
    (format === 'exponent' ? Number(suffix.slice(1)) : (DECIMAL.indexOf(suffix) - 3) * 3) + 9 - fractionDigits;
  return exponent >= 0
    ? digits * 10n ** BigInt(Math.min(exponent, 60))
    : divideUp(digits, 10n ** BigInt(Math.min(-exponent, 60)));
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}

/** Prints a quantity in canonical form: no fraction, the largest suffix that loses nothing. */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0';
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  if (format === 'binary' && size % NANO === 0n && size / NANO >= 1024n) return sign + binaryText(size / NANO);
  return sign + decimalText(size, format === 'exponent');
}

function binaryText(value: bigint): string {
  let rest = value;
  let step = 0;
  while (rest % 1024n === 0n && step < BINARY.length - 1) {
    rest /= 1024n;
    step += 1;
  }
  return `${rest}${BINARY[step] ?? ''}`;
}

function decimalText(size: bigint, exponent: boolean): string {
  let rest = size;
  let step = 0;
  while (rest % 1000n === 0n && step < DECIMAL.length - 1) {
    rest /= 1000n;
    step += 1;
  }
  if (!exponent) return `${rest}${DECIMAL[step] ?? ''}`;
  return step === 3 ? `${rest}` : `${rest}e${(step - 3) * 3}`;
}

/** Compares two quantities: below, equal, above as -1, 0, 1. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nanos === b.nanos ? 0 : a.nanos < b.nanos ? -1 : 1;
}
