import type { JsonObject } from '../../codec/json.ts';

/** A resource or subresource as an OpenAPI document describes it. */
export interface DescribedResource {
  /** `deployments`, `deployments/scale`. */
  readonly path: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly gvk: { readonly group: string; readonly version: string; readonly kind: string };
  readonly component: string;
}

const REF = '#/components/schemas/';
const TYPES = ['application/json', 'application/yaml'];
const PATCH_TYPES = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** The operations of a resource by path: what kubectl looks up to validate, to dry-run and to explain. */
export function operationsOf(resource: DescribedResource, place: string): [string, JsonObject][] {
  const scope = resource.namespaced ? '/namespaces/{namespace}' : '';
  const [plural, subresource] = resource.path.split('/');
  const collection = `/${place}${scope}/${plural ?? ''}`;
  const item = `${collection}/{name}${subresource === undefined ? '' : `/${subresource}`}`;
  const onItem = operations(resource, {
    get: 'get',
    put: 'update',
    patch: 'patch',
    delete: 'delete',
    ...(subresource === undefined ? {} : { post: 'create' }),
  });
  const onCollection =
    subresource === undefined ? operations(resource, { get: 'list', post: 'create', delete: 'deletecollection' }) : {};
  const paths: [string, JsonObject][] = [];
  if (Object.keys(onCollection).length > 0)
    paths.push([collection, { ...onCollection, parameters: parameters(resource.namespaced, false) }]);
  if (Object.keys(onItem).length > 0)
    paths.push([item, { ...onItem, parameters: parameters(resource.namespaced, true) }]);
  return paths;
}

function operations(resource: DescribedResource, verbs: Readonly<Record<string, string>>): JsonObject {
  const found: JsonObject = {};
  for (const [method, verb] of Object.entries(verbs))
    if (resource.verbs.includes(verb)) found[method] = operation(resource, method, verb);
  return found;
}

function operation(resource: DescribedResource, method: string, verb: string): JsonObject {
  const answer =
    verb === 'list' ? `${resource.component}List` : verb.startsWith('delete') ? `${META}.Status` : resource.component;
  const content = (component: string, types: readonly string[]): JsonObject =>
    Object.fromEntries(types.map((type) => [type, { schema: { $ref: `${REF}${component}` } }]));
  const body =
    method === 'patch'
      ? content(`${META}.Patch`, PATCH_TYPES)
      : method === 'put' || method === 'post'
        ? content(resource.component, ['*/*'])
        : undefined;
  return {
    'x-kubernetes-action': verb === 'create' ? 'post' : verb === 'update' ? 'put' : verb,
    'x-kubernetes-group-version-kind': { ...resource.gvk },
    parameters: queryParameters(method, verb),
    ...(body === undefined ? {} : { requestBody: { content: body, required: true } }),
    responses: {
      '200': { description: 'OK', content: content(answer, TYPES) },
      '401': { description: 'Unauthorized' },
    },
  };
}

function queryParameters(method: string, verb: string): JsonObject[] {
  const query = (name: string, type: string): JsonObject => ({
    name,
    in: 'query',
    schema: { type, uniqueItems: true },
  });
  if (method === 'post' || method === 'put' || method === 'patch') {
    const common = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => query(name, 'string'));
    return method === 'patch' ? [...common, query('force', 'boolean')] : common;
  }
  if (verb.startsWith('delete'))
    return [query('dryRun', 'string'), query('gracePeriodSeconds', 'integer'), query('propagationPolicy', 'string')];
  if (verb !== 'list') return [];
  return [
    ...['continue', 'fieldSelector', 'labelSelector', 'resourceVersion', 'resourceVersionMatch'].map((name) =>
      query(name, 'string'),
    ),
    ...['limit', 'timeoutSeconds'].map((name) => query(name, 'integer')),
    ...['allowWatchBookmarks', 'sendInitialEvents', 'watch'].map((name) => query(name, 'boolean')),
  ];
}

function parameters(namespaced: boolean, named: boolean): JsonObject[] {
  const path = (name: string): JsonObject => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', uniqueItems: true },
  });
  return [...(named ? [path('name')] : []), ...(namespaced ? [path('namespace')] : [])];
}
