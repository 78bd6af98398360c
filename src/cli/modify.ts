import { InvalidArgumentError, Option, type Command } from 'commander';
import { AppError } from '../base/appError.ts';
import { formatPath } from '../codec/path.ts';
import type { Cluster } from '../kube/cluster.ts';
import { defaultFieldManager, type FieldResolution, type ModifyOptions } from '../write/options.ts';
import { strategies, type AttemptOutcome, type Strategy } from '../write/outcome.ts';
import type { Report } from '../write/report.ts';
import { describeTarget, type Target } from '../write/target.ts';
import type { ObservedReport } from '../write/waitObserved.ts';
import {
  cliUserAgent,
  connect,
  filled,
  findObject,
  namespaceOf,
  withClusterOptions,
  type ResourceWords,
} from './connect.ts';
import { askAgain } from './askAgain.ts';
import { changeLine, confirmProtected, isProtectedContext, shortList } from './confirm.ts';
import { exitCodes } from './exitCodes.ts';
import { keptTexts } from './keptTexts.ts';
import { wishFrom, type IntentOptions, type Wish } from './modifyIntent.ts';
import { TimeLimit } from './timeLimit.ts';
import { attemptLine, tellReport, tellWriteError } from './writeReport.ts';
import type { CliIo, ClusterOptions } from './io.ts';

interface ModifyCliOptions extends ClusterOptions, IntentOptions {
  strategy: Strategy;
  subresource?: 'status' | 'scale';
  fieldManager?: string;
  soleManager?: boolean;
  uid?: string;
  maxAttempts?: number;
  timeout: number;
  dryRun?: boolean;
  yes?: boolean;
  unconditionalMayLoseUpdates?: boolean;
  onFieldConflict?: readonly string[];
  shownToken?: string;
  wait?: boolean;
  condition?: readonly string[];
  output: 'text' | 'json';
}

/** Registers `modify RESOURCE NAME`: the safe write. */
export function registerModify(program: Command, io: CliIo): void {
  const many = (value: string, all: readonly string[] = []): string[] => [...all, value];
  withClusterOptions(program.command('modify'))
    .description('change an object without ever losing another’s update')
    .argument('<resource>', 'such as cm, deployments.apps, cm/demo')
    .argument('[name]', 'the object’s name')
    .option('--set <path=json>', 'set a value: spec.replicas=3, .data["a.b"]=\'"x"\'; may be repeated', many)
    .option('--remove <path>', 'remove what is at a path; may be repeated', many)
    .option('--edited <file>', 'the object as edited, YAML or JSON; - for standard input')
    .option('--base <file>', 'the object as it was read before it was edited')
    .option(
      '--script <file>',
      'a module whose default export computes the desired object from the current one, on every attempt',
    )
    .option('--release <path>', 'give up what the field manager claims of a field; its value stays')
    .addOption(new Option('--strategy <name>', 'how it is sent').choices(strategies).default('replace'))
    .addOption(new Option('--subresource <name>', 'write to this subresource').choices(['status', 'scale']))
    .option('--field-manager <name>', 'the field manager of the write (default: object-versions)', filled)
    .option(
      '--sole-manager',
      'nobody else writes under this field manager: a write whose answer was lost can then be told apart',
    )
    .option('--uid <uid>', 'write to this incarnation only', filled)
    .option('--max-attempts <n>', 'attempts at most (default: 5, with --script 25)', positive)
    .option('--timeout <seconds>', 'time for all attempts, in seconds', seconds, 30)
    .option('--dry-run', 'have the server do everything but store it')
    .option('--yes', 'in a protected context: it is to be written')
    .option(
      '--unconditional-may-lose-updates',
      'write whatever the current version is: changes that others made since the read are lost',
    )
    .option(
      '--on-field-conflict <path=choice>',
      'for apply: give-up, co-own or take-over a field that another owns; may be repeated',
      many,
    )
    .option(
      '--shown-token <token>',
      'the version that was looked at: fields are taken over at this version only',
      filled,
    )
    .option(
      '--wait',
      'then wait until observedGeneration, if the kind has it, has reached this write, within the same time limit',
    )
    .option('--condition <type=status>', 'with --wait: until this condition holds too; may be repeated', many)
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .action(async (resource: string, name: string | undefined, options: ModifyCliOptions) => {
      try {
        await run(resource, name, options, io);
      } catch (error) {
        tellWriteError(error, options.output, io);
      }
    });
}

async function run(text: string, given: string | undefined, options: ModifyCliOptions, io: CliIo): Promise<void> {
  const resolve = resolutionFrom(options);
  const conditions = conditionsFrom(options);
  const limit = new TimeLimit(io, options.timeout * 1000);
  try {
    const wish = await wishFrom(options, limit, io);
    if (wish.kind === 'release' && options.subresource !== undefined)
      throw new AppError('usage', '--release is about the object itself: leave --subresource out.');
    const cluster = await connect(options, io);
    try {
      const named = { text, ...(given === undefined ? {} : { name: given }) };
      await write(cluster, named, { wish, resolve, conditions }, { limit, options, io });
    } finally {
      cluster.dispose();
    }
  } finally {
    limit.dispose();
  }
}

/** What the command line asks for. */
interface Wanted {
  readonly wish: Wish;
  readonly resolve: FieldResolution | undefined;
  readonly conditions: readonly { type: string; status: string }[];
}

async function write(
  cluster: Cluster,
  words: ResourceWords,
  { wish, resolve, conditions }: Wanted,
  { limit, options, io }: { limit: TimeLimit; options: ModifyCliOptions; io: CliIo },
): Promise<void> {
  const [{ discover }, { listSchemaFor }] = await Promise.all([
    import('../kube/discovery.ts'),
    import('../kube/schema.ts'),
  ]);
  const ask = async <T>(step: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    limit.within(async (signal) =>
      askAgain(() => step(signal), { clock: io.clock, signal, withinMs: limit.remainingMs }),
    );
  const { resource, name } = await ask(async (signal) => findObject(await discover(cluster, signal), words));
  const target: Target = {
    group: resource.group,
    version: resource.version,
    resource: resource.resource,
    kind: resource.kind,
    namespaced: resource.namespaced,
    namespace: resource.namespaced ? namespaceOf(cluster, options) : '',
    name,
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.subresource === undefined ? {} : { subresource: options.subresource }),
  };
  const schema = await ask(async (signal) => listSchemaFor(cluster, resource, signal, keptTexts('schemas', io)));
  const how = {
    ...optionsOf(options, io),
    schema,
    subresources: resource.subresources,
    ...(resolve === undefined ? {} : { resolve }),
  };
  const asks = options.dryRun !== true && isProtectedContext(cluster.context, io);
  const report = asks
    ? await fulfilProtected(cluster, target, wish, how, { limit, options, io })
    : await fulfil(cluster, target, wish, { ...how, timeoutMs: limit.remainingMs });
  const isWritten = report.outcome === 'written' || report.outcome === 'unchanged';
  if (options.wait !== true || !isWritten || report.dryRun === true) {
    tellReport(report, options.output, describeTarget(target), io);
    return;
  }
  const observed = await waitFor(cluster, target, report, conditions, limit, io);
  tellReport({ ...report, observed }, options.output, describeTarget(target), io);
  if (observed.outcome !== 'observed') io.exit(observedExit[observed.outcome]);
}

async function fulfil(cluster: Cluster, target: Target, wish: Wish, how: ModifyOptions): Promise<Report> {
  if (wish.kind === 'release')
    return (await import('../write/releaseField.ts')).releaseField(cluster, target, wish.path, how);
  return (await import('../write/modify.ts')).modify(cluster, target, wish, how);
}

/** Shows what the server would store, by a dry run, asks whether it is to be stored, and stores that. */
async function fulfilProtected(
  cluster: Cluster,
  target: Target,
  wish: Wish,
  how: ModifyOptions,
  { limit, options, io }: { limit: TimeLimit; options: ModifyCliOptions; io: CliIo },
): Promise<Report> {
  const { onAttempt: _attempt, onOwned: _owned, ...quiet } = { ...how, timeoutMs: limit.remainingMs };
  const { foresight } = await import('../write/preview.ts');
  const ask = async (report: Report, lines: readonly string[]): Promise<'agreed' | 'unasked' | Report> => {
    const told = foresight(report);
    if (told === 'nothing' || told === 'ended') return report;
    const untold = `what would be stored is not known, the dry run was refused: ${String(report.message ?? '')}`.trim();
    const known = [...shortList(lines), ...desiredState(report)];
    const said = [`modify ${describeTarget(target)}`, ...(told === 'known' ? known : [untold])];
    await limit.uncounted(() => confirmProtected(cluster.context, said, options.yes === true, io));
    return options.yes === true ? 'unasked' : 'agreed';
  };
  const send = (meant: Target, { onPlan }: Pick<ModifyOptions, 'onPlan'>): Promise<Report> =>
    fulfil(cluster, meant, wish, {
      ...how,
      timeoutMs: limit.remainingMs,
      ...(onPlan === undefined ? {} : { onPlan }),
    });
  if (wish.kind === 'release') {
    const report = await fulfil(cluster, target, wish, { ...quiet, dryRun: true });
    const manager = how.fieldManager ?? defaultFieldManager;
    const answer = await ask(report, [`${manager} gives up its claim of ${formatPath(wish.path)}; the value stays`]);
    if (typeof answer !== 'string') return answer;
    const { uid = target.uid } = report;
    return send({ ...target, ...(uid === undefined ? {} : { uid }) }, {});
  }
  const { confirmedWrite } = await import('../write/confirmed.ts');
  return confirmedWrite(cluster, target, wish, quiet, {
    ask: ({ report, changes, replaced }, again) => {
      if (again) io.stderr('Somebody changed it in the meantime: nothing was written yet.\n');
      return ask(report, [
        ...replaced.map(({ list, before, after }) => `${list}: replaces entry ${before} by ${after}`),
        ...changes.map(({ path, before, after }) => changeLine(path, before, after)),
      ]);
    },
    send,
  });
}

/** Whether a write would change the desired state, as the generation of the dry run tells; nothing where kinds have none. */
function desiredState({ desiredStateChanged }: Report): string[] {
  if (desiredStateChanged === undefined) return [];
  return [desiredStateChanged ? 'This changes the desired state.' : 'This does not change the desired state.'];
}

/** Exit codes of a write that is stored and was not observed; where there is nothing to wait for, it is done. */
const observedExit = {
  'timed-out': exitCodes.unavailable,
  recreated: exitCodes.gone,
  gone: exitCodes.gone,
  unsupported: exitCodes.done,
  cancelled: exitCodes.cancelled,
} as const;

async function waitFor(
  cluster: Cluster,
  target: Target,
  report: Report,
  conditions: readonly { type: string; status: string }[],
  limit: TimeLimit,
  io: CliIo,
): Promise<ObservedReport> {
  const { waitObserved } = await import('../write/waitObserved.ts');
  const goal = {
    uid: report.uid ?? '',
    token: report.token ?? '',
    ...(report.generation === undefined ? {} : { generation: report.generation }),
    conditions,
  };
  return waitObserved(cluster, target, goal, {
    clock: io.clock,
    signal: io.signal,
    timeoutMs: limit.remainingMs,
    ...(report.object === undefined ? {} : { object: report.object }),
  });
}

function conditionsFrom(options: ModifyCliOptions): { type: string; status: string }[] {
  return (options.condition ?? []).map((text) => {
    const [type = '', status = '', ...rest] = text.split('=');
    if (type === '' || status === '' || rest.length > 0) throw new AppError('usage', `"${text}" is not TYPE=STATUS.`);
    return { type, status };
  });
}

/** Attempts of which the report says all. */
const quietAttempts: ReadonlySet<AttemptOutcome> = new Set(['written', 'unchanged', 'field-conflict']);

function optionsOf(options: ModifyCliOptions, io: CliIo): Omit<ModifyOptions, 'timeoutMs'> {
  return {
    clock: io.clock,
    signal: io.signal,
    agent: cliUserAgent,
    strategy: options.strategy,
    ...(options.fieldManager === undefined ? {} : { fieldManager: options.fieldManager }),
    soleManager: options.soleManager === true,
    ...(options.maxAttempts === undefined ? {} : { maxAttempts: options.maxAttempts }),
    dryRun: options.dryRun === true,
    ...(options.unconditionalMayLoseUpdates === true ? { unconditional: 'may-lose-updates' } : {}),
    onAttempt: (attempt) => {
      if (!quietAttempts.has(attempt.outcome) && options.output === 'text') io.stderr(attemptLine(attempt));
    },
    // An apply is refused where a field is another's: the report then says whose it is.
    onOwned: (owned) => {
      for (const { path, manager, operation, time } of options.strategy === 'apply' ? [] : owned) {
        const since = time === undefined ? '' : ` since ${time}`;
        io.stderr(`${path} belongs to ${manager} (${operation ?? ''}${since}).\n`);
      }
      return true;
    },
  };
}

function resolutionFrom(options: ModifyCliOptions): FieldResolution | undefined {
  const choices = (options.onFieldConflict ?? []).map((text) => {
    const at = text.lastIndexOf('=');
    const [path, choice] = [text.slice(0, at), text.slice(at + 1)];
    if (at <= 0 || (choice !== 'give-up' && choice !== 'co-own' && choice !== 'take-over')) {
      throw new AppError('usage', `"${text}" is not PATH=give-up, PATH=co-own or PATH=take-over.`);
    }
    return { path, choice } as const;
  });
  if (choices.length === 0) return undefined;
  if (options.shownToken === undefined && choices.some(({ choice }) => choice === 'take-over')) {
    throw new AppError('usage', 'To take a field over, say at which version you saw it: --shown-token.', {
      advice: 'It is the "token" of the report with the field conflict.',
    });
  }
  return { token: options.shownToken ?? '', choices };
}

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('It must be a whole number from 1.');
  return value;
}

function seconds(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0 || text.trim() === '')
    throw new InvalidArgumentError('It must be a number of seconds.');
  return value;
}
