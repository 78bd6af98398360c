/**
 * A check of a value that came from outside: undefined where the value is a `T`, else a sentence saying what is wrong and
 * where. Checks are total and never throw.
 */
export interface Check<T> {
  (value: unknown, path: string): string | undefined;
  /** Carries the type; there is no value here. */
  readonly type?: T;
}

/** The type that a check proves. */
export type Checked<C> = C extends Check<infer T> ? T : never;

/** A value with its type proved, or the sentence why not. */
export type Validated<T> = { readonly value: T } | { readonly problem: string };

/** Applies a check. */
export function validate<T>(check: Check<T>, value: unknown): Validated<T> {
  const problem = check(value, 'message');
  return problem === undefined ? { value: value as T } : { problem };
}

/** Any string. */
export const isString: Check<string> = (value, path) => expected(typeof value === 'string', path, 'a string');

/** Any finite number. */
export const isNumber: Check<number> = (value, path) =>
  expected(typeof value === 'number' && Number.isFinite(value), path, 'a finite number');

/** An integer from 0. */
export const isCount: Check<number> = (value, path) =>
  expected(Number.isSafeInteger(value) && (value as number) >= 0, path, 'a whole number from 0');

/** True or false. */
export const isBoolean: Check<boolean> = (value, path) => expected(typeof value === 'boolean', path, 'true or false');

/** One of the given strings. */
export function oneOf<const T extends readonly string[]>(...allowed: T): Check<T[number]> {
  return (value, path) =>
    expected(typeof value === 'string' && allowed.includes(value), path, `one of ${allowed.join(', ')}`);
}

/** Exactly this value. */
export function exactly<const T extends string | number | boolean | null>(only: T): Check<T> {
  return (value, path) => expected(value === only, path, String(only));
}

/** A list of what `item` accepts. */
export function listOf<T>(item: Check<T>): Check<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path} is not a list`;
    for (let index = 0; index < value.length; index += 1) {
      // Where it is, is put into words for what is wrong alone: lists are long.
      if (item(value[index], path) !== undefined) return item(value[index], `${path}[${index}]`);
    }
    return undefined;
  };
}

/** A plain object whose every value `item` accepts. */
export function recordOf<T>(item: Check<T>): Check<Readonly<Record<string, T>>> {
  return (value, path) => {
    if (!isPlainObject(value)) return `${path} is not an object`;
    for (const [key, member] of Object.entries(value)) {
      const problem = item(member, `${path}.${key}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

/** A member that may be absent. */
export interface OptionalCheck<T> extends Check<T> {
  readonly optional: true;
}

/** Marks a member as one that may be absent or undefined. */
export function optional<T>(check: Check<T>): OptionalCheck<T> {
  const own: Check<T> = (value, path) => (value === undefined ? undefined : check(value, path));
  return Object.assign(own, { optional: true as const });
}

type Members = Readonly<Record<string, Check<unknown>>>;
type RequiredKeys<M extends Members> = { [K in keyof M]: M[K] extends OptionalCheck<unknown> ? never : K }[keyof M];
type OptionalKeys<M extends Members> = { [K in keyof M]: M[K] extends OptionalCheck<unknown> ? K : never }[keyof M];
type Shape<M extends Members> = { [K in RequiredKeys<M>]: Checked<M[K]> } & { [K in OptionalKeys<M>]?: Checked<M[K]> };

/** An object with these members; members it does not name are accepted, so that a newer peer is understood. */
export function objectOf<const M extends Members>(members: M): Check<Readonly<Shape<M>>> {
  const names = Object.keys(members);
  return (value, path) => {
    if (!isPlainObject(value)) return `${path} is not an object`;
    for (const name of names) {
      const problem = members[name]?.(value[name], `${path}.${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

/** A closed union of objects told apart by their member `tag`. */
export function unionBy<const C extends Readonly<Record<string, Check<unknown>>>>(
  tag: string,
  cases: C,
): Check<Checked<C[keyof C]>> {
  return (value, path) => {
    if (!isPlainObject(value)) return `${path} is not an object`;
    const name = value[tag];
    if (typeof name !== 'string' || !Object.hasOwn(cases, name)) return `${path}.${tag} is unknown: ${printed(name)}`;
    return cases[name]?.(value, path);
  };
}

/** A typed array of one class. */
export function typedArray<T extends ArrayBufferView>(
  constructor: new (length: number) => T,
): Check<T & { readonly length: number }> {
  return (value, path) => expected(value instanceof constructor, path, `a ${constructor.name}`);
}

/** Whether a value is an object that is neither null nor a list. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function expected(holds: boolean, path: string, what: string): string | undefined {
  return holds ? undefined : `${path} is not ${what}`;
}

function printed(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : typeof value;
}
