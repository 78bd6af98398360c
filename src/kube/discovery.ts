import { message } from '../base/message.ts';
import { AppError } from '../base/appError.ts';
import { appErrorOf, objectOf, readJson, readReply } from './answers.ts';
import type { Cluster } from './cluster.ts';
import {
  aggregatedResources,
  plainGroups,
  plainResources,
  type ApiResource,
  type GroupVersion,
} from './discoveryAnswers.ts';

export type { ApiResource } from './discoveryAnswers.ts';

/** What a server offers, and how a person's words find it. */
export interface Discovery {
  /** Groups in the server's order of priority, the core group first; the preferred version of a group first. */
  readonly resources: readonly ApiResource[];
  /** Groups that could not be asked, such as an aggregated API whose server is down. The others are complete. */
  readonly problems: readonly AppError[];
  /**
   * Finds a resource as kubectl does: `deploy`, `deployments`, `Deployment`, `deployments.apps`, `deployments.v1.apps`.
   * @throws AppError `unknown-resource` with what comes near
   */
  find(text: string): ApiResource;
}

const AGGREGATED = ['v2', 'v2beta1'].map(
  (version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
);
const ACCEPT = [...AGGREGATED, 'application/json'].join(',');
const NEAR = 5;

/**
 * Asks the server what it offers: aggregated discovery (two requests) where offered, else one request a group version.
 * Source: Kubernetes documentation, "The Kubernetes API: Discovery API".
 * @throws AppError of the connection or the refusal
 */
export async function discover(cluster: Cluster, signal: AbortSignal): Promise<Discovery> {
  const [core, groups] = await Promise.all([
    discoverRoot(cluster, '/api', signal),
    discoverRoot(cluster, '/apis', signal),
  ]);
  return makeDiscovery([...core.resources, ...groups.resources], [...core.problems, ...groups.problems]);
}

interface Found {
  resources: readonly ApiResource[];
  problems: readonly AppError[];
}

async function discoverRoot(cluster: Cluster, path: '/api' | '/apis', signal: AbortSignal): Promise<Found> {
  const reply = await readReply(cluster, { path, headers: { accept: ACCEPT } }, signal);
  const answer = objectOf(reply);
  if (answer['kind'] === 'APIGroupDiscoveryList') return aggregatedResources(answer);
  const versions = plainGroups(answer);
  const found = await Promise.all(versions.map((version) => discoverVersion(cluster, version, signal)));
  return { resources: found.flatMap((one) => one.resources), problems: found.flatMap((one) => one.problems) };
}

async function discoverVersion(
  cluster: Cluster,
  { group, version }: GroupVersion,
  signal: AbortSignal,
): Promise<Found> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  try {
    return { resources: plainResources(await readJson(cluster, { path }, signal), { group, version }), problems: [] };
  } catch (error) {
    if (signal.aborted) throw error;
    return { resources: [], problems: [appErrorOf(error)] };
  }
}

/** A discovery over known resources. */
export function makeDiscovery(resources: readonly ApiResource[], problems: readonly AppError[]): Discovery {
  return {
    resources,
    problems,
    find(text) {
      const wanted = text.trim();
      const found = findResource(resources, wanted);
      if (found !== undefined) return found;
      const near = nearNames(resources, wanted);
      const failing =
        problems.length === 0 ? '' : message` ${problems.length} API groups did not answer and may have it.`;
      throw new AppError('unknown-resource', message`The API server has no resource "${wanted}".`, {
        advice: message`${near.length === 0 ? message`Ask "kubectl api-resources" for all it has.` : message`Did you mean ${near.join(', ')}?`}${failing}`,
      });
    },
  };
}

function findResource(resources: readonly ApiResource[], text: string): ApiResource | undefined {
  const [word = '', ...rest] = text.split('.');
  const exact = resources.filter((resource) => answersTo(resource, word));
  if (rest.length === 0) return exact[0];
  const suffix = rest.join('.').toLowerCase();
  return exact.find(
    ({ group, version }) =>
      suffix === group || suffix === `${version}.${group}` || (group === '' && suffix === version),
  );
}

function answersTo(resource: ApiResource, word: string): boolean {
  const lower = word.toLowerCase();
  return (
    resource.resource === lower ||
    resource.singular === lower ||
    resource.kind.toLowerCase() === lower ||
    resource.shortNames.includes(lower)
  );
}

function nearNames(resources: readonly ApiResource[], text: string): string[] {
  const word = text.split('.')[0]?.toLowerCase() ?? '';
  const names = new Set(resources.map((resource) => resource.resource));
  const scored = [...names].map((name) => ({
    name,
    distance: name.startsWith(word) && word.length > 2 ? 0 : editDistance(name, word),
  }));
  return scored
    .filter(({ distance }) => distance <= Math.max(2, Math.floor(word.length / 3)))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, NEAR)
    .map(({ name }) => name);
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_unused, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/**
 * The request path of a resource: of all its objects (`namespace` undefined or '': every namespace), or of one by its name.
 * For a cluster-scoped resource the namespace is ignored.
 */
export function pathOf(
  resource: Pick<ApiResource, 'group' | 'version' | 'resource' | 'namespaced'>,
  namespace?: string,
  name?: string,
  subresource?: string,
): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const within =
    resource.namespaced && namespace !== undefined && namespace !== ''
      ? `/namespaces/${encodeURIComponent(namespace)}`
      : '';
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `${root}${within}/${resource.resource}${object}${subresource === undefined ? '' : `/${subresource}`}`;
}
