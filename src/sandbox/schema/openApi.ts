import type { Json, JsonObject } from '../../codec/json.ts';
import { cloneJson, isJsonObject } from '../../codec/json.ts';
import { dataVersion, loadData } from '../data/data.ts';
import { objectAt, objectsAt, textAt } from '../kinds/access.ts';
import { components } from './builtInTypes.ts';
import { operationsOf, type DescribedResource } from './openApiPaths.ts';

const REF = '#/components/schemas/';
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

interface RecordedResource {
  readonly name: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly group?: string;
  readonly version?: string;
}

function recorded(): Readonly<Record<string, readonly RecordedResource[]>> {
  return loadData('discovery.json')['resources'] as unknown as Record<string, RecordedResource[]>;
}

/** The paths below /openapi/v3 that documents are served at: `api/v1`, `apis/apps/v1`, … */
export function openApiPaths(): string[] {
  return Object.keys(recorded());
}

/** The OpenAPI v3 document of a built-in group and version; undefined where there is none. */
export function openApiDocument(path: string): JsonObject | undefined {
  const resources = recorded()[path];
  if (resources === undefined) return undefined;
  const { group, version } = placeOf(path);
  const described = resources.map((item) => describe(item, group, version));
  const roots = described.flatMap((item) => [item.component, `${item.component}List`]);
  return document(
    described,
    path,
    reachable([...roots, `${META}.DeleteOptions`, `${META}.Status`, `${META}.Patch`, `${META}.WatchEvent`]),
  );
}

function placeOf(path: string): { group: string; version: string } {
  const parts = path.split('/');
  return { group: parts.length === 3 ? (parts[1] ?? '') : '', version: parts.at(-1) ?? '' };
}

function describe(item: RecordedResource, group: string, version: string): DescribedResource {
  const gvk = { group: item.group ?? group, version: item.version ?? version, kind: item.kind };
  return { path: item.name, namespaced: item.namespaced, verbs: item.verbs, gvk, component: componentOf(gvk) };
}

function componentOf(gvk: { group: string; version: string; kind: string }): string {
  const found = Object.entries(components()).find(
    ([, schema]) =>
      isJsonObject(schema) &&
      objectsAt(schema, 'x-kubernetes-group-version-kind').some(
        (item) => item['group'] === gvk.group && item['version'] === gvk.version && item['kind'] === gvk.kind,
      ),
  );
  return found?.[0] ?? `${META}.Status`;
}

function reachable(names: readonly string[]): JsonObject {
  const all = components();
  const wanted = new Set(names.filter((name) => isJsonObject(all[name])));
  for (const name of wanted) collectReferences(all[name] ?? null, wanted);
  return Object.fromEntries([...wanted].sort().map((name) => [name, all[name] ?? {}]));
}

function collectReferences(value: Json, found: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) collectReferences(item, found);
  if (!isJsonObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    if (key === '$ref' && typeof item === 'string') found.add(item.slice(REF.length));
    else collectReferences(item, found);
  }
}

function document(resources: readonly DescribedResource[], path: string, schemas: JsonObject): JsonObject {
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes (sandbox)', version: `${dataVersion()}-sandbox` },
    paths: Object.fromEntries(resources.flatMap((resource) => operationsOf(resource, path))),
    components: { schemas },
  };
}

/**
 * The OpenAPI v3 document of a group and version of custom resources.
 * @param crds the CRDs which serve that group and version
 */
export function openApiOfCustom(crds: readonly JsonObject[], group: string, version: string): JsonObject {
  const path = `apis/${group}/${version}`;
  const schemas = reachable([
    `${META}.ObjectMeta`,
    `${META}.ListMeta`,
    `${META}.DeleteOptions`,
    `${META}.Status`,
    `${META}.Patch`,
  ]);
  const described: DescribedResource[] = [];
  for (const crd of crds) {
    const declared = objectsAt(crd, 'spec', 'versions').find((item) => textAt(item, 'name') === version);
    if (declared === undefined) continue;
    const names = objectAt(crd, 'spec', 'names');
    const kind = textAt(names, 'kind');
    const component = `${group.split('.').reverse().join('.')}.${version}.${kind}`;
    const namespaced = textAt(crd, 'spec', 'scope') === 'Namespaced';
    const gvk = { group, version, kind };
    schemas[component] = customComponent(objectAt(declared, 'schema', 'openAPIV3Schema'), gvk);
    schemas[`${component}List`] = customList(component, { ...gvk, kind: textAt(names, 'listKind') });
    const plural = textAt(names, 'plural');
    described.push({
      path: plural,
      namespaced,
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      gvk,
      component,
    });
    for (const subresource of Object.keys(objectAt(declared, 'subresources'))) {
      described.push({
        path: `${plural}/${subresource}`,
        namespaced,
        verbs: ['get', 'patch', 'update'],
        gvk,
        component,
      });
    }
  }
  return document(described, path, schemas);
}

function customComponent(openApi: JsonObject, gvk: JsonObject): JsonObject {
  const properties = cloneJson(objectAt(openApi, 'properties'));
  return {
    ...openApi,
    properties: {
      apiVersion: { type: 'string', description: 'The versioned schema of this representation of the object.' },
      kind: { type: 'string', description: 'The REST resource that this object represents.' },
      metadata: { description: "Standard object's metadata.", allOf: [{ $ref: `${REF}${META}.ObjectMeta` }] },
      ...Object.fromEntries(
        Object.entries(properties).filter(([name]) => !['apiVersion', 'kind', 'metadata'].includes(name)),
      ),
    },
    'x-kubernetes-group-version-kind': [gvk],
  };
}

function customList(component: string, gvk: JsonObject): JsonObject {
  return {
    description: 'A list of these objects.',
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { allOf: [{ $ref: `${REF}${META}.ListMeta` }] },
      items: { type: 'array', items: { allOf: [{ $ref: `${REF}${component}` }] } },
    },
    'x-kubernetes-group-version-kind': [gvk],
  };
}
