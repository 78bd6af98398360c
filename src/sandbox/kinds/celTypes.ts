import { isDeepStrictEqual } from 'node:util';

import { Environment } from '@marcbachmann/cel-js';

import type { Json, JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { textAt } from './access.ts';

/** How a part of a custom resource looks to the rules of its schema. */
export interface RuleType {
  /** The type's name in CEL. */
  readonly name: string;
  /** The value in CEL, from its JSON. */
  convert(value: Json): unknown;
}

const META: JsonObject = { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } };

/**
 * Builds the types of a schema's parts and the environment that rules are compiled in. Fields are typed by the schema;
 * what is preserved though unknown is not seen. Source: the validation rules section of the CustomResourceDefinition
 * page of the Kubernetes documentation.
 */
export class RuleTypes {
  private readonly environment = new Environment({ enableOptionalTypes: true });
  private count = 0;

  constructor() {
    registerFunctions(this.environment);
  }

  /** The type of a part. `isResource`: it has a kind, an apiVersion and a name of its own. */
  typeOf(schema: JsonObject, isResource = schema['x-kubernetes-embedded-resource'] === true): RuleType {
    if (schema['x-kubernetes-int-or-string'] === true) return { name: 'dyn', convert: untyped };
    switch (textAt(schema, 'type')) {
      case 'integer':
        return { name: 'int', convert: (value) => (isNumber(value) ? BigInt(Math.trunc(Number(value))) : value) };
      case 'number':
        return { name: 'double', convert: (value) => (isNumber(value) ? Number(value) : value) };
      case 'boolean':
        return { name: 'bool', convert: (value) => value };
      case 'string':
        return this.textType(schema['format']);
      case 'array':
        return this.listType(schema);
      case 'object':
        return this.objectType(schema, isResource);
      default:
        return { name: 'dyn', convert: untyped };
    }
  }

  /** An environment with `self` and `oldSelf` of a type. */
  environmentOf({ name }: RuleType, optionalOldSelf: boolean): Environment {
    return this.environment
      .clone()
      .registerVariable('self', name)
      .registerVariable('oldSelf', optionalOldSelf ? `optional<${name}>` : name);
  }

  private textType(format: Json | undefined): RuleType {
    if (format === 'date-time' || format === 'date')
      return {
        name: 'google.protobuf.Timestamp',
        convert: (value) => (typeof value === 'string' ? new Date(value) : value),
      };
    if (format === 'byte')
      return {
        name: 'bytes',
        convert: (value) => (typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value),
      };
    if (format === 'duration')
      return {
        name: 'google.protobuf.Duration',
        convert: (value) =>
          typeof value === 'string' ? new Environment().evaluate(`duration(${JSON.stringify(value)})`) : value,
      };
    return { name: 'string', convert: (value) => value };
  }

  private listType(schema: JsonObject): RuleType {
    const items = this.typeOf(isJsonObject(schema['items']) ? schema['items'] : {});
    return {
      name: `list<${items.name}>`,
      convert: (value) => (Array.isArray(value) ? value.map((item) => items.convert(item)) : value),
    };
  }

  private objectType(schema: JsonObject, isResource: boolean): RuleType {
    const { properties, additionalProperties } = schema;
    if (isJsonObject(additionalProperties)) {
      const values = this.typeOf(additionalProperties);
      return {
        name: `map<string, ${values.name}>`,
        convert: (value) =>
          isJsonObject(value)
            ? new Map(Object.entries(value).map(([key, item]) => [key, values.convert(item)]))
            : value,
      };
    }
    const declared: JsonObject = {
      ...(isResource ? { apiVersion: { type: 'string' }, kind: { type: 'string' } } : {}),
      ...(isJsonObject(properties) ? properties : {}),
      ...(isResource ? { metadata: META } : {}),
    };
    const parts = Object.entries(declared).flatMap(([name, part]): [string, RuleType][] =>
      isJsonObject(part) ? [[name, this.typeOf(part)]] : [],
    );
    this.count += 1;
    const name = `Object${this.count}`;
    // A class for each: the library knows what a value is by its constructor.
    const ctor = class extends Part {};
    const fields = Object.fromEntries(parts.map(([field, type]) => [escapedName(field), type.name]));
    this.environment.registerType(name, { ctor, fields });
    this.environment.registerOperator(`${name} == ${name}`, isDeepStrictEqual);
    return {
      name,
      convert: (value) => (isJsonObject(value) ? new ctor(convertParts(parts, value)) : value),
    };
  }
}

/** An object with declared fields. */
class Part {
  readonly [field: string]: unknown;

  constructor(values: Record<string, unknown>) {
    Object.assign(this, values);
  }
}

function convertParts(parts: readonly [string, RuleType][], value: JsonObject): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, type] of parts)
    if (Object.hasOwn(value, name)) result[escapedName(name)] = type.convert(value[name] ?? null);
  return result;
}

const isNumber = (value: Json): value is number | bigint => typeof value === 'number' || typeof value === 'bigint';

function untyped(value: Json): unknown {
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  if (Array.isArray(value)) return value.map(untyped);
  if (isJsonObject(value)) return new Map(Object.entries(value).map(([key, item]) => [key, untyped(item)]));
  return value;
}

const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** A field's name as rules spell it, where it is no identifier. */
function escapedName(name: string): string {
  if (RESERVED.has(name)) return `__${name}__`;
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}

/** What `sets.contains` and its like are called on. */
class Sets {
  readonly library = 'sets';
}

/** Kubernetes' own functions on lists and texts. Source: the CEL page of the Kubernetes documentation. */
function registerFunctions(environment: Environment): void {
  const sum = (list: readonly (bigint | number)[]): bigint | number =>
    list.every((item) => typeof item === 'bigint')
      ? list.reduce((total, item) => total + item, 0n)
      : list.reduce<number>((total, item) => total + Number(item), 0);
  const least = (list: readonly (bigint | number)[], sign: number): bigint | number => {
    const [first, ...rest] = list;
    if (first === undefined) throw new Error(`${sign < 0 ? 'min' : 'max'} called on empty list`);
    return rest.reduce((best, item) => (item < best === sign < 0 && item !== best ? item : best), first);
  };
  const isSorted = (list: readonly (bigint | number | string)[]): boolean =>
    list.every((item, index) => index === 0 || !(item < (list[index - 1] ?? item)));
  environment.registerType('Sets', Sets);
  environment.registerConstant('sets', 'Sets', new Sets());
  for (const type of ['int', 'double']) {
    environment.registerFunction(`list<${type}>.sum(): ${type}`, sum);
    environment.registerFunction(`list<${type}>.min(): ${type}`, (list: bigint[]) => least(list, -1));
    environment.registerFunction(`list<${type}>.max(): ${type}`, (list: bigint[]) => least(list, 1));
  }
  for (const type of ['int', 'double', 'string']) {
    environment.registerFunction(`list<${type}>.isSorted(): bool`, isSorted);
    environment.registerFunction(`list<${type}>.indexOf(${type}): int`, (list: unknown[], item: unknown) =>
      BigInt(list.indexOf(item)),
    );
    environment.registerFunction(`list<${type}>.lastIndexOf(${type}): int`, (list: unknown[], item: unknown) =>
      BigInt(list.lastIndexOf(item)),
    );
    environment.registerFunction(
      `Sets.contains(list<${type}>, list<${type}>): bool`,
      (_sets: Sets, list: unknown[], items: unknown[]) => items.every((item) => list.includes(item)),
    );
    environment.registerFunction(
      `Sets.intersects(list<${type}>, list<${type}>): bool`,
      (_sets: Sets, list: unknown[], items: unknown[]) => items.some((item) => list.includes(item)),
    );
    environment.registerFunction(
      `Sets.equivalent(list<${type}>, list<${type}>): bool`,
      (_sets: Sets, list: unknown[], items: unknown[]) =>
        items.every((item) => list.includes(item)) && list.every((item) => items.includes(item)),
    );
  }
  environment.registerFunction(
    'string.find(string): string',
    (text: string, pattern: string) => new RegExp(pattern, 'u').exec(text)?.[0] ?? '',
  );
  environment.registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) =>
    [...text.matchAll(new RegExp(pattern, 'gu'))].map(([found]) => found),
  );
  environment.registerFunction('string.charAt(int): string', (text: string, at: bigint) => text.charAt(Number(at)));
  environment.registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
    text.replaceAll(from, () => to),
  );
  environment.registerFunction('string.reverse(): string', (text: string) => Array.from(text).reverse().join(''));
}
