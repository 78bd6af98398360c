import { randomBytes } from 'node:crypto';
import { Option, type Command } from 'commander';
import type { AppError } from '../base/appError.ts';
import { EventLog } from '../core/eventLog.ts';
import type { TraceEvent } from '../core/traceEvent.ts';
import type { Cluster } from '../kube/cluster.ts';
import type { WatchState } from '../kube/watch.ts';
import { askAgain } from './askAgain.ts';
import { cliUserAgent, connect, findNamed, listed, withClusterOptions, type NamedResource } from './connect.ts';
import { namespaceFor } from './get.ts';
import { identityColumns, stateSentence } from './watchLines.ts';
import type { CliIo, ClusterOptions } from './io.ts';

interface WatchCliOptions extends ClusterOptions {
  allNamespaces?: boolean;
  selector?: string;
  fieldSelector?: string;
  trace?: string;
  overwrite?: true;
  bodies: boolean;
  rawTokens?: boolean;
  output: 'text' | 'json';
}

/** Registers `watch RESOURCE…`: what becomes of objects, one line an event, until interrupted. */
export function registerWatch(program: Command, io: CliIo): void {
  withClusterOptions(program.command('watch'))
    .description('versions, incarnations and gaps as they are seen, until interrupted')
    .argument('<resource...>', 'such as cm, deployments.apps, cm/demo; several are watched side by side')
    .option('-A, --all-namespaces', 'objects of every namespace')
    .option('-l, --selector <labels>', 'only objects with these labels')
    .option('--field-selector <fields>', 'only objects with these fields')
    .option('--trace <file>', 'write every event into a trace file')
    .option('--overwrite', 'with --trace: replace the file that is there')
    .option('--no-bodies', 'read metadata only, and keep no contents')
    .option(
      '--raw-tokens',
      'tokens as the server gave them, not as badges (they tell equal from different, never order)',
    )
    .addOption(
      new Option('-o, --output <format>', 'text, or json for the events as JSON Lines')
        .choices(['text', 'json'])
        .default('text'),
    )
    .action(async (resources: string[], options: WatchCliOptions) => {
      const cluster = await connect(options, io);
      try {
        await watch(cluster, resources, options, io);
      } finally {
        cluster.dispose();
      }
    });
}

async function watch(cluster: Cluster, texts: readonly string[], options: WatchCliOptions, io: CliIo): Promise<void> {
  const { discover } = await import('../kube/discovery.ts');
  const discovery = await askAgain(() => discover(cluster, io.signal), io);
  const wanted = texts.flatMap(listed).map((text) => findNamed(discovery, text));
  const clusterId = await askAgain(() => cluster.id(io.signal), io);
  const trace =
    options.trace === undefined ? undefined : await openTrace(options, options.trace, cluster, clusterId, io);
  const log = new EventLog({ maxEvents: 1, maxContentBytes: 32 * 1024 * 1024 }, (error) => {
    throw error;
  });
  const print = await printer(options, io);
  log.onDidAppend((events) => {
    for (const event of events) {
      trace?.write(event);
      io.stdout(print(event));
    }
  });
  const stop = new AbortController();
  const onInterrupt = (): void => stop.abort();
  io.signal.addEventListener('abort', onInterrupt, { once: true });
  if (io.signal.aborted) stop.abort();
  try {
    await Promise.all(wanted.map((one) => watchOne(cluster, one, options, log, io, stop)));
  } finally {
    stop.abort();
    io.signal.removeEventListener('abort', onInterrupt);
    log.dispose();
    await trace?.close(log.lastSeq + 1);
  }
}

/** Watches one resource until interrupted. A refusal that a person must settle ends it only if nothing was seen before. */
async function watchOne(
  cluster: Cluster,
  found: NamedResource,
  options: WatchCliOptions,
  log: EventLog,
  io: CliIo,
  stop: AbortController,
): Promise<void> {
  const { watchResource } = await import('../kube/watch.ts');
  const namespace = namespaceFor(found, cluster, options);
  let wasLive = false;
  let refused: AppError | undefined;
  let lastSentence = '';
  const onState = (state: WatchState): void => {
    wasLive ||= state.phase === 'live';
    if (state.phase === 'failed' && !wasLive) {
      refused = state.error;
      stop.abort();
      return;
    }
    const sentence = stateSentence(found.resource.resource, state, io.clock.now());
    if (sentence !== lastSentence) io.stderr(sentence === '' ? '' : `${sentence}\n`);
    lastSentence = sentence;
  };
  await watchResource(
    cluster,
    {
      resource: found.resource,
      ...(namespace === undefined ? {} : { namespace }),
      ...(found.name === undefined ? {} : { name: found.name }),
      ...(options.selector === undefined ? {} : { labelSelector: options.selector }),
      ...(options.fieldSelector === undefined ? {} : { fieldSelector: options.fieldSelector }),
      bodies: options.bodies ? 'auto' : 'metadata',
    },
    { events: (events) => log.appendAll(events), state: onState },
    {
      secretKey: randomBytes(16).toString('hex'),
      keepBodies: options.bodies,
      onProblem: (problem) => io.stderr(`${found.resource.resource}: ${problem.message}\n`),
    },
    stop.signal,
  );
  if (refused !== undefined) throw refused;
}

async function printer(options: WatchCliOptions, io: CliIo): Promise<(event: TraceEvent) => string> {
  if (options.output === 'text')
    return (event) => identityColumns(event, { rawTokens: options.rawTokens === true, now: io.clock.now() });
  const { printTraceLine } = await import('../core/trace.ts');
  return printTraceLine;
}

interface OpenTrace {
  write(event: TraceEvent): void;
  /** Ends the trace with the note that says until when was looked; `seq` is its number. */
  close(seq: number): Promise<void>;
}

async function openTrace(
  { overwrite }: WatchCliOptions,
  path: string,
  cluster: Cluster,
  clusterId: string,
  io: CliIo,
): Promise<OpenTrace> {
  const [{ openNamedFile }, { printTraceLine, traceHeader }, { endNote }, { AppError, messageOf }] = await Promise.all([
    import('../storage/namedFile.ts'),
    import('../core/trace.ts'),
    import('../core/endNote.ts'),
    import('../base/appError.ts'),
  ]);
  const failed = (error: unknown): AppError =>
    new AppError('storage-failed', `The trace ${path} cannot be written: ${messageOf(error)}`, {
      advice: 'Name another file with --trace.',
      cause: error,
    });
  const file = await openNamedFile({ path, what: 'The trace', mayReplace: overwrite === true });
  const stream = file.createWriteStream();
  let problem: unknown;
  stream.on('error', (error) => {
    if (problem === undefined) io.stderr(`${failed(error).message}\n`);
    problem = error;
  });
  stream.write(
    printTraceLine(
      traceHeader(cliUserAgent, { [clusterId]: { label: cluster.label, server: cluster.url } }, io.clock.now()),
    ),
  );
  return {
    write: (event) => {
      if (problem === undefined) stream.write(printTraceLine(event));
    },
    async close(seq) {
      if (problem === undefined) stream.write(printTraceLine({ ...endNote(io.clock.now(), clusterId, 'watch'), seq }));
      await new Promise<void>((resolve) => {
        stream.end(resolve);
        stream.once('close', resolve);
      });
      if (problem !== undefined) throw failed(problem);
    },
  };
}
