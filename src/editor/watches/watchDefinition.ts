/** What a person asked to watch; kept with the workspace. */
export interface WatchDefinition {
  readonly id: string;
  /** The cluster's key: a context's name, or the sandbox's key. */
  readonly cluster: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly name?: string;
  readonly labelSelector?: string;
  /** A selector of fields, such as the core Events about one object. */
  readonly fieldSelector?: string;
}

/** The parts of a definition that tell two watches apart, as its id. */
export function watchId(definition: Omit<WatchDefinition, 'id'>): string {
  const { cluster, group, resource, namespace, name, labelSelector, fieldSelector } = definition;
  const parts = [cluster, group, resource, namespace ?? '', name ?? '', labelSelector ?? ''];
  return JSON.stringify(fieldSelector === undefined ? parts : [...parts, fieldSelector]);
}

/** Reads a definition that was kept before; undefined where it is not one, so that an odd state never stops the rest. */
export function readDefinition(value: unknown): WatchDefinition | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { cluster, group, version, resource, kind, namespaced, namespace, name, labelSelector, fieldSelector } =
    value as Record<string, unknown>;
  if (!areStrings(cluster, group, version, resource, kind) || typeof namespaced !== 'boolean') return undefined;
  const definition = {
    cluster: cluster as string,
    group: group as string,
    version: version as string,
    resource: resource as string,
    kind: kind as string,
    namespaced,
    ...(typeof namespace === 'string' ? { namespace } : {}),
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof labelSelector === 'string' ? { labelSelector } : {}),
    ...(typeof fieldSelector === 'string' ? { fieldSelector } : {}),
  };
  return { ...definition, id: watchId(definition) };
}

function areStrings(...values: unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}

/** A watch as a setting declares it: `RESOURCE`, `RESOURCE/NAME`, ` in NAMESPACE` and ` where LABELS` as wanted. */
export interface DeclaredWatch {
  readonly resource: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
}

const DECLARED = /^(?<resource>[^\s/]+)(?:\/(?<name>\S+))?(?:\s+in\s+(?<namespace>\S+))?(?:\s+where\s+(?<labels>.+))?$/;

/** Parses a declared watch such as `deployments in shop where app=web`; undefined where the text is not one. */
export function parseDeclaredWatch(text: string): DeclaredWatch | undefined {
  const found = DECLARED.exec(text.trim())?.groups;
  if (found === undefined || found['resource'] === undefined) return undefined;
  const { resource, name, namespace, labels } = found;
  return {
    resource,
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labelSelector: labels }),
  };
}

/** The watch in a few words: `shop · app=web`. */
export function describeScope(definition: WatchDefinition, allNamespaces: string): string {
  const parts = [
    definition.namespaced ? (definition.namespace ?? allNamespaces) : '',
    definition.name ?? '',
    definition.labelSelector ?? '',
    definition.fieldSelector ?? '',
  ];
  return parts.filter((part) => part !== '').join(' · ');
}
