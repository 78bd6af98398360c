import type { JsonObject } from '../codec/json.ts';
import { textOf } from './goText.ts';
import { builtInKinds } from './kinds/builtIn.ts';
import { customKind } from './kinds/custom.ts';
import type { Kind } from './kinds/kind.ts';

/** Where the CustomResourceDefinitions themselves are stored. */
export const CRD_BUCKET = 'apiextensions.k8s.io/customresourcedefinitions';

/** The store's bucket of what a kind stores. */
export function bucketOf(kind: Kind): string {
  return `${kind.storage.group}/${kind.storage.resource}`;
}

/** The key of an object inside its bucket. */
export function keyOf(kind: Kind, namespace: string, name: string): string {
  return kind.namespaced ? `${namespace}/${name}` : name;
}

/** `v1` or `apps/v1`. */
export function apiVersionOf(kind: { group: string; version: string }): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** A CustomResourceDefinition that is served, and its kinds by version. */
interface Served {
  readonly crd: JsonObject;
  readonly kinds: readonly Kind[];
}

/** All kinds that are served now: the built-in ones, and those of every established CustomResourceDefinition. */
export class KindRegistry {
  private readonly builtIns: readonly Kind[] = builtInKinds();
  private readonly byPath = new Map<string, Kind>();
  private readonly custom = new Map<string, Served>();

  constructor() {
    for (const kind of this.builtIns) this.byPath.set(pathOf(kind), kind);
  }

  /** The kind at a path, if it is served. */
  find(group: string, version: string, resource: string): Kind | undefined {
    return this.byPath.get(`${group}/${version}/${resource}`);
  }

  /** Every kind served, the built-in ones first. */
  all(): Kind[] {
    return [...this.byPath.values()];
  }

  /** Whether a group is one of the built-in kinds'. */
  isBuiltInGroup(group: string): boolean {
    return this.builtIns.some((kind) => kind.group === group);
  }

  /** The CustomResourceDefinitions that are served. */
  customDefinitions(): JsonObject[] {
    return [...this.custom.values()].map((served) => served.crd);
  }

  /** The kind in whose version a custom resource is stored; the kind itself for a built-in one. */
  storageKind(kind: Kind): Kind {
    if (kind.origin === 'built-in') return kind;
    const served = this.custom.get(`${kind.plural}.${kind.group}`);
    const version = served === undefined ? undefined : storageVersion(served.crd);
    return served?.kinds.find((candidate) => candidate.version === version) ?? kind;
  }

  /** Serves a CustomResourceDefinition as it is now, or no longer if it is gone or not established. */
  setDefinition(name: string, crd: JsonObject | undefined): void {
    for (const kind of this.custom.get(name)?.kinds ?? []) this.byPath.delete(pathOf(kind));
    this.custom.delete(name);
    if (crd === undefined || !isEstablished(crd)) return;
    const kinds = versionsOf(crd)
      .filter((version) => version['served'] === true)
      .map((version) => customKind(crd, textOf(version['name'])));
    for (const kind of kinds) this.byPath.set(pathOf(kind), kind);
    this.custom.set(name, { crd, kinds });
  }

  /** Forgets all custom kinds, before a restored store is read. */
  clearDefinitions(): void {
    for (const name of Array.from(this.custom.keys())) this.setDefinition(name, undefined);
  }
}

const pathOf = (kind: Kind): string => `${kind.group}/${kind.version}/${kind.plural}`;

/** The versions of a CustomResourceDefinition, as it declares them. */
export function versionsOf(crd: JsonObject): JsonObject[] {
  return ((crd['spec'] as JsonObject)['versions'] ?? []) as JsonObject[];
}

function storageVersion(crd: JsonObject): string {
  return textOf(versionsOf(crd).find((version) => version['storage'] === true)?.['name']);
}

/** Whether a CustomResourceDefinition has the condition Established. */
export function isEstablished(crd: JsonObject): boolean {
  const status = crd['status'] as JsonObject | undefined;
  const conditions = (status?.['conditions'] ?? []) as JsonObject[] | null;
  return (conditions ?? []).some((condition) => condition['type'] === 'Established' && condition['status'] === 'True');
}
