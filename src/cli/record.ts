import { Option, type Command } from 'commander';
import { AppError } from '../base/appError.ts';
import type { Mark } from '../core/findings/report/mark.ts';
import type { FindingsReport } from '../core/findings/report/report.ts';
import type { Recorder } from '../recorder/recorder.ts';
import type { RecordingSession } from '../recorder/session.ts';
import type { TraceWriter } from '../recorder/traceWriter.ts';
import { withClusterOptions } from './connect.ts';
import { exitCodes } from './exitCodes.ts';
import {
  findingsExit,
  makeReport,
  readFailRules,
  yamlValue,
  type FailOptions,
  type FailRules,
} from './findingsOutput.ts';
import type { CliIo, ClusterOptions } from './io.ts';

interface RecordOptions extends ClusterOptions, FailOptions {
  client?: string[];
  trace?: string;
  overwrite?: true;
  transparent?: true;
  bodies: boolean;
  follow: boolean;
  port?: string;
  output: 'text' | 'json';
}

/** How long after the command's end the streams may still bring what it did. */
const SETTLE_MS = 400;

/** Registers `record`. */
export function registerRecord(program: Command, io: CliIo): void {
  withClusterOptions(program.command('record'))
    .description('a recording proxy in front of a cluster: runs a command behind it, or serves until interrupted')
    .argument('[command...]', 'what to run, after --; its KUBECONFIG points at the recorder')
    .option(
      '--client <name>',
      'the name under which the command is recorded (default: default); may be repeated when serving',
      (name: string, names: string[] | undefined) => [...(names ?? []), name],
    )
    .option('--trace <file>', 'write what was recorded as a trace')
    .option('--overwrite', 'with --trace: replace the file that is there')
    .option('--transparent', 'leave every byte alone; do not ask for JSON')
    .option('--no-bodies', 'keep hashes instead of contents')
    .option('--no-follow', 'do not watch what the clients touch')
    .option('--port <port>', 'the port to listen on; a free one unless given')
    .option('--fail-on <ids>', 'exit with 10 on these findings (ids, id/kind, a severity, any)')
    .option('--allow <file>', 'known findings, each with a reason and an expiry')
    .option('--responsibilities <file>', 'which manager is responsible for which field: a breach is a finding')
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .action(async (command: string[], options: RecordOptions) => {
      const rules = await readFailRules(options);
      const run = await startRun(options, rules, io);
      try {
        const [name = 'default', ...others] = options.client ?? [];
        const code =
          command.length > 0
            ? await run.command(command, name, options, io)
            : await run.serve([name, ...others], options, io);
        const report = await run.finish(rules, io);
        await print(report, run.marks(), command.length > 0, options, io);
        io.exit(code === 0 ? findingsExit(report, rules) : code);
      } finally {
        await run.stop();
      }
    });
}

async function print(
  report: FindingsReport,
  marks: readonly Mark[],
  ranCommand: boolean,
  options: RecordOptions,
  io: CliIo,
): Promise<void> {
  const [{ reportJson, reportText }, { findingPages }] = await Promise.all([
    import('../core/findings/report/report.ts'),
    import('./findingPages.ts'),
  ]);
  if (options.output === 'json') for (const piece of reportJson(report)) io.stdout(piece);
  else if (ranCommand) io.stderr(reportText(report, findingPages(), marks));
  else io.stdout(reportText(report, findingPages(), marks));
}

async function startRun(options: RecordOptions, rules: FailRules, io: CliIo): Promise<RecordRun> {
  const [{ loadKubeconfig }, { startRecorder }, { RecordingSession: Session }, { TraceWriter: Writer }, { homedir }] =
    await Promise.all([
      import('../kube/kubeconfig.ts'),
      import('../recorder/recorder.ts'),
      import('../recorder/session.ts'),
      import('../recorder/traceWriter.ts'),
      import('node:os'),
    ]);
  const kubeconfig = loadKubeconfig({
    ...(options.kubeconfig === undefined ? {} : { paths: [options.kubeconfig] }),
    env: io.env,
    home: io.env['HOME'] ?? homedir(),
  });
  const problems: string[] = [];
  const onProblem = (message: string): void => {
    if (problems.length < 100 && !problems.includes(message)) {
      problems.push(message);
      io.stderr(`record: ${message}\n`);
    }
  };
  let writer: TraceWriter | undefined;
  const session = new Session((event) => writer?.add(event), rules.detector, options.output === 'text');
  const recorder = await startRecorder(
    {
      kubeconfig,
      ...(options.context === undefined ? {} : { context: options.context }),
      userAgent: 'object-versions-recorder',
      env: io.env,
      clock: io.clock,
      ...(options.port === undefined ? {} : { port: portOf(options.port) }),
      transparent: options.transparent === true,
      keepBodies: options.bodies,
      follow: options.follow,
      sink: (event) => void session.add(event),
      parseYaml: yamlValue,
      onProblem,
    },
    io.signal,
  );
  try {
    const { id, label, server } = recorder.cluster;
    if (options.trace !== undefined)
      writer = await Writer.open(
        options.trace,
        { creator: 'object-versions record', clusters: { [id]: { label, server } }, at: io.clock.now() },
        onProblem,
        options.overwrite === true,
      );
  } catch (error) {
    await recorder.stop();
    throw error;
  }
  return new RecordRun(recorder, session, writer, problems);
}

/** One run of `record`: the recorder, what it found, and the files that its clients use. */
class RecordRun {
  private readonly recorder: Recorder;
  private readonly session: RecordingSession;
  private readonly writer: TraceWriter | undefined;
  private readonly problems: readonly string[];
  private folder: string | undefined;

  constructor(
    recorder: Recorder,
    session: RecordingSession,
    writer: TraceWriter | undefined,
    problems: readonly string[],
  ) {
    this.recorder = recorder;
    this.session = session;
    this.writer = writer;
    this.problems = problems;
  }

  /** Runs the command behind the recorder; its exit code, or 128 and the number of the signal that ended it. */
  async command(command: readonly string[], client: string, options: RecordOptions, io: CliIo): Promise<number> {
    const { runCommand } = await import('./recordCommand.ts');
    const kubeconfig = await this.kubeconfigFile(client);
    return runCommand(
      command,
      { ...io.env, KUBECONFIG: kubeconfig, USE_EXISTING_CLUSTER: 'true' },
      { stdoutToStderr: options.output === 'json' },
    );
  }

  /** Serves until interrupted. */
  async serve(clients: readonly string[], options: RecordOptions, io: CliIo): Promise<number> {
    for (const client of clients) {
      const kubeconfig = await this.kubeconfigFile(client);
      if (options.output === 'json') io.stdout(`${JSON.stringify({ client, url: this.recorder.url, kubeconfig })}\n`);
      else
        io.stdout(
          `Recording ${this.recorder.cluster.label} at ${this.recorder.url}. Start ${client} with\n  KUBECONFIG=${kubeconfig} USE_EXISTING_CLUSTER=true\n`,
        );
    }
    await new Promise<void>((resolve) => {
      if (io.signal.aborted) resolve();
      io.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    return exitCodes.done;
  }

  /** What the report shows of the events. */
  marks(): Mark[] {
    return this.session.marks();
  }

  /** Waits until what the clients did has been read, and reports. */
  async finish(rules: FailRules, io: CliIo): Promise<FindingsReport> {
    await this.recorder.settled();
    await io.clock.delay(SETTLE_MS);
    await this.recorder.settled();
    const findings = this.session.end({ at: io.clock.now(), cluster: this.recorder.cluster.id });
    await this.writer?.close();
    const { reasons, ...counts } = this.recorder.notAnalysed();
    const notAnalysed = { ...counts, reasons, traceEventsLost: this.writer?.lost ?? 0 };
    return makeReport(
      findings,
      rules,
      { events: this.session.events, notAnalysed, notes: [...this.problems] },
      io.clock.now(),
    );
  }

  async stop(): Promise<void> {
    await this.recorder.stop();
    if (this.folder === undefined) return;
    const { rm } = await import('node:fs/promises');
    await rm(this.folder, { recursive: true, force: true });
  }

  private async kubeconfigFile(client: string): Promise<string> {
    if (!/^[\w.-]{1,64}$/.test(client))
      throw new AppError('usage', `"${client}" is no name of a client: letters, digits, dots, dashes and underscores.`);
    const [{ mkdtemp, writeFile }, { tmpdir }, path] = await Promise.all([
      import('node:fs/promises'),
      import('node:os'),
      import('node:path'),
    ]);
    this.folder ??= await mkdtemp(path.join(tmpdir(), 'object-versions-record-'));
    const file = path.join(this.folder, `${client}.kubeconfig`);
    await writeFile(file, this.recorder.kubeconfig(client), { mode: 0o600 });
    return file;
  }
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new AppError('usage', `"${text}" is no port.`);
  return port;
}
