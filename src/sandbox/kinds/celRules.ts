import { Optional } from '@marcbachmann/cel-js';

import type { Json, JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject } from '../../codec/json.ts';
import type { FieldError } from '../status.ts';
import { duplicateValue, forbiddenField, invalidValue, required } from '../status.ts';
import { objectAt, objectsAt, textAt } from './access.ts';
import { compileRule, isEvaluated, type Program } from './celCompile.ts';
import { RuleTypes, type RuleType } from './celTypes.ts';
import { sameItem } from './customValidation.ts';

/** A schema with rules in it, or below. */
interface RuleNode {
  readonly schema: JsonObject;
  readonly type: RuleType;
  readonly rules: readonly Rule[];
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly items: RuleNode | undefined;
  readonly values: RuleNode | undefined;
}

interface Rule {
  readonly declared: JsonObject;
  readonly program: Program;
  readonly message: Program | undefined;
  readonly usesOldSelf: boolean;
  readonly optionalOldSelf: boolean;
}

/** What rules refuse, and what they let pass because it was so before. */
export interface Verdict {
  readonly errors: FieldError[];
  readonly warnings: FieldError[];
}

/** The `x-kubernetes-validations` of a schema, compiled. */
export class ValidationRules {
  private readonly root: RuleNode | undefined;

  constructor(openApi: JsonObject) {
    const types = new RuleTypes();
    // The types of all parts are registered before the first rule is compiled.
    this.root = compileNode(describe(openApi, types, true), types);
  }

  /**
   * What the rules say of an object. Of values that are as they were they only warn, unless they compare both.
   * @param live the object that is replaced
   */
  judge(object: JsonObject, live: JsonObject | undefined): Verdict {
    const verdict: Verdict = { errors: [], warnings: [] };
    if (this.root !== undefined) judge(this.root, object, live, '', false, verdict);
    return verdict;
  }
}

interface Described {
  readonly schema: JsonObject;
  readonly type: RuleType;
  readonly properties: readonly (readonly [string, Described])[];
  readonly items: Described | undefined;
  readonly values: Described | undefined;
}

function describe(schema: JsonObject, types: RuleTypes, isResource = false): Described {
  const { items, additionalProperties } = schema;
  return {
    schema,
    type: types.typeOf(schema, isResource || schema['x-kubernetes-embedded-resource'] === true),
    properties: Object.entries(objectAt(schema, 'properties')).flatMap(([name, part]) =>
      isJsonObject(part) && hasRules(part) ? [[name, describe(part, types)] as const] : [],
    ),
    items: isJsonObject(items) && hasRules(items) ? describe(items, types) : undefined,
    values:
      isJsonObject(additionalProperties) && hasRules(additionalProperties)
        ? describe(additionalProperties, types)
        : undefined,
  };
}

/** Whether a schema has rules anywhere. */
export function hasRules(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.some(hasRules);
  if (!isJsonObject(schema)) return false;
  return schema['x-kubernetes-validations'] !== undefined || Object.values(schema).some(hasRules);
}

function compileNode(node: Described, types: RuleTypes): RuleNode {
  const below = (part: Described | undefined): RuleNode | undefined =>
    part === undefined ? undefined : compileNode(part, types);
  return {
    schema: node.schema,
    type: node.type,
    rules: objectsAt(node.schema, 'x-kubernetes-validations').flatMap((declared) => {
      const rule = compile(declared, node.type, types);
      return rule === undefined ? [] : [rule];
    }),
    properties: new Map(node.properties.map(([name, part]) => [name, compileNode(part, types)])),
    items: below(node.items),
    values: below(node.values),
  };
}

function compile(declared: JsonObject, type: RuleType, types: RuleTypes): Rule | undefined {
  const [rule, message] = [textAt(declared, 'rule'), textAt(declared, 'messageExpression')];
  if (!isEvaluated(rule)) return undefined;
  const optionalOldSelf = declared['optionalOldSelf'] === true;
  const environment = types.environmentOf(type, optionalOldSelf);
  const compiled = compileRule(environment, rule);
  if ('problem' in compiled) return undefined;
  const expression = message === '' || !isEvaluated(message) ? undefined : compileRule(environment, message);
  return {
    declared,
    program: compiled.program,
    message: expression === undefined || 'problem' in expression ? undefined : expression.program,
    usesOldSelf: /\boldSelf\b/.test(rule),
    optionalOldSelf,
  };
}

function judge(
  node: RuleNode,
  value: Json,
  before: Json | undefined,
  path: string,
  parentStays: boolean,
  verdict: Verdict,
): void {
  if (value === null) return;
  const stays = before === undefined ? parentStays : equalJson(value, before);
  for (const rule of node.rules) {
    const found = ruleError(node, rule, value, before, path);
    if (found === undefined) continue;
    const isKept = stays && !rule.usesOldSelf && !found.isBroken;
    (isKept ? verdict.warnings : verdict.errors).push(found.error);
  }
  if (isJsonObject(value)) {
    const old = isJsonObject(before) ? before : {};
    for (const [name, item] of Object.entries(value)) {
      const property = node.properties.get(name);
      if (property !== undefined)
        judge(property, item, old[name], path === '' ? name : `${path}.${name}`, stays, verdict);
      else if (node.values !== undefined) judge(node.values, item, old[name], `${path}[${name}]`, stays, verdict);
    }
  }
  if (Array.isArray(value) && node.items !== undefined)
    for (const [index, item] of value.entries())
      judge(node.items, item, sameItem(node.schema, item, before), `${path}[${index}]`, stays, verdict);
}

function ruleError(
  { schema, type }: RuleNode,
  { declared, program, message, usesOldSelf, optionalOldSelf }: Rule,
  value: Json,
  before: Json | undefined,
  path: string,
): { error: FieldError; isBroken: boolean } | undefined {
  const hasBefore = before !== undefined && before !== null;
  if (usesOldSelf && !hasBefore && !optionalOldSelf) return undefined;
  const old = hasBefore ? type.convert(before) : undefined;
  const values = { self: type.convert(value), oldSelf: optionalOldSelf ? Optional.of(old) : old };
  const field = path === '' ? '<nil>' : path;
  const kind = textAt(schema, 'type');
  const result = program(values);
  const shown = textAt(declared, 'message').trim() || textAt(declared, 'rule').trim();
  if ('problem' in result) {
    const why = result.problem.startsWith('no such overload')
      ? `'${result.problem}': call arguments did not match a supported operator, function or macro signature for rule: ${shown}`
      : `${result.problem} evaluating rule: ${shown}`;
    return { error: invalidValue(field, kind, why), isBroken: true };
  }
  if (result.value === true) return undefined;
  const computed = message?.(values);
  const text = computed !== undefined && 'value' in computed ? computed.value : undefined;
  const fallback = textAt(declared, 'message') === '' ? `failed rule: ${shown}` : shown;
  const detail = typeof text === 'string' ? text : fallback;
  const part = textAt(declared, 'fieldPath').trim().replace(/^\./, '');
  const at = part === '' ? field : path === '' ? part : `${path}.${part}`;
  return { error: reasoned(textAt(declared, 'reason'), at, detail, value, kind), isBroken: false };
}

/** An error with the reason that a rule gives; objects and lists are not shown. */
function reasoned(reason: string, at: string, detail: string, value: Json, kind: string): FieldError {
  const isWhole = kind === 'object' || kind === 'array';
  switch (reason) {
    case 'FieldValueForbidden':
      return forbiddenField(at, detail);
    case 'FieldValueRequired':
      return required(at, detail);
    case 'FieldValueDuplicate':
      return isWhole
        ? { reason: 'FieldValueDuplicate', field: at, message: 'Duplicate value' }
        : duplicateValue(at, value);
    default:
      return isWhole
        ? { reason: 'FieldValueInvalid', field: at, message: `Invalid value: ${detail}` }
        : invalidValue(at, value, detail);
  }
}

/**
 * Rules of a definition's schema that do not compile, or are of the wrong type.
 * @param field where the schema is
 */
export function ruleCompileErrors(openApi: JsonObject, field: string): FieldError[] {
  if (!hasRules(openApi)) return [];
  const types = new RuleTypes();
  return compileErrors(describe(openApi, types, true), types, field);
}

function compileErrors(node: Described, types: RuleTypes, field: string): FieldError[] {
  return [
    ...objectsAt(node.schema, 'x-kubernetes-validations').flatMap((declared, index) =>
      compileErrorsOf(declared, node.type, types, `${field}.x-kubernetes-validations[${index}]`),
    ),
    ...node.properties.flatMap(([name, part]) => compileErrors(part, types, `${field}.properties[${name}]`)),
    ...(node.items === undefined ? [] : compileErrors(node.items, types, `${field}.items`)),
    ...(node.values === undefined ? [] : compileErrors(node.values, types, `${field}.additionalProperties`)),
  ];
}

function compileErrorsOf(declared: JsonObject, type: RuleType, types: RuleTypes, field: string): FieldError[] {
  const [rule, message] = [textAt(declared, 'rule'), textAt(declared, 'messageExpression')];
  const optional = declared['optionalOldSelf'];
  const environment = types.environmentOf(type, optional === true);
  const errors: FieldError[] = [];
  const check = (expression: string, part: string, wanted: string, lead: string, wrong: string): void => {
    if (expression === '' || !isEvaluated(expression)) return;
    const compiled = compileRule(environment, expression);
    const problem = 'problem' in compiled ? `${lead}${compiled.problem}` : compiled.type === wanted ? undefined : wrong;
    if (problem === undefined || ('type' in compiled && compiled.type === 'dyn')) return;
    errors.push({
      reason: 'FieldValueInvalid',
      field: `${field}.${part}`,
      message: `Invalid value: ${shownRule(declared)}: ${problem}`,
    });
  };
  check(rule, 'rule', 'bool', 'compilation failed: ', 'cel expression must evaluate to a bool');
  const [lead, wrong] = ['messageExpression compilation failed: ', 'messageExpression must evaluate to a string'];
  check(message, 'messageExpression', 'string', lead, wrong);
  if (typeof optional === 'boolean' && !/\boldSelf\b/.test(rule))
    errors.push(invalidValue(`${field}.optionalOldSelf`, optional, 'may not be set if oldSelf is not used in rule'));
  return errors;
}

/** A rule as the server's own type prints. */
function shownRule(rule: JsonObject): string {
  const text = JSON.stringify({
    Rule: textAt(rule, 'rule'),
    Message: textAt(rule, 'message'),
    MessageExpression: textAt(rule, 'messageExpression'),
    Reason: rule['reason'] ?? null,
    FieldPath: textAt(rule, 'fieldPath'),
    OptionalOldSelf: rule['optionalOldSelf'] ?? null,
  });
  return text.replaceAll(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}
