import { createHash } from 'node:crypto';

import type { JsonObject } from '../codec/json.ts';
import { textOf } from './goText.ts';
import { loadData } from './data/data.ts';
import type { Kind } from './kinds/kind.ts';
import type { KindRegistry } from './registry.ts';

/** One group as /apis lists it; versions in order of preference. */
export interface Group {
  readonly group: string;
  readonly versions: readonly string[];
}

/** All groups but the core one, the built-in ones in the real server's order. */
export function groupsOf(registry: KindRegistry): Group[] {
  const builtIn = (loadData('discovery.json')['groups'] as JsonObject[]).map((entry): Group => ({
    group: textOf(entry['group']),
    versions: entry['versions'] as string[],
  }));
  return [...builtIn, ...customGroups(registry)];
}

function customGroups(registry: KindRegistry): Group[] {
  const versions = new Map<string, Set<string>>();
  for (const kind of registry.all()) {
    if (kind.origin !== 'custom') continue;
    const known = versions.get(kind.group) ?? new Set<string>();
    versions.set(kind.group, known.add(kind.version));
  }
  return [...versions].map(([group, found]) => ({ group, versions: [...found].sort(byPreference) }));
}

/** v2 before v1 before v1beta2 before v1alpha1 before anything else. Source: version priority of CustomResourceDefinitions. */
export function byPreference(a: string, b: string): number {
  const ranks = [rank(a), rank(b)] as const;
  if (ranks[0] === undefined && ranks[1] === undefined) return a < b ? -1 : 1;
  if (ranks[0] === undefined) return 1;
  if (ranks[1] === undefined) return -1;
  for (let index = 0; index < 3; index += 1) {
    const difference = (ranks[1][index] ?? 0) - (ranks[0][index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

const STAGES: Readonly<Record<string, number>> = { alpha: 1, beta: 2, '': 3 };

function rank(version: string): readonly number[] | undefined {
  const found = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version);
  if (found === null) return undefined;
  return [STAGES[found[2] ?? ''] ?? 0, Number(found[1]), Number(found[3] ?? 0)];
}

/** `/apis/GROUP`. */
export function apiGroup({ group, versions }: Group): JsonObject {
  const entries = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { kind: 'APIGroup', apiVersion: 'v1', name: group, versions: entries, preferredVersion: entries[0] ?? {} };
}

/** `/apis`. */
export function apiGroupList(registry: KindRegistry): JsonObject {
  const groups = groupsOf(registry).map((group) => {
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = apiGroup(group);
    return rest;
  });
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** `/api`. */
export function apiVersions(address: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
  };
}

/** `/api/v1` or `/apis/GROUP/VERSION`; undefined if nothing is served there. */
export function apiResourceList(registry: KindRegistry, group: string, version: string): JsonObject | undefined {
  const resources = resourcesOf(registry, group, version);
  if (resources === undefined) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources,
  };
}

function resourcesOf(registry: KindRegistry, group: string, version: string): JsonObject[] | undefined {
  const recorded = loadData('discovery.json')['resources'] as Record<string, JsonObject[]>;
  const builtIn = recorded[group === '' ? `api/${version}` : `apis/${group}/${version}`];
  if (builtIn !== undefined) return builtIn;
  const kinds = registry.all().filter((kind) => kind.group === group && kind.version === version);
  return kinds.length === 0 ? undefined : kinds.flatMap(customResources);
}

function customResources(kind: Kind): JsonObject[] {
  const shared = { singularName: '', namespaced: kind.namespaced };
  const verbs = ['get', 'patch', 'update'];
  return [
    {
      name: kind.plural,
      singularName: kind.singular,
      namespaced: kind.namespaced,
      kind: kind.kind,
      verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
      ...(kind.shortNames.length === 0 ? {} : { shortNames: [...kind.shortNames] }),
      ...(kind.categories.length === 0 ? {} : { categories: [...kind.categories] }),
      storageVersionHash: createHash('sha256')
        .update(`${kind.group}/${kind.version}/${kind.kind}`)
        .digest()
        .subarray(0, 8)
        .toString('base64'),
    },
    ...(kind.subresources.status ? [{ name: `${kind.plural}/status`, ...shared, kind: kind.kind, verbs }] : []),
    ...(kind.subresources.scale === undefined
      ? []
      : [{ name: `${kind.plural}/scale`, ...shared, group: 'autoscaling', version: 'v1', kind: 'Scale', verbs }]),
  ];
}

/** The aggregated form of /api (only the core group) and /apis (all others). */
export function aggregatedDiscovery(registry: KindRegistry, core: boolean, metaVersion: string): JsonObject {
  const groups = core ? [{ group: '', versions: ['v1'] }] : groupsOf(registry);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${metaVersion}`,
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: group === '' ? {} : { name: group },
      versions: versions.map((version) => ({
        version,
        resources: aggregated(resourcesOf(registry, group, version) ?? []),
        freshness: 'Current',
      })),
    })),
  };
}

function aggregated(resources: readonly JsonObject[]): JsonObject[] {
  const found: JsonObject[] = [];
  for (const resource of resources) {
    const [name = '', subresource] = textOf(resource['name']).split('/');
    const responseKind = {
      group: resource['group'] ?? '',
      version: resource['version'] ?? '',
      kind: resource['kind'] ?? '',
    };
    if (subresource === undefined) {
      found.push({
        resource: name,
        responseKind,
        scope: resource['namespaced'] === true ? 'Namespaced' : 'Cluster',
        singularResource: resource['singularName'] ?? '',
        verbs: resource['verbs'] ?? [],
        ...(resource['shortNames'] === undefined ? {} : { shortNames: resource['shortNames'] }),
        ...(resource['categories'] === undefined ? {} : { categories: resource['categories'] }),
      });
      continue;
    }
    const parent = found.find((entry) => entry['resource'] === name);
    if (parent === undefined) continue;
    parent['subresources'] = [
      ...((parent['subresources'] ?? []) as JsonObject[]),
      { subresource, responseKind, verbs: resource['verbs'] ?? [] },
    ];
  }
  return found;
}

/** Whether discovery lists a resource or subresource with a verb, which decides 404 and 405. */
export function servedVerbs(
  registry: KindRegistry,
  kind: Kind | { group: string; version: string },
  name: string,
): readonly string[] | undefined {
  const resources = resourcesOf(registry, kind.group, kind.version);
  const entry = resources?.find((resource) => resource['name'] === name);
  return entry === undefined ? undefined : (entry['verbs'] as string[]);
}

/** Whether a group version is served at all. */
export function isServed(registry: KindRegistry, group: string, version: string): boolean {
  return resourcesOf(registry, group, version) !== undefined;
}

/** Whether a group is served in any version. */
export function isKnownGroup(registry: KindRegistry, group: string): boolean {
  return group === '' || groupsOf(registry).some((entry) => entry.group === group);
}

/** All root paths, as `/` lists them. */
export function rootPaths(registry: KindRegistry): string[] {
  const groups = groupsOf(registry).flatMap(({ group, versions }) => [
    `/apis/${group}`,
    ...versions.map((version) => `/apis/${group}/${version}`),
  ]);
  const fixed = [
    '/api',
    '/api/v1',
    '/apis',
    '/apis/',
    '/healthz',
    '/livez',
    '/openapi/v2',
    '/openapi/v3',
    '/openapi/v3/',
    '/readyz',
    '/version',
  ];
  return [...fixed, ...groups].sort();
}
