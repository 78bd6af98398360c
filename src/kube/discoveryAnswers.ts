import { message } from '../base/message.ts';
import { AppError } from '../base/appError.ts';
import { isJsonObject, type Json, type JsonObject } from '../codec/json.ts';

/** A resource as the server offers it in one version. */
export interface ApiResource {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural, such as `configmaps`. */
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  /** Such as `status` and `scale`. */
  readonly subresources: readonly string[];
}

/** A version of a group. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** The resources of an `APIGroupDiscoveryList`; a version marked stale is also named as a problem. */
export function aggregatedResources(answer: JsonObject): { resources: ApiResource[]; problems: AppError[] } {
  const resources: ApiResource[] = [];
  const problems: AppError[] = [];
  for (const item of objects(answer['items'])) {
    const group = text(object(item['metadata'])['name']);
    for (const versionItem of objects(item['versions'])) {
      const version = text(versionItem['version']);
      if (versionItem['freshness'] === 'Stale') problems.push(stale(group, version));
      for (const entry of objects(versionItem['resources'])) resources.push(aggregatedResource(group, version, entry));
    }
  }
  return { resources, problems };
}

function aggregatedResource(group: string, version: string, entry: JsonObject): ApiResource {
  const resource = text(entry['resource']);
  return {
    group,
    version,
    resource,
    singular: text(entry['singularResource']) || resource.replace(/s$/, ''),
    kind: text(object(entry['responseKind'])['kind']),
    namespaced: entry['scope'] === 'Namespaced',
    verbs: texts(entry['verbs']),
    shortNames: texts(entry['shortNames']),
    subresources: objects(entry['subresources']).map((sub) => text(sub['subresource'])),
  };
}

/** The group versions of a plain answer to `/api` (`APIVersions`) or `/apis` (`APIGroupList`), preferred ones first. */
export function plainGroups(answer: JsonObject): GroupVersion[] {
  if (Array.isArray(answer['versions'])) return texts(answer['versions']).map((version) => ({ group: '', version }));
  return objects(answer['groups']).flatMap((group) => {
    const name = text(group['name']);
    const preferred = text(object(group['preferredVersion'])['version']);
    const versions = objects(group['versions']).map((entry) => text(entry['version']));
    const ordered = preferred === '' ? versions : [preferred, ...versions.filter((version) => version !== preferred)];
    return ordered.map((version) => ({ group: name, version }));
  });
}

/** The resources of an `APIResourceList`. */
export function plainResources(answer: JsonObject, { group, version }: GroupVersion): ApiResource[] {
  const entries = objects(answer['resources']);
  const subresources = new Map<string, string[]>();
  for (const entry of entries) {
    const [resource = '', ...rest] = text(entry['name']).split('/');
    if (rest.length > 0) subresources.set(resource, [...(subresources.get(resource) ?? []), rest.join('/')]);
  }
  return entries
    .filter((entry) => !text(entry['name']).includes('/'))
    .map((entry) => {
      const resource = text(entry['name']);
      return {
        group,
        version,
        resource,
        singular: text(entry['singularName']) || resource.replace(/s$/, ''),
        kind: text(entry['kind']),
        namespaced: entry['namespaced'] === true,
        verbs: texts(entry['verbs']),
        shortNames: texts(entry['shortNames']),
        subresources: subresources.get(resource) ?? [],
      };
    });
}

function stale(group: string, version: string): AppError {
  return new AppError(
    'unavailable',
    message`The API group ${group}/${version} does not answer at the moment; what is known of it may be old.`,
    {
      advice: message`Look at its APIService: kubectl get apiservices.`,
      details: { group, version },
    },
  );
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function object(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
