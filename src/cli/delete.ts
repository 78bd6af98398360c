import { Option, type Command } from 'commander';
import { describeTarget } from '../write/target.ts';
import type { Report } from '../write/report.ts';
import { askAgain } from './askAgain.ts';
import { isInteractive } from './asking.ts';
import { changeLine, confirm, confirmProtected, isProtectedContext, shortList } from './confirm.ts';
import { cliUserAgent, connect, filled, findObject, namespaceOf, withClusterOptions } from './connect.ts';
import { tellReport, tellWriteError } from './writeReport.ts';
import type { CliIo, ClusterOptions } from './io.ts';

interface DeleteCliOptions extends ClusterOptions {
  uid: string;
  token?: string;
  cascade?: 'background' | 'foreground' | 'orphan';
  dryRun?: boolean;
  yes?: boolean;
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
    .option('--yes', 'in a protected context: it is to be deleted')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .action(async (resource: string, name: string | undefined, options: DeleteCliOptions) => {
      try {
        await run(resource, name, options, io);
      } catch (error) {
        tellWriteError(error, options.output, io);
      }
    });
}

/** Shows what became of an object since the version that was to be deleted, and asks about the one that it is at now. */
async function confirmNewest({ token = '', conflicts, attempts }: Report, name: string, io: CliIo): Promise<boolean> {
  const winners = (attempts.at(-1)?.wonBy ?? []).map(({ manager }) => manager);
  const by = winners.length === 0 ? '' : `, by ${[...new Set(winners)].join(', ')}`;
  const lines =
    conflicts === undefined
      ? ['What changed is not known: the server keeps that version no more.']
      : shortList(conflicts.map(({ path, base, theirs }) => changeLine(path, base, theirs)));
  io.stderr(`${name} changed since that version${by}:\n${lines.map((line) => `  ${line}\n`).join('')}`);
  return confirm(`Delete it as it is now (token ${token})?`, io);
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
    const once = async (token: string | undefined, dryRun: boolean): Promise<Report> =>
      deleteObject(cluster, target, {
        clock: io.clock,
        signal: io.signal,
        agent: cliUserAgent,
        dryRun,
        ...(token === undefined ? {} : { token }),
        ...(options.cascade === undefined ? {} : { propagation: propagations[options.cascade] }),
      });
    const dryRun = options.dryRun === true;
    if (!dryRun && isProtectedContext(cluster.context, io)) {
      const { outcome, message = outcome } = await once(options.token, true);
      const lines = [`delete ${describeTarget(target)} (${options.uid})`, `a dry run says: ${String(message)}`];
      await confirmProtected(cluster.context, lines, options.yes === true, io);
    }
    let report = await once(options.token, dryRun);
    while (report.outcome === 'needs-decision' && report.token !== undefined && isInteractive(io)) {
      if (!(await confirmNewest(report, describeTarget(target), io))) break;
      report = await once(report.token, dryRun);
    }
    tellReport(report, options.output, describeTarget(target), io);
  } finally {
    cluster.dispose();
  }
}
