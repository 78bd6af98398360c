import { Option, type Command } from 'commander';
import { AppError } from '../base/appError.ts';
import { contentionStrategies, type ContentionStrategy } from '../lab/contention.ts';
import type { ModularLab } from '../lab/modular.ts';
import type { ReplayResult, StepResult } from '../lab/replay.ts';
import { isInteractive, startAsking } from './asking.ts';
import { exitCodes } from './exitCodes.ts';
import { registerLesson } from './lesson.ts';
import { onCluster, outputOption, wholeNumber, withServer, type LabOptions, type Output } from './labServer.ts';
import type { CliIo } from './io.ts';

/** Registers `lab modular`, `lab replay` and `lab contention`. */
export function registerLab(program: Command, io: CliIo): void {
  const lab = program
    .command('lab')
    .description('the labs: what tokens are not, what a conflict means, what contention costs');
  registerModular(lab, io);
  registerReplay(lab, io);
  registerContention(lab, io);
  registerLesson(lab, io);
}

function registerModular(lab: Command, io: CliIo): void {
  lab
    .command('modular')
    .description('labels modulo m, and why "greater means newer" fails once they wrap')
    .option('--m <m>', 'the modulus, from 1 to 2^53-1', '8')
    .option('--a <a>', 'what each step adds, from 0 to 2^53-1', '1')
    .option('--steps <n>', 'how many steps to take', wholeNumber(0, 100_000), 8)
    .addOption(outputOption())
    .action(async (options: { m: string; a: string; steps: number; output: Output }) => {
      const { MODULAR_DISCLAIMER, firstFailureOfOrder, resetModular, runModular, visitedCount } =
        await import('../lab/modular.ts');
      const made = resetModular(options.m, options.a);
      if ('problem' in made) throw new AppError('usage', made.problem);
      if (options.output === 'text' && isInteractive(io)) {
        await predictModular(made.lab, options.steps, io);
        return;
      }
      const residues = runModular(made.lab, options.steps);
      if (options.output === 'json') {
        io.stdout(
          `${JSON.stringify({ m: Number(made.lab.m), a: Number(made.lab.a), residues: residues.map(Number) })}\n`,
        );
        return;
      }
      io.stdout(`m=${made.lab.m} a=${made.lab.a}: next = (label + a) mod m, from 0\n${residues.join(' ')}\n`);
      const fails = firstFailureOfOrder(made.lab);
      io.stdout(
        `${visitedCount(made.lab)} different labels in all.${fails === undefined ? '' : ` At step ${fails} the label is not greater than the one before it.`}\n`,
      );
      io.stdout(`${MODULAR_DISCLAIMER}\n`);
    });
}

/** The modular lab with somebody at the terminal: each label is predicted before its step. */
async function predictModular(start: ModularLab, steps: number, io: CliIo): Promise<void> {
  const { MODULAR_DISCLAIMER, PREDICTION_MISSING, isPrediction, labelOf, questionAbout, stepModular } =
    await import('../lab/modular.ts');
  const asking = startAsking(io);
  const orders = ['newer', 'older', 'the same'];
  let lab = start;
  let isWrapped = false;
  io.stdout(`${MODULAR_DISCLAIMER}\nm=${lab.m} a=${lab.a}: next = (label + a) mod m, from 0\n`);
  try {
    for (let step = 1; step <= steps; step += 1) {
      const predicted = await asking.answer(
        `Step ${step}, the label is ${labelOf(lab)}. Next label? > `,
        (typed) => (isPrediction(typed) ? typed : undefined),
        String(PREDICTION_MISSING),
      );
      lab = stepModular(lab, predicted);
      const right = lab.predictions.at(-1)?.right === true;
      io.stdout(`${right ? 'Right' : 'No'}: step ${step} shows ${labelOf(lab)}.\n`);
      const question = questionAbout(lab, step - 1, step);
      if (isWrapped || question === undefined || question.orderIsRight) continue;
      isWrapped = true;
      const choice = await asking.choice(question.text, orders);
      const answer = choice === question.orderSays ? 'Yes' : 'No';
      io.stdout(`${answer}: by that rule it would be ${question.orderSays}. But it was shown later.\n`);
    }
  } finally {
    asking.close();
  }
  const right = lab.predictions.filter((prediction) => prediction.right).length;
  io.stdout(`${lab.residues.join(' ')}\n${right} of ${steps} predictions were right.\n`);
}

function registerReplay(lab: Command, io: CliIo): void {
  onCluster(lab.command('replay'))
    .argument('[trace]', 'a recording, whose writes are then repeated; left out: the two-writer trace')
    .description('the two-writer trace, each step held against what the server really answers')
    .action(async (trace: string | undefined, options: LabOptions) => {
      const result =
        trace === undefined ? await replayTwoWriters(options, io) : await replayRecording(trace, options, io);
      if (options.output === 'json') {
        const steps = result.steps.map(({ id, expected, observed, holds }) => ({ id, expected, observed, holds }));
        io.stdout(`${JSON.stringify({ steps, holds: result.holds })}\n`);
      } else {
        const contract = trace === undefined ? 'as the contract says' : 'as in the recording';
        io.stdout(`The server ${result.holds ? 'answered' : 'did not answer'} ${contract}.\n`);
      }
      if (!result.holds) io.exit(exitCodes.labDidNotHold);
    });
}

function printStep(step: StepResult, io: CliIo, words: string): void {
  io.stdout(`${step.holds ? 'holds' : 'DOES NOT HOLD'}  ${step.title}\n${words}`);
  if (!step.holds)
    io.stdout(`  expected ${JSON.stringify(step.expected)}, observed ${JSON.stringify(step.observed)}\n`);
}

async function replayTwoWriters(options: LabOptions, io: CliIo): Promise<ReplayResult> {
  const { randomSuffix, runReplay } = await import('../lab/replay.ts');
  const asking = options.output === 'text' && isInteractive(io) ? startAsking(io) : undefined;
  try {
    return await withServer(options, io, (server, namespace) =>
      runReplay({
        server,
        namespace,
        clock: io.clock,
        signal: io.signal,
        suffix: randomSuffix(() => io.clock.random()),
        ...(asking === undefined
          ? {}
          : { predict: ({ title, question, choices }) => asking.choice(`\n${title}\n${question}`, choices) }),
        onStep: (step, { question, answer }, prediction) => {
          if (options.output !== 'text') return;
          const said =
            prediction === undefined
              ? `${question} ${answer}.`
              : prediction === answer
                ? 'That is what you predicted.'
                : `You predicted: ${prediction}. It is: ${answer}.`;
          printStep(step, io, `  ${said}\n  ${step.lesson}\n`);
        },
      }),
    );
  } finally {
    asking?.close();
  }
}

async function replayRecording(file: string, options: LabOptions, io: CliIo): Promise<ReplayResult> {
  const { readTraceFile } = await import('../storage/traceFile.ts');
  const { TraceReader } = await import('../core/trace.ts');
  const { replayTrace } = await import('../lab/traceReplay.ts');
  const { discover } = await import('../kube/discovery.ts');
  const reader = new TraceReader();
  const events = (await Array.fromAsync(readTraceFile(file, reader, io.signal))).flat();
  for (const problem of reader.problems) io.stderr(`${file}:${problem.line}: ${String(problem.message)}\n`);
  const result = await withServer(options, io, async (server, namespace) => {
    const resources = await discover(server, io.signal);
    const chosen = options.namespace === undefined ? {} : { namespace };
    return replayTrace(events, { server, resources, ...chosen, clock: io.clock, signal: io.signal });
  });
  if (options.output === 'text') for (const step of result.steps) printStep(step, io, '');
  if (result.leftOut > 0)
    io.stderr(
      `${result.leftOut} writes were left out: the trace does not hold what they sent or how they were answered, they go to a subresource that this server does not have, or they delete a whole collection that is not the replay's own.\n`,
    );
  return result;
}

function registerContention(lab: Command, io: CliIo): void {
  onCluster(lab.command('contention'))
    .description('several actors add to one object: what is accepted, refused and lost')
    .option('--actors <n>', 'how many actors', wholeNumber(1, 200), 4)
    .addOption(
      new Option('--strategy <name>', 'what each does with its read')
        .choices([...contentionStrategies])
        .default('read-modify-write'),
    )
    .option('--updates <n>', 'updates of each actor', wholeNumber(1, 10_000), 10)
    .option('--think <ms>', 'longest time between read and write, in ms', wholeNumber(0, 60_000), 5)
    .option('--seed <n>', 'decides the think times', wholeNumber(0, 2 ** 31 - 1), 1)
    .option('--max-attempts <n>', 'bound of each update', wholeNumber(1, 1000), 50)
    .action(
      async (
        options: LabOptions & {
          actors: number;
          strategy: ContentionStrategy;
          updates: number;
          think: number;
          seed: number;
          maxAttempts: number;
        },
      ) => {
        const { runContention } = await import('../lab/contention.ts');
        const { randomSuffix } = await import('../lab/replay.ts');
        const { AttemptSeries } = await import('../lab/attemptSeries.ts');
        const { LiveCounts, attemptsChart } = await import('./contentionCounts.ts');
        const { actors, strategy, updates, seed, maxAttempts, think: thinkMs } = options;
        const live = new LiveCounts(io);
        const { result, series } = await withServer(options, io, async (server, namespace) => {
          const series = new AttemptSeries(io.clock.now());
          const result = await runContention({
            server,
            namespace,
            clock: io.clock,
            signal: io.signal,
            suffix: randomSuffix(() => io.clock.random()),
            strategy,
            actors,
            updates,
            seed,
            maxAttempts,
            thinkMs,
            onAttempt: ({ at, accepted }) => series.add(at, accepted),
            onProgress: (counts) => live.progress(counts),
            ...(io.hasLiveStderr === true ? { onLost: (atLeast: number) => live.losses(atLeast) } : {}),
          }).finally(() => live.end());
          return { result, series };
        });
        if (options.output === 'json') {
          const { accepted, refused, attempts, lost, seconds } = result;
          io.stdout(`${JSON.stringify({ strategy, actors, accepted, refused, attempts, lost, seconds })}\n`);
          return;
        }
        io.stdout(`${strategy}, ${actors} actors, ${updates} updates each, in ${result.seconds.toFixed(1)} s\n`);
        io.stdout(
          `accepted ${result.accepted}, refused ${result.refused}, retried ${result.retried}, gave up ${result.gaveUp}, lost ${result.lost}\n${attemptsChart(series)}`,
        );
        if (result.lost > 0) io.stdout('Every lost update was accepted by the server, and nobody was told.\n');
      },
    );
}
