import type { Json, JsonObject } from '../../codec/json.ts';
import { equalJson, isJsonObject } from '../../codec/json.ts';
import { loadData } from '../data/data.ts';
import type { Path } from '../../codec/path.ts';
import { components, structOf } from '../schema/builtInTypes.ts';
import { emptyOf, normalize } from '../schema/normalize.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';
import { objectAt, setOrDelete, textAt, valueAtNames } from './access.ts';
import type { Kind, OtherSubresource, TableColumn, WriteContext } from './kind.ts';
import { metadataErrors, updateErrors } from './metadata.ts';
import { dnsSubdomain, type NameCheck } from './names.ts';

/** What is particular to one built-in kind; all else follows from the recorded discovery and from the common rules. */
export interface KindRules {
  /** `api/v1` or `apis/GROUP/VERSION`. */
  readonly place: string;
  readonly plural: string;
  readonly checkName?: NameCheck;
  readonly createOnUpdate?: boolean;
  readonly unconditionalUpdate?: boolean;
  readonly deleteAnswers?: 'object' | 'status';
  readonly storage?: { readonly group: string; readonly resource: string };
  /** The part of the store's key before the namespace, where it is not the plural. */
  readonly storagePath?: string;
  /** Which changes count as a generation; 'none' leaves what a client sets on create. */
  readonly generation?: 'none' | 'spec' | 'spec-or-annotations' | ((next: JsonObject, live: JsonObject) => boolean);
  /** A status that comes with a create is kept (Nodes). */
  readonly keepsStatusOnCreate?: boolean;
  /** Finalizers need not be qualified (Events, Leases and definitions, whose metadata are checked less). */
  readonly plainFinalizers?: boolean;
  /** False for a second version or group of the same stored objects. */
  readonly isStorageVersion?: boolean;
  readonly defaultPropagation?: 'Background' | 'Orphan';
  /** What every answer warns of. */
  readonly deprecation?: string;
  /** Paths that /status resets besides spec. */
  readonly statusResets?: readonly (readonly string[])[];
  readonly fieldSelectors?: Readonly<Record<string, readonly string[]>>;
  /**
   * How often the kind itself repeats the errors of metadata on an update, after the general check: `changes` counts
   * checks of what changed, `whole` those of the new metadata on its own. Once and not at all, if left out.
   */
  readonly metadataChecks?: { readonly changes: number; readonly whole: number };
  defaults?(object: JsonObject): void;
  create?(object: JsonObject, context: WriteContext): void;
  update?(next: JsonObject, live: JsonObject, context: WriteContext): void;
  /** On /status: what else of metadata or spec is put back. */
  updateStatus?(next: JsonObject, live: JsonObject): void;
  validate?(object: JsonObject): FieldError[];
  /** Errors of a create before those of `validate`. */
  validateCreate?(object: JsonObject): FieldError[];
  /** Errors of an update besides those of `validate`. */
  validateUpdate?(next: JsonObject, live: JsonObject): FieldError[];
  validateStatus?(next: JsonObject, live: JsonObject): FieldError[];
  warnings?(next: JsonObject, live: JsonObject | undefined): string[];
  released?(object: JsonObject, context: WriteContext): void;
  cells(object: JsonObject, nowMs: number): Json[];
}

interface Discovered {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly group?: string;
  readonly version?: string;
}

/** Makes a Kind of the recorded discovery and a kind's own rules. */
export function defineKind(rules: KindRules): Kind {
  const { group, version } = splitPlace(rules.place);
  const resources = (loadData('discovery.json')['resources'] as JsonObject)[rules.place] as unknown as Discovered[];
  const found = resources.find(({ name }) => name === rules.plural);
  if (found === undefined) throw new Error(`no recorded discovery of ${rules.plural}`);
  const { kind, namespaced } = found;
  const below = resources.filter(({ name }) => name.startsWith(`${rules.plural}/`));
  const hasStatus = below.some(({ name }) => name === `${rules.plural}/status`);
  const hasScale = below.some(({ name }) => name === `${rules.plural}/scale`);
  const checkName = rules.checkName ?? dnsSubdomain;
  const checks = rules.metadataChecks ?? { changes: 1, whole: 0 };
  const generation = rules.generation ?? 'none';
  const schema = structOf(componentOf(group, version, kind));
  return {
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural: rules.plural,
    singular: found.singularName,
    shortNames: found.shortNames ?? [],
    categories: found.categories ?? [],
    namespaced,
    verbs: found.verbs,
    origin: 'built-in',
    subresources: {
      status: hasStatus,
      ...(hasScale ? { scale: { specReplicas: ['spec', 'replicas'], statusReplicas: ['status', 'replicas'] } } : {}),
      others: below.flatMap((item) => otherSubresource(item, group, version)),
    },
    schema,
    schemaOf: () => schema,
    isStorageVersion: rules.isStorageVersion ?? true,
    unconditionalUpdate: rules.unconditionalUpdate ?? true,
    createOnUpdate: rules.createOnUpdate ?? false,
    deleteAnswers: rules.deleteAnswers ?? 'status',
    storage: rules.storage ?? { group, resource: rules.plural },
    defaultPropagation: rules.defaultPropagation ?? 'Background',
    ...(rules.deprecation === undefined ? {} : { deprecation: rules.deprecation }),
    storageKey: (namespace, name) =>
      ['/registry', rules.storagePath ?? rules.plural, ...(namespaced ? [namespace] : []), name].join('/'),
    fieldSelectors: Object.keys(rules.fieldSelectors ?? {}),
    fieldValue: (object, selector) => fieldText(object, rules.fieldSelectors?.[selector]),
    applyDefaults: (object) => rules.defaults?.(object),
    prepareCreate: (object, context) => {
      delete objectAt(object, 'metadata')['selfLink'];
      if (generation !== 'none') objectAt(object, 'metadata')['generation'] = 1;
      if (hasStatus && rules.keepsStatusOnCreate !== true) object['status'] = emptyOf(schema)['status'] ?? {};
      dropEmptyLists(object, schema);
      rules.create?.(object, context);
    },
    prepareUpdate: (next, live, context, subresource) => {
      delete objectAt(next, 'metadata')['selfLink'];
      if (subresource === 'status') {
        setOrDelete(next, 'spec', live['spec']);
        rules.updateStatus?.(next, live);
      } else {
        if (hasStatus) setOrDelete(next, 'status', live['status']);
        rules.update?.(next, live, context);
      }
      dropEmptyLists(next, schema);
      keepGeneration(next, live, generation !== 'none' && counts(generation, next, live, subresource));
    },
    validateCreate: (object) => [
      ...metadataErrors(object, namespaced, checkName, rules.plainFinalizers !== true),
      ...(rules.validateCreate?.(object) ?? []),
      ...(rules.validate?.(object) ?? []),
    ],
    validateUpdate: (next, live, subresource) => {
      const onStatus = subresource === 'status';
      const errors = updateErrors(next, live, {
        namespaced,
        checkName,
        isBuiltIn: rules.plainFinalizers !== true,
        changes: checks.changes,
        whole: onStatus ? 0 : checks.whole,
      });
      if (onStatus) return [...errors, ...(rules.validateStatus?.(next, live) ?? [])];
      return [...errors, ...(rules.validate?.(next) ?? []), ...(rules.validateUpdate?.(next, live) ?? [])];
    },
    warnings: (next, live, subresource) => (subresource === '' ? (rules.warnings?.(next, live) ?? []) : []),
    released: (object, context) => rules.released?.(object, context),
    generationChanged: (next, live) => (generation === 'none' ? 'none' : counts(generation, next, live, '')),
    resetPaths: (subresource) => resetPaths(rules, hasStatus, subresource),
    tableColumns: recordedColumns(`${rules.place}/${rules.plural}`),
    tableCells: (object, nowMs) => rules.cells(object, nowMs),
  };
}

function splitPlace(place: string): { group: string; version: string } {
  const parts = place.split('/');
  return { group: parts.length === 3 ? (parts[1] ?? '') : '', version: parts.at(-1) ?? '' };
}

function componentOf(group: string, version: string, kind: string): string {
  for (const [name, schema] of Object.entries(components())) {
    const kinds = isJsonObject(schema) ? schema['x-kubernetes-group-version-kind'] : undefined;
    if (!Array.isArray(kinds)) continue;
    if (kinds.some((item) => equalJson(item, { group, version, kind }))) return name;
  }
  throw new Error(`no recorded schema of ${kind}`);
}

function otherSubresource(item: Discovered, group: string, version: string): OtherSubresource[] {
  const name = item.name.split('/')[1] ?? '';
  if (name === 'status' || name === 'scale') return [];
  return [{ name, kind: item.kind, group: item.group ?? group, version: item.version ?? version, verbs: item.verbs }];
}

/**
 * Storing an object in protobuf, as the real server does, makes empty lists and absent ones the same. While a write is
 * tracked they still differ.
 */
function dropEmptyLists(object: JsonObject, schema: Schema): void {
  if (!hasEmptyList(object)) return;
  const stored = normalize(schema, withoutEmptyLists(object));
  if (!isJsonObject(stored)) return;
  for (const name of Object.keys(object)) delete object[name];
  Object.assign(object, stored);
}

function hasEmptyList(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length === 0 || value.some(hasEmptyList);
  for (const name in value) if (name !== 'managedFields' && hasEmptyList(value[name] ?? null)) return true;
  return false;
}

function withoutEmptyLists(value: Json): Json {
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(withoutEmptyLists);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutEmptyLists(item)]));
}

type Generation = Exclude<KindRules['generation'], 'none' | undefined>;

function counts(generation: Generation, next: JsonObject, live: JsonObject, subresource: string): boolean {
  if (subresource === 'status') return false;
  if (typeof generation === 'function') return generation(next, live);
  if (!equalJson(next['spec'], live['spec'])) return true;
  return (
    generation === 'spec-or-annotations' &&
    !equalJson(objectAt(next, 'metadata', 'annotations'), objectAt(live, 'metadata', 'annotations'))
  );
}

function keepGeneration(next: JsonObject, live: JsonObject, isRaised: boolean): void {
  const stored = objectAt(live, 'metadata')['generation'];
  const raised = isRaised ? Number(stored ?? 0) + 1 : stored;
  setOrDelete(objectAt(next, 'metadata'), 'generation', raised);
}

function resetPaths(rules: KindRules, hasStatus: boolean, subresource: string): readonly Path[] {
  const path = (names: readonly string[]): Path => names.map((field) => ({ field }));
  if (subresource === 'status') return [['spec'], ...(rules.statusResets ?? [])].map(path);
  return hasStatus && subresource !== 'scale' ? [path(['status'])] : [];
}

function fieldText(object: JsonObject, names: readonly string[] | undefined): string {
  if (names === undefined) return '';
  const value = valueAtNames(object, names);
  if (typeof value === 'boolean' || typeof value === 'number') return String(value);
  return textAt(object, ...names);
}

function recordedColumns(key: string): readonly TableColumn[] {
  const columns = (loadData('tables.json')['columns'] as JsonObject)[key];
  return (Array.isArray(columns) ? columns : []) as unknown as TableColumn[];
}
