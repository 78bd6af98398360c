/** What a URL and a method ask for, as the API server reads them before anything is looked up. Source: apiserver's RequestInfo. */
export interface RequestInfo {
  /** Whether the path is below /api/VERSION or /apis/GROUP/VERSION. */
  readonly isResource: boolean;
  readonly path: string;
  /** get, list, watch, create, update, patch, delete, deletecollection; for other paths the method in lower case. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  /** Path segments behind the subresource. */
  readonly rest: readonly string[];
  /** The name in the path, or for collections the one that a field selector names. */
  readonly name: string;
  /** The name that the path itself holds. */
  readonly pathName: string;
  /** The path begins with /watch/ behind the version. */
  readonly watchPrefix: boolean;
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};
/** Subresources of a namespace, which would otherwise read as resources inside it. */
const OF_NAMESPACES = new Set(['finalize', 'status']);

/** Reads a request line. `path` is decoded segment by segment; a trailing slash is ignored. */
export function readRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeSegment);
  const core = parts[0] === 'api';
  const versionAt = core ? 1 : 2;
  const isResource = (core || parts[0] === 'apis') && parts.length > versionAt + 1;
  const nothing = {
    namespace: '',
    resource: '',
    subresource: '',
    rest: [],
    name: '',
    pathName: '',
    watchPrefix: false,
  };
  if (!isResource) return { isResource, path, verb: method.toLowerCase(), group: '', version: '', ...nothing };

  let at = versionAt + 1;
  const watchPrefix = parts[at] === 'watch';
  if (watchPrefix) at += 1;
  let namespace = '';
  if (parts[at] === 'namespaces' && parts[at + 1] !== undefined) {
    namespace = parts[at + 1] ?? '';
    const inside = parts[at + 2];
    if (inside !== undefined && !OF_NAMESPACES.has(inside)) at += 2;
  }
  const [resource = '', pathName = '', subresource = '', ...rest] = parts.slice(at);
  const collection = pathName === '';
  const verb = watchPrefix ? 'watch' : verbOf(method, collection, query);
  return {
    isResource,
    path,
    verb,
    group: core ? '' : (parts[1] ?? ''),
    version: parts[versionAt] ?? '',
    namespace,
    resource,
    subresource,
    rest,
    name: verb === 'list' || (verb === 'watch' && collection) ? selectedName(query) : pathName,
    pathName,
    watchPrefix,
  };
}

function verbOf(method: string, collection: boolean, query: URLSearchParams): string {
  const verb = VERBS[method] ?? '';
  if (!collection) return verb;
  if (verb === 'get') return isTrue(query.get('watch')) ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}

/** Query booleans: anything but `0` and `false` is true; absent is false. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

function selectedName(query: URLSearchParams): string {
  return /(?:^|,)metadata\.name==?([^,=!\\]+)(?:,|$)/.exec(query.get('fieldSelector') ?? '')?.[1] ?? '';
}

function decodeSegment(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
