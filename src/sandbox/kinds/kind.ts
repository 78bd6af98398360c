import type { Json, JsonObject } from '../../codec/json.ts';
import type { Path } from '../../codec/path.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';

/** Cluster-wide numbers that creating a Service takes and deleting it gives back. */
export interface ServiceAllocator {
  /** A free cluster IP. */
  nextIp(): string;
  /** Takes this IP; false if another Service has it, 'out-of-range' if it is not the cluster's. */
  takeIp(ip: string): boolean | 'out-of-range';
  releaseIp(ip: string): void;
  /** A free node port. */
  nextPort(): number;
  takePort(port: number): boolean | 'out-of-range';
  releasePort(port: number): void;
}

/** What a write may use besides the objects. */
export interface WriteContext {
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  readonly dryRun: boolean;
  readonly services: ServiceAllocator;
  /** Creates a random UUID (a Job's controller-uid label needs the object's uid, which metadata has by then). */
  readonly newUid: () => string;
}

/** Where a custom kind keeps what /scale shows (`.spec.replicas`), as JSON paths of the CRD. */
export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** The status (or spec) field which holds the selector in text; built-in kinds compute it from `spec.selector`. */
  readonly selector?: readonly string[];
}

/** A subresource besides status and scale, such as pods/binding. */
export interface OtherSubresource {
  readonly name: string;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly string[];
}

/** A column of `kubectl get`, as the server declares it in a Table. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

/**
 * One served kind in one version: everything the generic create, update, patch, apply and delete need to know.
 *
 * The order in which a server uses it. Create: `decodeBody` → `applyDefaults` → `trackUpdate` (or `applyFields`) →
 * `prepareCreate` → `validateCreate`. Update: `decodeBody` → `applyDefaults` → `trackUpdate` → `prepareUpdate` →
 * `validateUpdate` → no-op check. `decodeBody` and `applyFields` call `applyDefaults` themselves.
 * All objects are in the version of this Kind and in the normal form that `normalize` (schema/normalize.ts) makes.
 * The functions change the object they are given in place.
 */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** Custom resources decode, patch and list a little differently from built-in kinds. */
  readonly origin: 'built-in' | 'custom';
  readonly subresources: {
    readonly status: boolean;
    readonly scale?: ScalePaths;
    readonly others: readonly OtherSubresource[];
  };
  readonly schema: Schema;
  /** The schema of another version of this kind (managedFields may be in its terms); undefined where it is not served. */
  schemaOf(apiVersion: string): Schema | undefined;
  /** Whether objects are stored in this version. */
  readonly isStorageVersion: boolean;
  /** PUT without a version is allowed. */
  readonly unconditionalUpdate: boolean;
  /** PUT to a missing name creates. */
  readonly createOnUpdate: boolean;
  readonly deleteAnswers: 'object' | 'status';
  /** Kinds served in several groups or versions share what is stored: `events` and `events.events.k8s.io`. */
  readonly storage: { readonly group: string; readonly resource: string };
  /** Propagation of a DELETE that names none: Background nearly everywhere. */
  readonly defaultPropagation: 'Background' | 'Orphan';
  /** What every answer of this resource warns of (`Warning: 299`), if it is deprecated. */
  readonly deprecation?: string;
  /** The store's key as UID conflicts show it. */
  storageKey(namespace: string, name: string): string;
  /** Field selectors besides metadata.name and metadata.namespace, and the value each has in an object ('' if absent). */
  readonly fieldSelectors: readonly string[];
  fieldValue(object: JsonObject, selector: string): string;

  /** Custom resources: prunes unknown fields and nulls; built-in kinds are typed by `normalize` instead. Throws DecodeError. */
  coerce?(object: JsonObject): { readonly object: JsonObject; readonly dropped: readonly string[] };
  /** The scheme's defaults: they are owned by whoever sent the object. Idempotent. */
  applyDefaults(object: JsonObject): void;
  /** Fills in what admission and allocation add, drops status, sets generation. Throws StatusError where allocation is refused. */
  prepareCreate(object: JsonObject, context: WriteContext): void;
  /** Resets to live what this endpoint does not write, keeps allocations, sets generation. `subresource` is '' on the object itself. */
  prepareUpdate(next: JsonObject, live: JsonObject, context: WriteContext, subresource: string): void;
  /** All errors in the order in which the real server names them, those of metadata included. */
  validateCreate(object: JsonObject): FieldError[];
  validateUpdate(next: JsonObject, live: JsonObject, subresource: string): FieldError[];
  /** What a create (`live` undefined) or an update is warned of (`Warning: 299`), after preparation, where it is accepted. */
  warnings(next: JsonObject, live: JsonObject | undefined, subresource: string): string[];
  /** After the object is gone: gives back what was allocated. */
  released(object: JsonObject, context: WriteContext): void;
  /** Whether the kind counts generations and this change counts; `prepareUpdate` has already applied it. */
  generationChanged(next: JsonObject, live: JsonObject): boolean | 'none';
  /** Fields that writes through this endpoint never own, because it resets them. */
  resetPaths(subresource: string): readonly Path[];

  readonly tableColumns: readonly TableColumn[];
  tableCells(object: JsonObject, nowMs: number): Json[];
}
