import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What a run of the command line left. */
export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const entry = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

/** Runs the command line as a process of its own. `input` goes to its standard input; `signal` interrupts it (SIGINT). */
export async function runCli(
  args: readonly string[],
  options: { input?: string; interruptAfterMs?: number } = {},
): Promise<CliResult> {
  const child = spawn(process.execPath, [entry, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdin.end(options.input ?? '');
  const timer =
    options.interruptAfterMs === undefined
      ? undefined
      : setTimeout(() => child.kill('SIGINT'), options.interruptAfterMs);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  return { code: code ?? -1, stdout, stderr };
}
