import type { Json } from '../../codec/json.ts';
import { isJsonObject, stringifyJson } from '../../codec/json.ts';
import { goQuote } from '../goText.ts';
import { goMap } from './goMap.ts';
import type { ListTypeSchema, ScalarSchema, Schema } from '../schema/schema.ts';
import { fieldElement, itemElement, printElement, type Element } from './element.ts';
import { fieldSchema, shapeOf } from './shape.ts';

/**
 * Checks that a configuration can be typed by the schema, as apply needs: no undeclared field, no item without identity,
 * no duplicate. Returns the sentence of the real server's error, undefined where all is well.
 */
export function typingProblem(
  schema: Schema,
  value: Json,
  duplicates: 'allow-duplicates' | 'refuse-duplicates' = 'refuse-duplicates',
): string | undefined {
  const isRefused = duplicates === 'refuse-duplicates';
  if (isTyped(schema, value, isRefused)) return undefined;
  const problems: Problem[] = [];
  check(schema, value, [], problems, isRefused);
  const texts = problems.map(({ path, text }) =>
    path.length === 0 ? text : `${path.map(printElement).join('')}: ${text}`,
  );
  if (texts.length <= 1) return texts[0];
  return ['errors:', ...texts.map((text) => `  ${text}`)].join('\n');
}

/** Whether `check` finds nothing, which is the rule: without the paths that only problems need. */
function isTyped(schema: Schema, value: Json, refusesDuplicates: boolean): boolean {
  if (value === null) return true;
  const shape = shapeOf(schema, value);
  if (shape.kind === 'leaf') return scalarProblem(schema, value) === undefined;
  if (shape.kind === 'list') return Array.isArray(value) && areTyped(shape.schema, value, refusesDuplicates);
  if (!isJsonObject(value)) return false;
  for (const name in value) {
    const child = fieldSchema(shape.schema, name);
    if (child === undefined || !isTyped(child, value[name] ?? null, refusesDuplicates)) return false;
  }
  return true;
}

function areTyped(schema: ListTypeSchema, list: readonly Json[], refusesDuplicates: boolean): boolean {
  if (schema.merge === 'atomic') return list.every((item) => isTyped(schema.items, item, refusesDuplicates));
  const seen = new Set<Element>();
  for (const item of list) {
    const element = itemElement(schema, item);
    if (typeof element !== 'string' || !isTyped(schema.items, item, refusesDuplicates)) return false;
    seen.add(element);
  }
  return !refusesDuplicates || seen.size === list.length;
}

interface Problem {
  readonly path: readonly Element[];
  readonly text: string;
}

function check(
  schema: Schema,
  value: Json,
  path: readonly Element[],
  problems: Problem[],
  refusesDuplicates: boolean,
): void {
  const shape = shapeOf(schema, value);
  if (value === null) return;
  if (shape.kind === 'leaf') {
    const text = scalarProblem(schema, value);
    if (text !== undefined) problems.push({ path, text });
  } else if (shape.kind === 'list') {
    if (Array.isArray(value)) checkItems(shape.schema, value, path, problems, refusesDuplicates);
    else problems.push({ path, text: `expected list, got ${shown(value)}` });
  } else if (isJsonObject(value)) {
    for (const name of Object.keys(value).sort()) {
      const part = value[name] ?? null;
      const child = fieldSchema(shape.schema, name);
      const partPath = [...path, fieldElement(name)];
      if (child === undefined) {
        problems.push({ path: partPath, text: 'field not declared in schema' });
        return;
      }
      check(child, part, partPath, problems, refusesDuplicates);
    }
  } else {
    problems.push({ path, text: `expected map, got ${shown(value)}` });
  }
}

function checkItems(
  schema: ListTypeSchema,
  list: readonly Json[],
  path: readonly Element[],
  problems: Problem[],
  refusesDuplicates: boolean,
): void {
  const seen = new Set<Element>();
  for (const [index, item] of list.entries()) {
    if (schema.merge === 'atomic') {
      check(schema.items, item, [...path, `i:${index}`], problems, refusesDuplicates);
      continue;
    }
    const element = itemElement(schema, item);
    if (typeof element !== 'string') {
      problems.push({ path, text: `element ${index}: ${element.problem}` });
      return;
    }
    if (refusesDuplicates && seen.has(element))
      problems.push({ path, text: `duplicate entries for key ${printElement(element)}` });
    seen.add(element);
    check(schema.items, item, [...path, element], problems, refusesDuplicates);
  }
}

function scalarProblem(schema: Schema, value: Json): string | undefined {
  if (schema.type !== 'scalar') return undefined;
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  if (isUntyped(schema)) return typeof value === 'object' ? `expected any scalar, got ${shown(value)}` : undefined;
  switch (schema.json) {
    case 'integer':
    case 'number':
      return isNumber ? undefined : `expected numeric (int or float), got ${goTypeOf(value)}`;
    case 'string':
      return typeof value === 'string'
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${shown(value)}`;
  }
}

function isUntyped(schema: ScalarSchema): boolean {
  return (
    schema.format === 'quantity' ||
    schema.format === 'int-or-string' ||
    schema.format === 'time' ||
    schema.format === 'micro-time'
  );
}

/** A value as structured-merge-diff prints it: a reference to what it wraps. */
function shown(value: Json): string {
  return `&{${goMap(value)}}`;
}

function goTypeOf(value: Json): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}

function goSyntax(value: Json): string {
  if (typeof value === 'string') return goQuote(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (isJsonObject(value)) {
    return `map[string]interface {}{${Object.keys(value)
      .sort()
      .map((key) => `${goQuote(key)}:${goSyntax(value[key] ?? null)}`)
      .join(', ')}}`;
  }
  return value === null ? 'interface {}(nil)' : stringifyJson(value);
}
