import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Option, type Command } from 'commander';

import { messageOf } from '../base/appError.ts';
import type { ScenarioName } from '../sandbox/scenario.ts';
import { exitCodes } from './exitCodes.ts';
import type { CliIo } from './io.ts';
import { wholeNumber } from './labServer.ts';

interface SandboxCommandOptions {
  port: number;
  kubeconfig?: string;
  scenario: ScenarioName;
  tokens: 'numeric' | 'random';
  seed: number;
  stepMs: number;
  output: 'text' | 'json';
}

/** `src/sandbox/scenario.ts` knows what they are; named here so that `--help` does not load the server. */
const SCENARIOS = ['bare', 'quiet', 'lively', 'contention', 'recreation', 'ownership'];

/** Registers `sandbox`: serves the embedded API server until interrupted. */
export function registerSandbox(program: Command, io: CliIo): void {
  program
    .command('sandbox')
    .description('an API server of its own on loopback, for trying things without a cluster; serves until interrupted')
    .option('--port <n>', 'the port; 0 lets the system choose', wholeNumber(0, 65_535), 0)
    .option('--kubeconfig <file>', 'where to write the kubeconfig; left out: a temporary file, removed at the end')
    .addOption(new Option('--scenario <name>', 'what lives on it').choices(SCENARIOS).default('lively'))
    .addOption(
      new Option('--tokens <kind>', 'what resourceVersions look like')
        .choices(['numeric', 'random'])
        .default('numeric'),
    )
    .option('--seed <n>', 'the seed of what the actors decide', wholeNumber(0, 4_294_967_295), 1)
    .option(
      '--step-ms <n>',
      'milliseconds between steps of the actors; 0: only when asked to',
      wholeNumber(0, 3_600_000),
      1000,
    )
    .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text'))
    .action((options: SandboxCommandOptions) => serve(options, io));
}

async function serve(options: SandboxCommandOptions, io: CliIo): Promise<void> {
  const [{ startScenario }, { isSandboxKubeconfig }, { writeNamedFile }] = await Promise.all([
    import('../sandbox/scenario.ts'),
    import('../sandbox/kubeconfig.ts'),
    import('../storage/namedFile.ts'),
  ]);
  const running = await startScenario({
    ...options,
    ownProcess: true,
    clock: io.clock,
    onError: (error) => io.stderr(`sandbox: ${messageOf(error)}\n`),
  });
  const { sandbox } = running;
  let temporary: string | undefined;
  try {
    temporary =
      options.kubeconfig === undefined ? await mkdtemp(join(tmpdir(), 'object-versions-sandbox-')) : undefined;
    const kubeconfig = temporary === undefined ? resolve(options.kubeconfig ?? '') : join(temporary, 'kubeconfig');
    const file = { path: kubeconfig, what: 'The kubeconfig', mayReplace: isSandboxKubeconfig };
    await writeNamedFile(file, sandbox.kubeconfig);
    const { url, token, userToken } = sandbox;
    if (options.output === 'json') io.stdout(`${JSON.stringify({ url, token, userToken, kubeconfig })}\n`);
    else
      io.stdout(
        `The sandbox (${options.scenario}) serves at ${url}\n\n  export KUBECONFIG=${kubeconfig}\n  kubectl get all --all-namespaces\n\nInterrupt to stop it.\n`,
      );
    await interrupted(io.signal);
    io.exit(exitCodes.done);
  } finally {
    await running.stop();
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  }
}

/** Being interrupted is how this command ends, and no failure. */
function interrupted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
