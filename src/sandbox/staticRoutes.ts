import { createHash } from 'node:crypto';

import type { JsonObject } from '../codec/json.ts';
import type { ApiAnswer, ApiRequest } from './apiRequest.ts';
import { dataVersion } from './data/data.ts';
import {
  aggregatedDiscovery,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  groupsOf,
  isKnownGroup,
  rootPaths,
} from './discovery.ts';
import { checkAcceptable, formatText, mediaType, negotiate, notAcceptable, printJson } from './negotiate.ts';
import { apiVersionOf } from './registry.ts';
import { openApiDocument, openApiOfCustom, openApiPaths } from './schema/openApi.ts';
import type { ApiState } from './state.ts';
import { methodNotAllowed, noSuchResource } from './status.ts';

/** The paths that are no resources: discovery, version, health, schemas. Throws 404 and 405 as the real server does. */
export function staticAnswer(state: ApiState, request: ApiRequest, address: string): ApiAnswer {
  const path = request.info.path.replace(/(.)\/+$/, '$1');
  const answer = health(path) ?? schemas(state, path) ?? documents(state, request, path, address);
  if (answer === undefined) return notFoundPage();
  if (request.method !== 'GET' && !ANY_METHOD.test(path)) throw methodNotAllowed();
  return answer;
}

/** Paths that take every method. */
const ANY_METHOD = /^$|^\/$|^\/(apis|healthz|livez|readyz|openapi\/.*)$/;

/** What the real server's mux answers for a path that nobody serves. */
export function notFoundPage(): ApiAnswer {
  return text(404, '404 page not found\n');
}

function text(status: number, body: string): ApiAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body, warnings: [] };
}

const CHECKS = ['ping', 'store'];

function health(path: string): ApiAnswer | undefined {
  const found = /^\/(healthz|livez|readyz)(?:\/([\w-]+))?$/.exec(path);
  if (found === null) return undefined;
  return found[2] === undefined || CHECKS.includes(found[2]) ? text(200, 'ok') : undefined;
}

/** `/version`: major and minor of what it imitates, and in so many words what it is. */
export function versionDocument(): JsonObject {
  const version = dataVersion();
  const [major = '', minor = ''] = version.replace(/^v/, '').split('.');
  return {
    major,
    minor,
    gitVersion: `${version}+sandbox`,
    gitCommit: 'sandbox',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'none',
    compiler: 'object-versions sandbox',
    platform: 'sandbox',
  };
}

function documents(state: ApiState, request: ApiRequest, path: string, address: string): ApiAnswer | undefined {
  const { registry } = state;
  if (path === '/version') {
    checkOnlyJson(request.accept);
    return json(request, versionDocument());
  }
  if (path === '/' || path === '') return jsonText(printJson({ paths: rootPaths(registry) }, 2));
  if (path === '/api' || path === '/apis') {
    const core = path === '/api';
    const form = aggregatedForm(request.accept);
    if (form !== undefined) {
      const contentType = `application/json;g=apidiscovery.k8s.io;v=${form};as=APIGroupDiscoveryList`;
      return { status: 200, contentType, body: printJson(aggregatedDiscovery(registry, core, form)), warnings: [] };
    }
    return json(request, core ? apiVersions(address) : apiGroupList(registry));
  }
  const parts = path.split('/').slice(1);
  if (parts[0] === 'api' && parts.length === 2) return resourceList(state, request, '', parts[1] ?? '');
  if (parts[0] !== 'apis') return undefined;
  const [, group = '', version] = parts;
  if (!isKnownGroup(registry, group)) return undefined;
  if (version !== undefined) return resourceList(state, request, group, version);
  const found = groupsOf(registry).find((entry) => entry.group === group);
  return found === undefined ? undefined : json(request, apiGroup(found));
}

function resourceList(state: ApiState, request: ApiRequest, group: string, version: string): ApiAnswer | undefined {
  const list = apiResourceList(state.registry, group, version);
  if (list !== undefined) {
    checkAcceptable(request.accept, false);
    return json(request, list);
  }
  if (group === '' || state.registry.isBuiltInGroup(group)) throw noSuchResource();
  return undefined;
}

function checkOnlyJson(accept: string | undefined): void {
  if (accept === undefined || accept === '') return;
  const types = accept.split(',').map((clause) => (clause.split(';')[0] ?? '').trim());
  if (!types.some((type) => type === '*/*' || type === 'application/json')) throw notAcceptable(['application/json']);
}

function json(request: ApiRequest, document: JsonObject): ApiAnswer {
  const output = negotiate(request.accept, { transforms: false, query: request.query, agent: request.userAgent });
  return { status: 200, contentType: mediaType(output), body: formatText(printJson(document), output), warnings: [] };
}

/** The version of aggregated discovery that a client asks for. */
function aggregatedForm(accept: string | undefined): string | undefined {
  for (const clause of (accept ?? '').split(',')) {
    const parts = clause.split(';').map((part) => part.trim());
    if (parts[0] !== 'application/json') continue;
    if (!parts.includes('as=APIGroupDiscoveryList') || !parts.includes('g=apidiscovery.k8s.io')) continue;
    const version = parts.find((part) => part.startsWith('v='))?.slice(2);
    if (version === 'v2') return version;
  }
  return undefined;
}

function schemas(state: ApiState, path: string): ApiAnswer | undefined {
  if (path === '/openapi/v2')
    return jsonText(
      printJson({ swagger: '2.0', info: { title: 'Kubernetes', version: dataVersion() }, paths: {}, definitions: {} }),
    );
  if (path === '/openapi/v3') {
    const paths = Object.fromEntries(
      [...openApiPaths(), ...customPaths(state)].map((name) => [name, { serverRelativeURL: hashedUrl(state, name) }]),
    );
    return { ...text(200, printJson({ paths })), contentType: 'text/plain; charset=utf-8' };
  }
  if (!path.startsWith('/openapi/v3/')) return undefined;
  const body = schemaText(state, path.slice('/openapi/v3/'.length));
  return body === undefined ? undefined : jsonText(body);
}

function jsonText(body: string): ApiAnswer {
  return { status: 200, contentType: 'application/json', body, warnings: [] };
}

function customPaths(state: ApiState): string[] {
  return [
    ...new Set(
      state.registry
        .all()
        .filter((kind) => kind.origin === 'custom')
        .map((kind) => `apis/${apiVersionOf(kind)}`),
    ),
  ];
}

function schemaText(state: ApiState, name: string): string | undefined {
  const builtIn = openApiDocument(name);
  if (builtIn !== undefined) return printJson(builtIn);
  if (!customPaths(state).includes(name)) return undefined;
  const [, group = '', version = ''] = name.split('/');
  return printJson(openApiOfCustom(state.registry.customDefinitions(), group, version));
}

/** Schemas are cached by clients under this address; the built-in ones never change while the server runs. */
function hashedUrl(state: ApiState, name: string): string {
  const stable = openApiPaths().includes(name) ? dataVersion() : (schemaText(state, name) ?? '');
  const hash = createHash('sha256').update(`${name} ${stable}`).digest('hex').toUpperCase();
  return `/openapi/v3/${name}?hash=${hash}`;
}
