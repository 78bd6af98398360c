import { randomUUID } from 'node:crypto';

import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../codec/json.ts';
import type { User } from './auth.ts';
import { inVersionOf } from './kinds/versions.ts';
import type { Kind, ServiceAllocator, WriteContext } from './kinds/kind.ts';
import { bucketOf, keyOf, type KindRegistry } from './registry.ts';
import type { Store, Stored } from './store.ts';

/** What all requests share. */
export interface ApiState {
  readonly store: Store;
  readonly registry: KindRegistry;
  readonly services: ServiceAllocator;
  readonly clock: Clock;
  /** A mutating webhook: changes what was sent before it is validated and stored. Set by a fault. */
  mutate: ((object: JsonObject, operation: 'CREATE' | 'UPDATE', kind: Kind) => void) | undefined;
}

/** The object of one request: which, by whom, in what way. */
export interface Call {
  readonly kind: Kind;
  readonly namespace: string;
  /** '' on a collection. */
  readonly name: string;
  /** '' on the object itself. */
  readonly subresource: string;
  readonly user: User;
  /** Field manager of the request, given or from the User-Agent. */
  readonly manager: string;
  readonly dryRun: boolean;
  /** Collects the texts of Warning headers. */
  readonly warnings: string[];
}

/** The resource of a call as messages name it. */
export function resourceOf(kind: Kind): { group: string; resource: string } {
  return { group: kind.group, resource: kind.plural };
}

/** What is stored under the name of a call, in the version of its kind. */
export function liveObject(state: ApiState, call: Call): Stored | undefined {
  const stored = state.store.get(bucketOf(call.kind), keyOf(call.kind, call.namespace, call.name));
  return stored === undefined ? undefined : { ...stored, object: inVersion(stored.object, call.kind) };
}

/** A stored object as this kind serves it. */
export function inVersion(object: JsonObject, kind: Kind): JsonObject {
  return inVersionOf(object, kind);
}

/** What a kind's functions may use during a write. */
export function writeContext(state: ApiState, call: { dryRun: boolean }): WriteContext {
  return { nowMs: state.clock.now(), dryRun: call.dryRun, services: state.services, newUid: () => randomUUID() };
}

/** A time as objects show it: RFC 3339, whole seconds. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** An object's metadata. */
export function metadataOf(object: JsonObject): JsonObject {
  return object['metadata'] as JsonObject;
}

/** A string field of an object's metadata; '' if absent. */
export function metaString(object: JsonObject, field: string): string {
  const value = metadataOf(object)[field];
  return typeof value === 'string' ? value : '';
}

/** An object's finalizers. */
export function finalizersOf(object: JsonObject): string[] {
  return (metadataOf(object)['finalizers'] ?? []) as string[];
}
