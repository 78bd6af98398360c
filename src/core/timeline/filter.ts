/** The words that a filter may ask about. */
export const FILTER_KEYS = ['kind', 'ns', 'name', 'manager', 'uid', 'is', 'outcome'] as const;
export type FilterKey = (typeof FILTER_KEYS)[number];

/** What `is:` may ask. */
export const IS_VALUES = [
  'spec',
  'status',
  'metadata',
  'created',
  'deleted',
  'terminating',
  'recreated',
  'conflict',
  'refused',
  'field-conflict',
  'uid-mismatch',
  'takeover',
  'lost-update',
  'stale-reference',
  'finding',
  'uncertain',
  'heartbeat',
  'unplaced',
  'note',
  'read',
] as const;

/** One condition. Without a key, the text is looked for in kind, namespace, name, manager and UID. */
export interface FilterTerm {
  readonly key: FilterKey | undefined;
  /** In lower case; `*` stands for any text. */
  readonly value: string;
  readonly negated: boolean;
}

/** A filter that was read: all terms must hold; several of one key that are not negated, one of them. */
export interface Filter {
  readonly terms: readonly FilterTerm[];
}

/** What was not understood, and where. */
export interface FilterProblem {
  readonly start: number;
  readonly end: number;
  readonly problem: 'unknown-key' | 'unknown-is' | 'no-value' | 'open-quote';
  readonly text: string;
}

/** Reads `ns:shop -is:heartbeat "two words"`. What is not understood is left out and reported. */
export function parseFilter(text: string): { readonly filter: Filter; readonly problems: readonly FilterProblem[] } {
  const terms: FilterTerm[] = [];
  const problems: FilterProblem[] = [];
  const word = /(-?)(?:([A-Za-z]+):)?("(?:[^"\\]|\\.)*"?|[^\s"]*)/y;
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text[at] ?? '')) {
      at += 1;
      continue;
    }
    word.lastIndex = at;
    const found = word.exec(text);
    const end = found === null || word.lastIndex === at ? at + 1 : word.lastIndex;
    const [, minus = '', key, raw = ''] = found ?? [];
    const result = readTerm(minus === '-', key?.toLowerCase(), raw);
    if (typeof result === 'string') problems.push({ start: at, end, problem: result, text: text.slice(at, end) });
    else terms.push(result);
    at = end;
  }
  return { filter: { terms }, problems };
}

function readTerm(negated: boolean, key: string | undefined, raw: string): FilterTerm | FilterProblem['problem'] {
  const quoted = raw.startsWith('"');
  if (quoted && !/^"(?:[^"\\]|\\.)*"$/.test(raw)) return 'open-quote';
  const value = (quoted ? raw.slice(1, -1).replaceAll(/\\(.)/g, '$1') : raw).toLowerCase();
  if (key === undefined) return value === '' ? 'no-value' : { key: undefined, value, negated };
  if (!isFilterKey(key)) return 'unknown-key';
  if (value === '' && !quoted) return 'no-value';
  if (key === 'is' && !(IS_VALUES as readonly string[]).includes(value)) return 'unknown-is';
  return { key, value, negated };
}

function isFilterKey(key: string): key is FilterKey {
  return (FILTER_KEYS as readonly string[]).includes(key);
}

/** Prints a filter so that it reads back the same. */
export function formatFilter(filter: Filter): string {
  return filter.terms
    .map((term) => `${term.negated ? '-' : ''}${term.key === undefined ? '' : `${term.key}:`}${quotedIfNeeded(term)}`)
    .join(' ');
}

function quotedIfNeeded(term: FilterTerm): string {
  const plain = term.key === undefined ? /^[^\s":\\-][^\s":\\]*$/ : /^[^\s"\\]+$/;
  return plain.test(term.value) ? term.value : `"${term.value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** Adds a term, or takes it away where it is there already. */
export function toggleTerm(filter: Filter, term: FilterTerm): Filter {
  const same = (other: FilterTerm): boolean =>
    other.key === term.key && other.value === term.value && other.negated === term.negated;
  const rest = filter.terms.filter((other) => !same(other));
  return { terms: rest.length < filter.terms.length ? rest : [...rest, term] };
}

/** Whether a text matches a term's value: the whole of it where the value has a `*`, else a part of it. */
export function matchesText(text: string, value: string): boolean {
  const low = text.toLowerCase();
  if (!value.includes('*')) return low.includes(value);
  return globMatches(low, value);
}

/** `*` stands for any text; linear in practice: each piece is found once, from left to right. */
function globMatches(text: string, glob: string): boolean {
  const pieces = glob.split('*');
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}
