import type { Json } from '../../codec/json.ts';

/**
 * What the API server knows of a value's type. One model serves four readers: decoding (which fields exist, of which Go
 * type), the comparison behind `managedFields` and apply (struct, map, list, scalar; atomic or granular), strategic merge
 * (patch merge keys) and pruning of custom resources.
 */
export type Schema = (StructSchema | MapSchema | ListTypeSchema | ScalarSchema | AnySchema) & {
  /** Custom resources: null is a value. */
  readonly nullable?: boolean;
};

/** An object with declared fields. */
export interface StructSchema {
  readonly type: 'struct';
  /** The Go type's name as messages show it, `v1.PodSpec`; '' in custom resources. */
  readonly goName: string;
  readonly fields: ReadonlyMap<string, Field>;
  /** `x-kubernetes-map-type: atomic`: the whole has one owner. */
  readonly atomic: boolean;
  /**
   * Unknown fields: dropped (and warned of), or kept and typed by deduction (`x-kubernetes-preserve-unknown-fields`).
   * Below a part that keeps them they are typed as well, though dropped in the end.
   */
  readonly unknown: 'drop' | 'keep' | 'type-and-drop';
  /** The object is itself an API object (`x-kubernetes-embedded-resource`). */
  readonly embedded: boolean;
}

/** One field of a struct. */
export interface Field {
  readonly name: string;
  readonly schema: Schema;
  /** Go's `omitempty` or a pointer, or optional in a custom resource: the zero value is left out when printed. */
  readonly omitEmpty: boolean;
  /** Embedded Go structs on the way to the field (`VolumeSource.`), which only decoding errors show. */
  readonly embedded?: string;
  /** A pointer in Go (or any field of a custom resource): absent and zero differ. A value struct always exists. */
  readonly pointer: boolean;
  /** The declared default, also assumed for key fields of lists (a Service port's protocol). */
  readonly default?: Json;
  /** Strategic merge: the key that items of this list are merged by. */
  readonly patchMergeKey?: string;
  /** Strategic merge: `merge`, `replace`, `retainKeys`. */
  readonly patchStrategies: readonly string[];
}

/** An object with keys of the user's choosing. */
export interface MapSchema {
  readonly type: 'map';
  readonly values: Schema;
  readonly atomic: boolean;
  /** The Go type as messages show it; '' in custom resources. */
  readonly goType: string;
}

/** A list and how it merges: as a whole, as a set of scalars, or as a map of items by their key fields. */
export interface ListTypeSchema {
  readonly type: 'list';
  readonly items: Schema;
  readonly merge: 'atomic' | 'set' | 'map';
  readonly keys: readonly string[];
  /** The Go type as messages show it; '' in custom resources. */
  readonly goType: string;
}

/** A value without parts. `format` tells values that are checked or rewritten when decoded. */
export interface ScalarSchema {
  readonly type: 'scalar';
  readonly json: 'string' | 'integer' | 'number' | 'boolean';
  /** The Go type as messages show it: `string`, `int32`, `v1.PodPhase`. */
  readonly goType: string;
  readonly format:
    | 'plain'
    | 'int32'
    | 'int64'
    | 'quantity'
    | 'int-or-string'
    | 'time'
    | 'micro-time'
    | 'duration'
    | 'bytes';
}

/** A value of which nothing is declared: its shape is deduced from what it is; its lists are atomic. */
export interface AnySchema {
  readonly type: 'any';
  /** Whether it may be an object only (RawExtension) or also a scalar or list (apiextensions JSON). */
  readonly atomic: boolean;
}
