import { inVersionOf } from './kinds/versions.ts';
import type { JsonObject } from '../codec/json.ts';
import { goQuote, textOf } from './goText.ts';
import type { Kind } from './kinds/kind.ts';
import { qualifiedName } from './kinds/names.ts';
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
  return splitTerms(text)
    .filter((term) => term !== '')
    .map((term): FieldTerm => {
      const found = /^((?:[^=!\\]|\\.)*)(!=|==|=)(.*)$/.exec(term);
      if (found === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
      const [, field = '', operator, value = ''] = found;
      if (!known.includes(field)) throw badRequest(unknownField(kind, field));
      if (/^(?:[^=\\]|\\.)*=/.test(value))
        throw badRequest(`invalid field selector: unescaped character in value: ${'='.charCodeAt(0)}`);
      return { field, value: unescapeValue(value), negated: operator === '!=' };
    });
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

const unescapeValue = (value: string): string => value.replaceAll(/\\(.)/g, '$1');

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
    for (const value of values) checkValue(key, value);
    if ((operator === 'gt' || operator === 'lt') && !/^[-+]?\d+$/.test(values[0] ?? '')) {
      const error = invalidValue('values[0]', values[0], "for 'Gt', 'Lt' operators, the value must be an integer");
      throw badRequest(`unable to parse requirement: ${error.field}: ${error.message}`);
    }
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
    for (;;) {
      const token = this.take();
      if (token === ')') return values.length === 0 ? [''] : values;
      if (token === ',') {
        if (values.length === 0 || this.peek() === ')') values.push('');
        continue;
      }
      if (token === '' && values.length > 0)
        throw badRequest(`unable to parse requirement: found '', expected: ',' or ')'`);
      if (token === '' || SPECIAL.test(token))
        throw badRequest(`unable to parse requirement: found '${token}', expected: ',', ')' or identifier`);
      values.push(token);
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

const NAME = /^([A-Za-z0-9]|[A-Za-z0-9][-A-Za-z0-9_.]*[A-Za-z0-9])$/;
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

function checkKey(key: string): void {
  const problems = qualifiedName(key);
  if (problems.length > 0)
    throw badRequest(`unable to parse requirement: <nil>: ${invalidValue('', key, problems.join('; ')).message}`);
}

function checkValue(key: string, value: string): void {
  if (value === '' || (NAME.test(value) && value.length <= 63)) return;
  const error = invalidValue(`values[0][${key}]`, value, VALUE_RULE);
  throw badRequest(`unable to parse requirement: ${error.field}: ${error.message}`);
}
