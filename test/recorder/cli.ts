import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line as a person would. */
export function run(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
  stdin?: Buffer,
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...args], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.once('error', reject);
    child.once('close', (code) =>
      resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    );
    child.stdin.on('error', () => undefined);
    child.stdin.end(stdin);
  });
}

interface Told {
  readonly id: string;
  readonly kind?: string;
  readonly severity: string;
  readonly fields: readonly string[];
  readonly object: { readonly name: string };
}

function warnings(stdout: string): Told[] {
  const report = JSON.parse(stdout) as { findings: Told[] };
  return report.findings.filter((finding) => finding.severity !== 'info');
}

function called({ id, kind }: Told): string {
  return kind === undefined ? id : `${id}/${kind}`;
}

/** The findings that are more than information, as `id` or `id/kind`. */
export function told(stdout: string): string[] {
  return warnings(stdout).map(called).sort();
}

/** The findings that are more than information on objects whose name begins so, as `id/kind fields`. */
export function toldOf(stdout: string, prefix: string): string[] {
  return warnings(stdout)
    .filter((finding) => finding.object.name.startsWith(prefix))
    .map((finding) => `${called(finding)} ${finding.fields.join().replaceAll(/uid="[\da-f-]{36}"/g, 'uid')}`.trim())
    .sort();
}
