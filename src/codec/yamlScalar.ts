/**
 * What a plain (unquoted) YAML scalar means to Kubernetes: the rules of go.yaml.in/yaml v2, with which sigs.k8s.io/yaml
 * reads (its `resolve` function). They are those of neither YAML 1.1 nor 1.2: dates and times of day are text, `yes` is
 * true, `0400` is 256.
 */
export type PlainScalar =
  | { readonly kind: 'null' }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'text' }
  /** A number that JSON cannot hold exactly: infinity, not-a-number, an integer beyond 64 bits. */
  | { readonly kind: 'refused'; readonly why: string };

const WORDS = new Map<string, PlainScalar>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word): [string, PlainScalar] => [
    word,
    { kind: 'bool', value: true },
  ]),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word): [string, PlainScalar] => [
    word,
    { kind: 'bool', value: false },
  ]),
  ...['', '~', 'null', 'Null', 'NULL'].map((word): [string, PlainScalar] => [word, { kind: 'null' }]),
  ...['.nan', '.NaN', '.NAN', '.inf', '.Inf', '.INF'].flatMap((word): [string, PlainScalar][] => {
    const refused: PlainScalar = { kind: 'refused', why: `${word} is no number that JSON has` };
    return word.toLowerCase() === '.nan' ? [[word, refused]] : ['', '+', '-'].map((sign) => [sign + word, refused]);
  }),
]);

const INTEGER = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]([0-7]+)|0([0-7]+)|(0|[1-9][0-9]*))$/;
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const MAX_UINT = 2n ** 64n - 1n;
const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;

/** What a plain scalar is. The text is what the YAML reader found, with folded lines joined. */
export function resolvePlain(text: string): PlainScalar {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (text.startsWith('.')) {
    const plain = /(?:^|\D)_|_(?:\D|$)/.test(text) ? text : text.replaceAll('_', '');
    return FLOAT.test(plain) ? float(plain) : { kind: 'text' };
  }
  if (!/^[-+0-9]/.test(text)) return { kind: 'text' };
  const digits = text.replaceAll('_', '');
  const found = INTEGER.exec(digits);
  if (found !== null) {
    const value = integer(found);
    const signed = found[1] !== '';
    if (value >= MIN_INT && value <= (signed ? MAX_INT : MAX_UINT)) return { kind: 'int', value };
    if (FLOAT.test(digits)) return { kind: 'refused', why: 'this integer has more than 64 bits and would be rounded' };
    return { kind: 'text' };
  }
  return FLOAT.test(digits) ? float(digits) : { kind: 'text' };
}

function integer(found: RegExpExecArray): bigint {
  const [, sign, hex, binary, octal, oldOctal, decimal] = found;
  const value =
    hex !== undefined
      ? BigInt(`0x${hex}`)
      : binary !== undefined
        ? BigInt(`0b${binary}`)
        : BigInt(octal !== undefined || oldOctal !== undefined ? `0o${octal ?? oldOctal ?? '0'}` : (decimal ?? '0'));
  return sign === '-' ? -value : value;
}

/** A number beyond a double's range stays text, as in Go. */
function float(text: string): PlainScalar {
  const value = Number(text);
  return Number.isFinite(value) ? { kind: 'float', value } : { kind: 'text' };
}

/** How a reader of YAML 1.2 (the core schema) would take a plain scalar, by kind. */
export function coreKind(text: string): 'null' | 'bool' | 'number' | 'text' {
  if (/^(?:~|null|Null|NULL)?$/.test(text)) return 'null';
  if (/^(?:true|True|TRUE|false|False|FALSE)$/.test(text)) return 'bool';
  if (/^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$/.test(text)) return 'number';
  if (/^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/.test(text)) return 'number';
  return /^(?:[-+]?\.(?:inf|Inf|INF)|\.nan|\.NaN|\.NAN)$/.test(text) ? 'number' : 'text';
}

/** Whether readers of YAML 1.2 and Kubernetes take a plain scalar for different values. */
export function readsDifferently(text: string): boolean {
  const here = resolvePlain(text);
  switch (here.kind) {
    case 'null':
    case 'bool':
      return coreKind(text) !== here.kind;
    case 'int':
      return (
        coreKind(text) !== 'number' ||
        (/^[-+]?0[0-7]+$/.test(text) && BigInt(text.replace(/^[-+]/, '')) !== abs(here.value))
      );
    case 'float':
      return coreKind(text) !== 'number';
    case 'text':
      return coreKind(text) !== 'text';
    case 'refused':
      return false;
  }
  return false;
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}
