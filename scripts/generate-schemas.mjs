// Writes what the sandbox knows of the built-in kinds (src/sandbox/data/*.json) from a real API server:
//
//   node scripts/generate-schemas.mjs --url URL --token TOKEN [--insecure]
//
// components.json  OpenAPI v3 schemas of the served kinds, with all that they refer to
// goTypes.json     what OpenAPI leaves out: order of fields, Go types, pointers, omitempty (scripts/goTypes, by reflection)
// discovery.json   groups, versions and resources with verbs, short names and categories
// tables.json      the columns of `kubectl get`
//
// Each names the version of the server. Needs Go and the module in test/apiserver.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const target = path.join(root, 'src/sandbox/data');

/** Group and version to the resources that the sandbox serves, subresources included. */
const SERVED = {
  'api/v1': [
    'bindings',
    'configmaps',
    'endpoints',
    'events',
    'namespaces',
    'namespaces/finalize',
    'namespaces/status',
    'nodes',
    'nodes/status',
    'persistentvolumeclaims',
    'persistentvolumeclaims/status',
    'persistentvolumes',
    'persistentvolumes/status',
    'pods',
    'pods/binding',
    'pods/eviction',
    'pods/status',
    'secrets',
    'serviceaccounts',
    'services',
    'services/status',
  ],
  'apis/apps/v1': [
    'controllerrevisions',
    'daemonsets',
    'daemonsets/status',
    'deployments',
    'deployments/scale',
    'deployments/status',
    'replicasets',
    'replicasets/scale',
    'replicasets/status',
    'statefulsets',
    'statefulsets/scale',
    'statefulsets/status',
  ],
  'apis/batch/v1': ['cronjobs', 'cronjobs/status', 'jobs', 'jobs/status'],
  'apis/autoscaling/v2': ['horizontalpodautoscalers', 'horizontalpodautoscalers/status'],
  'apis/autoscaling/v1': ['horizontalpodautoscalers', 'horizontalpodautoscalers/status'],
  'apis/rbac.authorization.k8s.io/v1': ['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'],
  'apis/coordination.k8s.io/v1': ['leases'],
  'apis/discovery.k8s.io/v1': ['endpointslices'],
  'apis/events.k8s.io/v1': ['events'],
  'apis/apiextensions.k8s.io/v1': ['customresourcedefinitions', 'customresourcedefinitions/status'],
  'apis/authentication.k8s.io/v1': ['selfsubjectreviews'],
  'apis/authorization.k8s.io/v1': ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
};
const ALWAYS = ['Status', 'DeleteOptions', 'WatchEvent', 'Patch'].map(
  (name) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`,
);
const PREFIX = '#/components/schemas/';

const { values: options } = parseArgs({
  options: { url: { type: 'string' }, token: { type: 'string' }, insecure: { type: 'boolean', default: false } },
});
if (options.url === undefined || options.token === undefined) {
  console.error('usage: node scripts/generate-schemas.mjs --url URL --token TOKEN [--insecure]');
  process.exit(2);
}

function get(address, accept = 'application/json') {
  const request = {
    headers: { authorization: `Bearer ${options.token}`, accept },
    rejectUnauthorized: !options.insecure,
  };
  return new Promise((resolve, reject) => {
    https
      .get(new URL(address, options.url), request, (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk) => (text += chunk));
        answer.on('end', () => {
          if (answer.statusCode === 200) resolve(JSON.parse(text));
          else reject(new Error(`${address}: ${answer.statusCode} ${text}`));
        });
      })
      .on('error', reject);
  });
}

function references(value, found = new Set()) {
  if (Array.isArray(value)) for (const item of value) references(item, found);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      if (key === '$ref' && typeof item === 'string') found.add(item.slice(PREFIX.length));
      else references(item, found);
    }
  }
  return found;
}

function sortKeys(value) {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function write(name, value) {
  writeFileSync(path.join(target, name), `${JSON.stringify(value)}\n`);
}

const version = (await get('/version')).gitVersion;
const discovery = {};
const all = {};
const wanted = new Set(ALWAYS);
const tables = {};
const servedGroups = new Set(Object.keys(SERVED).map((key) => (key === 'api/v1' ? '' : key.split('/')[1])));

for (const [place, names] of Object.entries(SERVED)) {
  const document = await get(`/openapi/v3/${place}`);
  Object.assign(all, document.components.schemas);
  const { resources } = await get(`/${place}`);
  discovery[place] = resources.filter(({ name }) => names.includes(name));
  for (const { name, kind, group, version: itsVersion } of discovery[place]) {
    const gvk = {
      group: group ?? (place === 'api/v1' ? '' : place.split('/')[1]),
      version: itsVersion ?? place.split('/').at(-1),
    };
    for (const [component, schema] of Object.entries(document.components.schemas)) {
      const kinds = schema['x-kubernetes-group-version-kind'] ?? [];
      const matches = (item) =>
        item.group === gvk.group && item.version === gvk.version && [kind, `${kind}List`].includes(item.kind);
      if (kinds.some(matches)) wanted.add(component);
    }
    const listed = discovery[place].find((resource) => resource.name === name)?.verbs.includes('list');
    if (listed) {
      const table = await get(`/${place}/${name}?limit=1`, 'application/json;as=Table;g=meta.k8s.io;v=v1');
      tables[`${place}/${name}`] = table.columnDefinitions;
    }
  }
}

for (const name of wanted) for (const other of references(all[name])) wanted.add(other);
const components = {};
for (const name of [...wanted].sort()) {
  const schema = all[name];
  const kinds = schema['x-kubernetes-group-version-kind'];
  components[name] =
    kinds === undefined
      ? schema
      : { ...schema, 'x-kubernetes-group-version-kind': kinds.filter((kind) => servedGroups.has(kind.group)) };
}

const goTypes = JSON.parse(
  execFileSync('go', ['run', path.join(root, 'scripts/goTypes/main.go')], {
    cwd: path.join(root, 'test/apiserver'),
    env: { ...process.env, GOFLAGS: '-mod=mod' },
    maxBuffer: 1 << 26,
    encoding: 'utf8',
  }),
);
const { groups } = await get('/apis');
const preferred = groups
  .filter(({ name }) => servedGroups.has(name))
  .map(({ name, versions, preferredVersion }) => ({
    group: name,
    versions: versions.map((item) => item.version),
    preferred: preferredVersion.version,
  }));

mkdirSync(target, { recursive: true });
write('components.json', { version, schemas: components });
write('goTypes.json', {
  version,
  types: sortKeys(Object.fromEntries(Object.entries(goTypes).filter(([name]) => wanted.has(name)))),
});
write('discovery.json', { version, groups: preferred, resources: discovery });
write('tables.json', { version, columns: tables });
console.log(`${version}: ${wanted.size} schemas, ${Object.keys(tables).length} tables`);
