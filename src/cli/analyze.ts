import { InvalidArgumentError, Option, type Command } from 'commander';
import { basename, relative } from 'node:path';
import { Readable } from 'node:stream';
import { AppError } from '../base/appError.ts';
import type { Finding } from '../core/findings/finding.ts';
import { failsOn, isAsked } from '../core/findings/report/allow.ts';
import type { FindingsReport } from '../core/findings/report/report.ts';
import type { Mark } from '../core/findings/report/mark.ts';
import type { Shard } from '../recorder/shard.ts';
import {
  findingsExit,
  makeReport,
  readFailRules,
  sayNotes,
  type FailOptions,
  type FailRules,
} from './findingsOutput.ts';
import type { CliIo } from './io.ts';

type Format = 'text' | 'json' | 'html' | 'sarif' | 'junit';

interface AnalyzeOptions extends FailOptions {
  format: Format;
  output?: 'text' | 'json';
  shard?: Shard;
  merge?: true;
}

/** Registers `analyze`. */
export function registerAnalyze(program: Command, io: CliIo): void {
  program
    .command('analyze')
    .description('findings of traces and of API servers’ audit logs (JSON Lines, plain or gzip)')
    .argument('<files...>', 'traces or audit logs; - is standard input')
    .addOption(
      new Option('--format <format>', 'how to print')
        .choices(['text', 'json', 'html', 'sarif', 'junit'])
        .default('text'),
    )
    .addOption(new Option('-o, --output <format>', 'the same as --format').choices(['text', 'json']))
    .option('--fail-on <ids>', 'exit with 10 on these findings (ids, id/kind, a severity, any)')
    .option('--allow <file>', 'known findings, each with a reason and an expiry')
    .option('--responsibilities <file>', 'which manager is responsible for which field: a breach is a finding')
    .option('--shard <i/n>', 'only the i-th of n parts of the objects', readShard)
    .option('--merge', 'the files are the JSON of shards: put them together')
    .action(async (files: string[], options: AnalyzeOptions) => {
      const rules = await readFailRules(options);
      const format: Format = options.output ?? options.format;
      if (options.merge === true && options.shard !== undefined)
        throw new AppError('usage', '--merge puts shards together and cannot be one.');
      const { report, marks, extra } =
        options.merge === true
          ? await merged(files, rules, io)
          : await analysed(
              files,
              options,
              rules,
              io,
              format === 'text' || format === 'html' || options.shard !== undefined,
            );
      for (const piece of await print(report, marks, format, rules, extra, inputName(files))) io.stdout(piece);
      if (format === 'sarif' || format === 'junit') sayNotes(report, io);
      const code = findingsExit(report, rules);
      if (code !== 0) io.exit(code);
    });
}

interface Outcome {
  report: FindingsReport;
  marks: readonly Mark[];
  /** Members that only a shard's JSON has. */
  extra: Record<string, unknown>;
}

async function analysed(
  files: readonly string[],
  options: AnalyzeOptions,
  rules: FailRules,
  io: CliIo,
  withMarks: boolean,
): Promise<Outcome> {
  const [{ analyse }, { boundHeapGrowth }] = await Promise.all([
    import('../recorder/analysis.ts'),
    import('./heapGrowth.ts'),
  ]);
  using _bound = boundHeapGrowth();
  const stdin = io.stdin instanceof Readable ? io.stdin : Readable.from(io.stdin);
  const found = await analyse({
    files,
    stdin,
    signal: io.signal,
    detector: rules.detector,
    ...(options.shard === undefined ? {} : { shard: options.shard }),
    marks: withMarks,
  });
  const { findings, events, notAnalysed, notes, marks } = found;
  const report = makeReport(findings, rules, { events, notAnalysed, notes }, io.clock.now());
  return { report, marks, extra: options.shard === undefined ? {} : { shard: options.shard, marks } };
}

async function merged(files: readonly string[], rules: FailRules, io: CliIo): Promise<Outcome> {
  const { mergeShards } = await import('../recorder/mergeShards.ts');
  const { findings, events, notAnalysed, notes, marks } = await mergeShards(files, io.signal);
  return { report: makeReport(findings, rules, { events, notAnalysed, notes }, io.clock.now()), marks, extra: {} };
}

async function print(
  report: FindingsReport,
  marks: readonly Mark[],
  format: Format,
  rules: FailRules,
  extra: Record<string, unknown>,
  input: string,
): Promise<Iterable<string>> {
  switch (format) {
    case 'text': {
      const [{ reportText }, { findingPages }] = await Promise.all([
        import('../core/findings/report/report.ts'),
        import('./findingPages.ts'),
      ]);
      return [reportText(report, findingPages(), marks)];
    }
    case 'json': {
      const { reportJson } = await import('../core/findings/report/report.ts');
      return reportJson(report, extra);
    }
    case 'html': {
      const { reportHtml } = await import('../core/findings/report/html.ts');
      return [reportHtml(report, marks, 'Findings of Kubernetes object versions', daysOf(report))];
    }
    case 'sarif': {
      const { reportSarif } = await import('../core/findings/report/sarif.ts');
      return [reportSarif(report, { version: '0.1.0' }, input)];
    }
    case 'junit': {
      const { reportJunit } = await import('../core/findings/report/junit.ts');
      const { failOn } = rules;
      const fails = (finding: Finding): boolean =>
        isAsked(failOn) ? failsOn(finding, failOn) : finding.severity !== 'info';
      return [reportJunit(report, fails)];
    }
  }
}

/** What was read, as a path relative to here where it lies beneath it. */
function inputName([first = '-']: readonly string[]): string {
  if (first === '-') return 'stdin';
  const near = relative('.', first);
  return near === '' || near.startsWith('..') ? basename(first) : near;
}

/** The days on which something was found: `2026-01-01`, or the first and the last of them. */
function daysOf(report: FindingsReport): string {
  const times = report.findings.flatMap((finding) => [finding.firstAt, finding.lastAt]).sort((a, b) => a - b);
  const days = [times[0], times.at(-1)].flatMap((at) =>
    at === undefined ? [] : new Date(at).toISOString().slice(0, 10),
  );
  return [...new Set(days)].join(' to ');
}

function readShard(text: string): Shard {
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const shard = { index: Number(index) - 1, count: Number(count) };
  if (index === undefined || shard.index < 0 || shard.index >= shard.count)
    throw new InvalidArgumentError('It is written i/n, with i from 1 to n.');
  return shard;
}
