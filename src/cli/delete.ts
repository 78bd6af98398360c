import { Option, type Command } from 'commander';
import { describeTarget } from '../write/target.ts';
import { askAgain } from './askAgain.ts';
import { cliUserAgent, connect, filled, findObject, namespaceOf, withClusterOptions } from './connect.ts';
import { tellReport, tellWriteError } from './writeReport.ts';
import type { CliIo, ClusterOptions } from './io.ts';

interface DeleteCliOptions extends ClusterOptions {
  uid: string;
  token?: string;
  cascade?: 'background' | 'foreground' | 'orphan';
  dryRun?: boolean;
  output: 'text' | 'json';
}

const propagations = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const;

/** Registers `delete RESOURCE NAME --uid UID`: deletes one incarnation and no other. */
export function registerDelete(program: Command, io: CliIo): void {
  withClusterOptions(program.command('delete'))
    .description('delete one incarnation of an object, and no other that has its name')
    .argument('<resource>', 'such as cm, deployments.apps, cm/demo')
    .argument('[name]', 'the object’s name')
    .requiredOption('--uid <uid>', 'the incarnation that is meant', filled)
    .option('--token <token>', 'only if it is still at this version', filled)
    .addOption(new Option('--cascade <policy>', 'what becomes of its dependents').choices(Object.keys(propagations)))
    .option('--dry-run', 'have the server do everything but delete it')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .action(async (resource: string, name: string | undefined, options: DeleteCliOptions) => {
      try {
        await run(resource, name, options, io);
      } catch (error) {
        tellWriteError(error, options.output, io);
      }
    });
}

async function run(text: string, given: string | undefined, options: DeleteCliOptions, io: CliIo): Promise<void> {
  const cluster = await connect(options, io);
  try {
    const [{ discover }, { deleteObject }] = await Promise.all([
      import('../kube/discovery.ts'),
      import('../write/deleteObject.ts'),
    ]);
    const words = { text, ...(given === undefined ? {} : { name: given }) };
    const { resource, name } = findObject(await askAgain(() => discover(cluster, io.signal), io), words);
    const { group, version, kind, namespaced } = resource;
    const namespace = namespaced ? namespaceOf(cluster, options) : '';
    const target = { group, version, resource: resource.resource, kind, namespaced, namespace, name, uid: options.uid };
    const report = await deleteObject(cluster, target, {
      clock: io.clock,
      signal: io.signal,
      agent: cliUserAgent,
      dryRun: options.dryRun === true,
      ...(options.token === undefined ? {} : { token: options.token }),
      ...(options.cascade === undefined ? {} : { propagation: propagations[options.cascade] }),
    });
    tellReport(report, options.output, describeTarget(target), io);
  } finally {
    cluster.dispose();
  }
}
