import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { lazyBuiltins } from '../../scripts/lazyBuiltins.mjs';
import { leftOut } from '../../scripts/leftOut.mjs';

/** What a run of the command line left. */
export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line, bundled as it is shipped: hundreds of short processes start several times as fast as from sources. */
export class BundledCli {
  private readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<BundledCli> {
    const folder = await mkdtemp(join(tmpdir(), 'object-versions-bundle-'));
    const root = fileURLToPath(new URL('../../', import.meta.url));
    await build({
      absWorkingDir: root,
      entryPoints: { main: 'src/cli.ts' },
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      minify: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node22',
      logLevel: 'error',
      plugins: [leftOut, lazyBuiltins],
      banner: {
        js: "import { createRequire as createRequireForBundle } from 'node:module'; const require = createRequireForBundle(import.meta.url);",
      },
    });
    return new BundledCli(folder);
  }

  async dispose(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The program, for whoever runs it behind something else. */
  get program(): string {
    return join(this.folder, 'main.mjs');
  }

  /** Runs it as a process of its own. `input` goes to its standard input; it can be interrupted (SIGINT). */
  async run(
    args: readonly string[],
    options: { input?: string; keepInputOpen?: boolean; interruptAfterMs?: number } = {},
  ): Promise<CliResult> {
    const child = spawn(process.execPath, [this.program, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    if (options.keepInputOpen !== true) child.stdin.end(options.input ?? '');
    const timer =
      options.interruptAfterMs === undefined
        ? undefined
        : setTimeout(() => child.kill('SIGINT'), options.interruptAfterMs);
    const [code] = (await once(child, 'close')) as [number | null];
    clearTimeout(timer);
    return { code: code ?? -1, stdout, stderr };
  }
}
