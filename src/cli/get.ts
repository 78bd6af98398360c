import { Option, type Command } from 'commander';
import { inGroup } from '../core/inGroup.ts';
import { AppError } from '../base/appError.ts';
import type { JsonObject } from '../codec/json.ts';
import type { Cluster } from '../kube/cluster.ts';
import { askAgain } from './askAgain.ts';
import { connect, findGiven, listed, namespaceOf, withClusterOptions, type NamedResource } from './connect.ts';
import { identityOf, identityTable, type Identity } from './identity.ts';
import type { CliIo, ClusterOptions } from './io.ts';

interface GetOptions extends ClusterOptions {
  allNamespaces?: boolean;
  selector?: string;
  fieldSelector?: string;
  rawTokens?: boolean;
  output: 'text' | 'json';
}

/** Registers `get RESOURCE [NAME]`: which objects there are, which versions of them, and who writes to them. */
export function registerGet(program: Command, io: CliIo): void {
  withClusterOptions(program.command('get'))
    .description('objects with what identifies them: UID, token, generations, field managers')
    .argument('<resource>', 'such as cm, deployments, deployments.apps, cm/demo; several: deploy,cm')
    .argument('[name]', 'one object only')
    .option('-A, --all-namespaces', 'objects of every namespace')
    .option('-l, --selector <labels>', 'only objects with these labels')
    .option('--field-selector <fields>', 'only objects with these fields')
    .option(
      '--raw-tokens',
      'tokens as the server gave them, not as badges (they tell equal from different, never order)',
    )
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .action(async (text: string, name: string | undefined, options: GetOptions) => {
      const cluster = await connect(options, io);
      try {
        await get(cluster, text, name, options, io);
      } finally {
        cluster.dispose();
      }
    });
}

async function get(
  cluster: Cluster,
  text: string,
  name: string | undefined,
  options: GetOptions,
  io: CliIo,
): Promise<void> {
  const { discover } = await import('../kube/discovery.ts');
  const words = listed(text);
  const discovery = await askAgain(() => discover(cluster, io.signal), io);
  const all = words.map((word) => findGiven(discovery, { text: word, ...(name === undefined ? {} : { name }) }));
  for (const [index, found] of all.entries()) {
    if (all.length > 1 && options.output === 'text')
      io.stdout(`${index === 0 ? '' : '\n'}${inGroup(found.resource.resource, found.resource.group)}\n`);
    await getOneResource(cluster, found, options, io);
  }
}

async function getOneResource(cluster: Cluster, found: NamedResource, options: GetOptions, io: CliIo): Promise<void> {
  const wanted = found.name;
  const namespace = namespaceFor(found, cluster, options);
  let identities: Identity[] = [];
  if (wanted !== undefined)
    identities.push(identified(await askAgain(() => getOne(cluster, found, namespace, wanted, io), io)));
  else identities = await askAgain(() => listAll(cluster, found, namespace, options, io), io);
  if (options.output === 'json') {
    const { group, version, resource, kind } = found.resource;
    const answer =
      wanted === undefined
        ? { group, version, resource, kind, items: identities }
        : { group, version, resource, kind, ...identities[0] };
    io.stdout(`${JSON.stringify(answer)}\n`);
    return;
  }
  if (identities.length === 0) {
    io.stderr(
      `No ${found.resource.resource} ${namespace === undefined ? 'in the cluster' : `in namespace ${namespace}`}.\n`,
    );
    return;
  }
  const namespaces = found.resource.namespaced && namespace === undefined;
  io.stdout(identityTable(identities, { now: io.clock.now(), namespaces, rawTokens: options.rawTokens === true }));
}

/** The namespace that a command is about; undefined for all of them, and for what has none. */
export function namespaceFor(
  found: NamedResource,
  cluster: Cluster,
  options: ClusterOptions & { allNamespaces?: boolean },
): string | undefined {
  if (!found.resource.namespaced || options.allNamespaces === true) return undefined;
  return namespaceOf(cluster, options);
}

async function getOne(
  cluster: Cluster,
  { resource }: NamedResource,
  namespace: string | undefined,
  name: string,
  io: CliIo,
): Promise<JsonObject> {
  if (resource.namespaced && namespace === undefined) {
    throw new AppError('usage', 'An object cannot be named in every namespace at once.', {
      advice: 'Give its namespace with -n.',
    });
  }
  const [{ getObject }, { pathOf }] = await Promise.all([import('../kube/list.ts'), import('../kube/discovery.ts')]);
  const object = await getObject(cluster, pathOf(resource, namespace, name), io.signal);
  if (object !== undefined) return object;
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  throw new AppError('not-found', `There is no ${resource.kind} "${name}"${where}.`, {
    advice: 'Check the name, the namespace and the context.',
  });
}

async function listAll(
  cluster: Cluster,
  { resource }: NamedResource,
  namespace: string | undefined,
  options: GetOptions,
  io: CliIo,
): Promise<Identity[]> {
  const { listPages } = await import('../kube/list.ts');
  const selection = {
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(options.selector === undefined ? {} : { labelSelector: options.selector }),
    ...(options.fieldSelector === undefined ? {} : { fieldSelector: options.fieldSelector }),
  };
  let objects: Identity[] = [];
  for await (const page of listPages(cluster, selection, 'whole', io.signal)) {
    if (page.page === 0) objects = [];
    for (const item of page.items) objects.push(identified(item));
  }
  return objects;
}

/** Some resources, such as the metrics of Pods, have no UID; nothing that an API server answers is without a name. */
function identified(object: JsonObject): Identity {
  const identity = identityOf(object);
  if (identity.name !== '') return identity;
  throw new AppError('bad-answer', 'The server answered with an object that has no name.', {
    advice: 'Check the address of this cluster in the kubeconfig; something else may stand there.',
  });
}
