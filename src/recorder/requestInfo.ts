import type { ObjectName, ReadEvent } from '../core/traceEvent.ts';

/** What a request to an API server is about. */
export interface RequestInfo {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
  /** '' for a collection. */
  readonly name: string;
  readonly subresource: string | undefined;
  readonly verb: ReadEvent['verb'] | 'create' | 'replace' | 'patch' | 'delete' | 'deletecollection' | 'other';
  readonly query: URLSearchParams;
}

const NO_QUERY = new URLSearchParams();

/**
 * Reads method and URL as the API server does; undefined for what is no resource (discovery, health, OpenAPI).
 * Source: k8s.io/apiserver, RequestInfoFactory.
 */
export function requestInfo(method: string, url: string): RequestInfo | undefined {
  const at = url.indexOf('?');
  const query = at < 0 ? NO_QUERY : new URLSearchParams(url.slice(at + 1));
  const parts = (at < 0 ? url : url.slice(0, at))
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  const [root, ...rest] = parts;
  const grouped = root === 'apis';
  if (root !== 'api' && !grouped) return undefined;
  const group = grouped ? (rest.shift() ?? '') : '';
  const version = rest.shift();
  if (version === undefined || rest.length === 0) return undefined;
  const watching = rest[0] === 'watch' || rest[0] === 'proxy' ? rest.shift() === 'watch' : false;
  let namespace = '';
  if (
    rest[0] === 'namespaces' &&
    rest.length > 2 &&
    !(rest.length === 3 && (rest[2] === 'status' || rest[2] === 'finalize'))
  ) {
    namespace = rest[1] ?? '';
    rest.splice(0, 2);
  }
  const [resource = '', name = '', ...sub] = rest;
  if (resource === '') return undefined;
  const flag = query.get('watch');
  const isWatch = watching || (name === '' && flag !== null && flag !== '0' && flag !== 'false');
  return {
    group,
    version,
    resource,
    namespace,
    name,
    subresource: sub.length === 0 ? undefined : sub.join('/'),
    verb: verbOf(method, name, isWatch),
    query,
  };
}

function verbOf(method: string, name: string, isWatch: boolean): RequestInfo['verb'] {
  switch (method) {
    case 'GET':
      if (isWatch) return 'watch';
      return name === '' ? 'list' : 'get';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'replace';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete';
    default:
      return 'other';
  }
}

function decoded(part: string): string {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The name that a request is about. */
export function nameOf(info: RequestInfo): ObjectName {
  return { group: info.group, resource: info.resource, namespace: info.namespace, name: info.name };
}
