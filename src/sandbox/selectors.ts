import { inVersionOf } from './kinds/versions.ts';
import type { JsonObject } from '../codec/json.ts';
import { goQuote, textOf } from './goText.ts';
import type { Kind } from './kinds/kind.ts';
import { labelValue, qualifiedName } from './kinds/names.ts';
import { badRequest, invalidValue } from './status.ts';

/** Which objects a list or watch is about. */
export interface Filter {
  /** No selector at all. */
  readonly all: boolean;
  matches(object: JsonObject): boolean;
  /** The one name that a field selector allows, if there is one. */
  readonly name?: string;
}

/** Reads labelSelector and fieldSelector. Throws 400 with the real server's words. */
export function readFilter(kind: Kind, labelSelector: string, fieldSelector: string): Filter {
  const labels = parseLabelSelector(labelSelector);
  const fields = parseFieldSelector(kind, fieldSelector);
  const name = fields.find((term) => term.field === 'metadata.name' && !term.negated)?.value;
  return {
    all: labels.length === 0 && fields.length === 0,
    matches: (object) =>
      labels.every((term) => matchesLabel(object, term)) &&
      (fields.length === 0 || matchesFields(kind, object, fields)),
    ...(name === undefined ? {} : { name }),
  };
}

interface FieldTerm {
  readonly field: string;
  readonly value: string;
  readonly negated: boolean;
}

function parseFieldSelector(kind: Kind, text: string): FieldTerm[] {
  if (text === '') return [];
  const known = [
    'metadata.name',
    ...(kind.namespaced || kind.origin === 'built-in' ? ['metadata.namespace'] : []),
    ...kind.fieldSelectors,
  ];
  const terms = splitTerms(text)
    .filter((term) => term !== '')
    .sort()
    .map((term): FieldTerm => {
      const found = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
      if (found === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
      const [, field = '', operator, value = ''] = found;
      return { field, value: unescapeValue(value), negated: operator === '!=' };
    })
    // `=` alone asks for nothing.
    .filter(({ field, value }) => field !== '' || value !== '');
  for (const { field } of terms) if (!known.includes(field)) throw badRequest(unknownField(kind, field));
  return terms;
}

function unknownField(kind: Kind, field: string): string {
  if (kind.origin === 'built-in' && kind.fieldSelectors.length > 0) return `field label not supported: ${field}`;
  if (kind.origin === 'custom') return `field label not supported: ${field}`;
  return `${goQuote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let term = '';
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') {
      term += text.slice(at, at + 2);
      at += 1;
    } else if (text[at] === ',') {
      terms.push(term);
      term = '';
    } else term += text[at] ?? '';
  }
  return [...terms, term];
}

/** A value as it is meant: only `\\`, `,` and `=` are escaped, and none of them stands alone. Source: fields.UnescapeValue. */
function unescapeValue(value: string): string {
  return value.replaceAll(/\\(.?)|[,=]/gsu, (sequence, escaped: string | undefined) => {
    if (escaped === undefined)
      throw badRequest(`invalid field selector: unescaped character in value: ${sequence.charCodeAt(0)}`);
    if (escaped === '' || !'\\,='.includes(escaped))
      throw badRequest(`invalid field selector: invalid escape sequence: ${sequence}`);
    return escaped;
  });
}

function matchesFields(kind: Kind, stored: JsonObject, fields: readonly FieldTerm[]): boolean {
  const object = inVersionOf(stored, kind);
  return fields.every((term) => matchesField(kind, object, term));
}

function matchesField(kind: Kind, object: JsonObject, term: FieldTerm): boolean {
  const metadata = object['metadata'] as JsonObject;
  const value =
    term.field === 'metadata.name' || term.field === 'metadata.namespace'
      ? textOf(metadata[term.field.slice('metadata.'.length)])
      : kind.fieldValue(object, term.field);
  return (value === term.value) !== term.negated;
}

/** One requirement of a label selector. */
export interface LabelTerm {
  readonly key: string;
  readonly operator: 'in' | 'notin' | '=' | '==' | '!=' | 'exists' | '!' | 'gt' | 'lt';
  readonly values: readonly string[];
}

function matchesLabel(object: JsonObject, { key, operator, values }: LabelTerm): boolean {
  const labels = (object['metadata'] as JsonObject)['labels'] as Record<string, string> | undefined;
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'in':
    case '=':
    case '==':
      return value !== undefined && values.includes(value);
    case 'notin':
    case '!=':
      return value === undefined || !values.includes(value);
    case 'gt':
      return value !== undefined && /^-?\d+$/.test(value) && Number(value) > Number(values[0]);
    case 'lt':
      return value !== undefined && /^-?\d+$/.test(value) && Number(value) < Number(values[0]);
    default:
      return operator satisfies never;
  }
}

/** Tokens of a label selector; `text` of an identifier is itself. */
const SPECIAL = /^(==|!=|=|!|\(|\)|,|>|<)/;

class LabelParser {
  private readonly tokens: string[] = [];
  private at = 0;

  constructor(text: string) {
    let rest = text;
    for (;;) {
      rest = rest.replace(/^[\s]+/, '');
      if (rest === '') break;
      const found = SPECIAL.exec(rest)?.[0] ?? /^[^\s=!(),<>]+/.exec(rest)?.[0] ?? rest;
      this.tokens.push(found);
      rest = rest.slice(found.length);
    }
  }

  parse(): LabelTerm[] {
    const terms: LabelTerm[] = [];
    if (this.tokens.length === 0) return terms;
    for (;;) {
      const next = this.peek();
      if (next === '' || (SPECIAL.test(next) && next !== '!'))
        this.unexpected(next, "!, identifier, or 'end of string'", 'found');
      terms.push(this.requirement());
      const separator = this.take();
      if (separator === '') return terms;
      if (separator !== ',') this.unexpected(separator, "',' or 'end of string'", 'found');
      const following = this.peek();
      if (following === '' || (SPECIAL.test(following) && following !== '!')) {
        throw badRequest(`found '${following}', expected: identifier after ','`);
      }
    }
  }

  private requirement(): LabelTerm {
    const negated = this.peek() === '!';
    if (negated) this.take();
    const key = this.take();
    if (key === '' || SPECIAL.test(key))
      throw badRequest(`unable to parse requirement: found '${key}', expected: identifier`);
    checkKey(key);
    if (negated) return { key, operator: '!', values: [] };
    const next = this.peek();
    if (next === '' || next === ',') return { key, operator: 'exists', values: [] };
    const operator = this.operator();
    const values = operator === 'in' || operator === 'notin' ? this.values() : [this.exactValue()];
    checkValues(key, operator, [...new Set(values)].sort());
    return { key, operator, values };
  }

  private operator(): LabelTerm['operator'] {
    const token = this.take();
    switch (token) {
      case 'in':
      case 'notin':
      case '=':
      case '==':
      case '!=':
        return token;
      case '>':
        return 'gt';
      case '<':
        return 'lt';
      default:
        throw badRequest(`unable to parse requirement: found '${token}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  private values(): string[] {
    const open = this.take();
    if (open !== '(') throw badRequest(`unable to parse requirement: found '${open}' expected: '('`);
    const values: string[] = [];
    if (this.peek() === ')') {
      this.take();
      return [''];
    }
    if (this.peek() === '' || (SPECIAL.test(this.peek()) && this.peek() !== ','))
      throw badRequest(`unable to parse requirement: found '${this.peek()}', expected: ',', ')' or identifier`);
    for (;;) {
      const token = this.take();
      const next = this.peek();
      if (token === ',') {
        if (values.length === 0 || next === ')' || next === ',') values.push('');
        if (next !== ')') continue;
      } else if (token === '' || SPECIAL.test(token)) {
        throw badRequest(`unable to parse requirement: found '${token}', expected: ',', or identifier`);
      } else {
        values.push(token);
        if (next === ',') continue;
        if (next !== ')') throw badRequest(`unable to parse requirement: found '${next}', expected: ',' or ')'`);
      }
      this.take();
      return values;
    }
  }

  private exactValue(): string {
    const next = this.peek();
    if (next === '' || next === ',') return '';
    const value = this.take();
    if (SPECIAL.test(value)) throw badRequest(`unable to parse requirement: found '${value}', expected: identifier`);
    return value;
  }

  private peek(): string {
    return this.tokens[this.at] ?? '';
  }

  private take(): string {
    const token = this.peek();
    if (this.at < this.tokens.length) this.at += 1;
    return token;
  }

  private unexpected(token: string, expected: string, found: string): never {
    throw badRequest(`${found} '${token}', expected: ${expected}`);
  }
}

/** Parses a label selector. Throws 400. */
export function parseLabelSelector(text: string): LabelTerm[] {
  return new LabelParser(text).parse();
}

function checkKey(key: string): void {
  const problems = qualifiedName(key);
  if (problems.length > 0)
    throw badRequest(`unable to parse requirement: <nil>: ${invalidValue('', key, problems.join('; ')).message}`);
}

function checkValues(key: string, operator: LabelTerm['operator'], values: readonly string[]): void {
  const isOrder = operator === 'gt' || operator === 'lt';
  const numbers = values
    .map((value, index) =>
      isOrder && !/^[-+]?\d+$/.test(value)
        ? invalidValue(`values[${index}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer")
        : undefined,
    )
    .filter((error) => error !== undefined);
  const texts = values.flatMap((value, index) => {
    const problems = labelValue(value);
    return problems.length === 0 ? [] : [invalidValue(`values[${index}][${key}]`, value, problems.join('; '))];
  });
  const errors = [...new Set([...numbers, ...texts].map(({ field, message }) => `${field}: ${message}`))];
  if (errors.length === 0) return;
  throw badRequest(`unable to parse requirement: ${errors.length === 1 ? errors.join('') : `[${errors.join(', ')}]`}`);
}
