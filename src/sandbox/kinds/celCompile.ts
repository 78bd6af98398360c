import type { Environment } from '@marcbachmann/cel-js';

/** A compiled expression: its value, or what went wrong in the words of the API server. */
export type Program = (values: Record<string, unknown>) => { value: unknown } | { problem: string };

/** Libraries of Kubernetes that are not there: rules which call them are taken, and never evaluated. */
const MISSING =
  /\b(quantity|isQuantity|url|isURL|ip|isIP|cidr|isCIDR|semver|isSemver|authorizer|format|base64|strings|math|lists)\b\s*[.(]/;

/** Whether this server can evaluate an expression. */
export function isEvaluated(expression: string): boolean {
  return !MISSING.test(expression);
}

/**
 * Compiles an expression.
 * @returns the program and the name of its type; or what is wrong with it, as cel-go says it
 */
export function compileRule(
  environment: Environment,
  expression: string,
): { program: Program; type: string } | { problem: string } {
  const checked = environment.check(expression);
  if (!checked.valid) return { problem: goProblem(expression, messageOf(checked.error)) };
  const absent = nullComparison(environment, expression);
  if (absent !== undefined) return { problem: absent };
  const evaluate = environment.parse(expression);
  const program: Program = (values) => {
    try {
      return { value: evaluate(values) };
    } catch (error) {
      return { problem: evaluationProblem(messageOf(error)) };
    }
  };
  return { program, type: checked.type ?? '' };
}

/** Comparing a text or number with null is no error to this library; the server refuses it. */
function nullComparison(environment: Environment, expression: string): string | undefined {
  const found = /((?:self|oldSelf)(?:\.\w+)*)\s*(==|!=)\s*null\b/.exec(expression);
  const type = found?.[1] === undefined ? undefined : environment.check(found[1]).type;
  if (found === null || type === undefined || !['int', 'double', 'string', 'bool'].includes(type)) return undefined;
  const at = found.index + found[0].indexOf(` ${found[2] ?? ''}`) + 1;
  return printed(expression, `found no matching overload for '_${found[2] ?? ''}_' applied to '(${type}, null)'`, at);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function evaluationProblem(message: string): string {
  const [first = ''] = message.split('\n');
  const index = /^No such key: index out of bounds, index (\d+)/.exec(first)?.[1];
  if (index !== undefined) return `index out of bounds: ${index}`;
  return first.replace(/^No such key: /, 'no such key: ');
}

const EXPECTED =
  "expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** The error of an expression as cel-go prints it, with the place in its line. */
function goProblem(expression: string, message: string): string {
  const [first = ''] = message.split('\n');
  const caret = /\n(\s*)\^$/.exec(message)?.[1]?.length ?? 9;
  const start = Math.max(0, caret - 9);
  const { text, at } = translated(expression, first, start);
  return printed(expression, text, at);
}

function printed(expression: string, text: string, at: number): string {
  return `ERROR: <input>:1:${at + 1}: ${text}\n | ${expression}\n | ${'.'.repeat(at)}^`;
}

function translated(expression: string, message: string, start: number): { text: string; at: number } {
  const found = (pattern: RegExp): string[] | undefined => pattern.exec(message)?.slice(1);
  const key = found(/^No such key: (.*)$/);
  if (key !== undefined) return { text: `undefined field '${key[0] ?? ''}'`, at: Math.max(0, start - 1) };
  const variable = found(/^Unknown variable: (.*)$/);
  if (variable !== undefined)
    return { text: `undeclared reference to '${variable[0] ?? ''}' (in container '')`, at: start };
  const overload = found(/^no such overload: (\S+) (\S+) (\S+)$/);
  if (overload !== undefined) {
    const [left = '', operator = '', right = ''] = overload;
    const place = expression.indexOf(` ${operator} `, start);
    return {
      text: `found no matching overload for '_${operator}_' applied to '(${left}, ${right})'`,
      at: place < 0 ? start : place + 1,
    };
  }
  const method = found(/^found no matching overload for '[^(]*\.(\w+)\(/);
  if (method !== undefined) {
    const place = expression.indexOf(`${method[0] ?? ''}(`, start);
    return {
      text: `undeclared reference to '${method[0] ?? ''}' (in container '')`,
      at: place < 0 ? start : place + (method[0]?.length ?? 0),
    };
  }
  const call = found(/^found no matching overload for '(\w+)\((.*)\)'$/);
  if (call !== undefined)
    return {
      text: `found no matching overload for '${call[0] ?? ''}' applied to '(${call[1] ?? ''})'`,
      at: start + (call[0]?.length ?? 0),
    };
  const operand = found(/^Logical operator requires bool operands, got '(.*)'$/);
  if (operand !== undefined) {
    const place = /(&&|\|\|)\s*(?=\S+$)/.exec(expression);
    const at = place === null ? start : place.index + place[0].length;
    return { text: `expected type 'bool' but found '${operand[0] ?? ''}'`, at };
  }
  if (message.startsWith('has() invalid'))
    return { text: 'invalid argument to has() macro', at: expression.indexOf('has(') + 4 };
  if (message === 'Unexpected token: EOF')
    return { text: `Syntax error: mismatched input '<EOF>' ${EXPECTED}`, at: expression.length };
  return { text: `Syntax error: ${message}`, at: start };
}
