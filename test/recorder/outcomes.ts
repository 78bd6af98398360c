import type { ApiServer } from '../apiserver/apiServer.ts';
import { plainRequest } from '../apiserver/request.ts';

/** All that the test controllers write to. */
const COLLECTIONS = [
  '/api/v1/namespaces/default/configmaps',
  '/api/v1/namespaces/default/secrets',
  '/apis/apps/v1/namespaces/default/deployments',
  '/apis/coordination.k8s.io/v1/namespaces/default/leases',
  '/apis/example.test/v1/namespaces/default/toys',
];

interface Held {
  readonly metadata: { readonly uid: string; readonly name: string; readonly generateName?: string };
}

/** What runs of the test controllers left behind: each object as text in which only content is told apart. */
export class Outcomes {
  private readonly server: ApiServer;
  private readonly paced: ReadonlySet<string>;
  private readonly known = new Set<string>();

  /** @param paced scenarios in which time decides how far each gets, recorded or not: numbers in them say nothing */
  constructor(server: ApiServer, paced: ReadonlySet<string>) {
    this.server = server;
    this.paced = paced;
  }

  /** The objects that came since the last call, by scenario, sorted. */
  async since(variant: string): Promise<Map<string, string[]>> {
    const found = new Map<string, string[]>();
    for (const path of COLLECTIONS) {
      const { status, body } = await plainRequest(this.server, 'GET', path);
      // The controllers bring the definition of toys with them.
      if (status !== 200 && status !== 404) throw new Error(`GET ${path} answered ${status}: ${body}`);
      const { items = [] } = JSON.parse(status === 404 ? '{}' : body) as { items?: Held[] };
      for (const item of items) {
        const [, scenario] = new RegExp(`^(.+)-${variant}-\\d+`).exec(item.metadata.name) ?? [];
        if (scenario === undefined || this.known.has(item.metadata.uid)) continue;
        this.known.add(item.metadata.uid);
        const content = canonical(item, `${scenario}-${variant}`);
        const text = this.paced.has(scenario) ? content.replaceAll(/"\d+"|(?<=: )\d+/g, 'NUMBER') : content;
        found.set(scenario, [...(found.get(scenario) ?? []), `${path} ${text}`]);
      }
    }
    for (const texts of found.values()) texts.sort();
    return found;
  }
}

/** An object without what differs from run to run: names made for the run, UIDs, tokens, times. */
function canonical(object: Held, name: string): string {
  const { generateName } = object.metadata;
  const alike = (key: string, value: unknown): unknown => {
    // Which of two candidates is elected is a race.
    if (key === 'resourceVersion' || key === 'holderIdentity') return key;
    // The server has them in the order of their times.
    return key === 'managedFields' && Array.isArray(value) ? value.toSorted(byManager) : value;
  };
  const text = JSON.stringify(object, alike, 1);
  return text
    .replaceAll(generateName === undefined ? object.metadata.uid : object.metadata.name, 'ITSELF')
    .replaceAll(new RegExp(`${name}-\\d+`, 'g'), 'NAME')
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'UID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)/g, 'TIME')
    .replaceAll(/\d{16,}/g, 'NANOSECONDS');
}

function byManager(a: unknown, b: unknown): number {
  const [first, second] = [a, b].map((entry) => {
    const { time: _time, ...rest } = entry as { time?: string };
    return JSON.stringify(rest);
  });
  return (first ?? '').localeCompare(second ?? '');
}
