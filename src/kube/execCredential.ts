import { message, type Words } from '../base/message.ts';
import { spawn, type ChildProcess } from 'node:child_process';

import { AppError } from '../base/appError.ts';
import { cancelled, type Clock } from '../base/clock.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../codec/json.ts';
import type { ExecEntry } from './kubeconfigFile.ts';
import { after } from './limits.ts';

/** What a credential plugin gave. Its members are secret. */
export interface ExecCredential {
  readonly token?: string;
  /** PEM. */
  readonly cert?: string;
  readonly key?: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
}

/** What a plugin is started with. `cluster` is told to it where the kubeconfig asks for that. */
export interface ExecContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly cluster: JsonObject;
}

const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const TIME_LIMIT_MS = 60_000;

/**
 * Runs a credential plugin once, without a terminal, for at most a minute. It and what it started end with the signal, and
 * with this process.
 * Source: Kubernetes documentation, "client-go credential plugins" (input and output formats).
 * @throws AppError `credentials-failed`, `cancelled`
 */
export async function runExecPlugin(
  exec: ExecEntry,
  context: ExecContext,
  signal?: AbortSignal,
): Promise<ExecCredential> {
  const apiVersion = exec.apiVersion === '' ? 'client.authentication.k8s.io/v1' : exec.apiVersion;
  if (!API_VERSIONS.includes(apiVersion))
    throw failed(exec, message`its apiVersion "${apiVersion}" is not one of ${API_VERSIONS.join(', ')}`);
  if (exec.interactiveMode === 'Always')
    throw failed(exec, message`it wants a terminal (interactiveMode: Always), and there is none`);
  const info: JsonObject = {
    kind: 'ExecCredential',
    apiVersion,
    spec: { interactive: false, ...(exec.provideClusterInfo ? { cluster: context.cluster } : {}) },
  };
  const output = await run(
    exec,
    { ...context.env, ...exec.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    context.clock,
    signal,
  );
  return credentialOf(exec, apiVersion, output);
}

function run(
  exec: ExecEntry,
  env: Record<string, string | undefined>,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<string> {
  return new Promise((resolve, reject) => {
    // A group of its own, so that what the plugin starts can be ended with it.
    const child = spawn(exec.command, exec.args, {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
      detached: process.platform !== 'win32',
    });
    const output: Buffer[] = [];
    let complaint = '';
    let timedOut = false;
    const kill = (): void => endGroup(child);
    const limit = after(clock, TIME_LIMIT_MS, () => {
      timedOut = true;
      kill();
    });
    signal?.addEventListener('abort', kill, { once: true });
    process.once('exit', kill);
    const release = (): void => {
      limit.dispose();
      signal?.removeEventListener('abort', kill);
      process.off('exit', kill);
    };
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(-2000);
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      release();
      reject(
        failed(
          exec,
          error.code === 'ENOENT'
            ? message`there is no such program`
            : message`it could not be started (${error.code ?? error.message})`,
        ),
      );
    });
    child.on('close', (code, killedBy) => {
      release();
      if (signal?.aborted === true) reject(cancelled());
      else if (timedOut) reject(failed(exec, message`it did not end within ${TIME_LIMIT_MS / 1000} s`));
      else if (code !== 0) reject(failed(exec, message`it ended with ${code ?? killedBy ?? ''}${quoted(complaint)}`));
      else resolve(Buffer.concat(output).toString('utf8'));
    });
  });
}

/** Ends a plugin and all of its group at once: it holds nothing that a second run would not make again. */
function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The whole group has ended already.
  }
}

function credentialOf(exec: ExecEntry, apiVersion: string, output: string): ExecCredential {
  const answer = parsed(output);
  if (answer === undefined || answer['kind'] !== 'ExecCredential')
    throw failed(exec, message`what it printed is not an ExecCredential`);
  if (answer['apiVersion'] !== apiVersion)
    throw failed(exec, message`it answered with another apiVersion than ${apiVersion}`);
  const status = answer['status'];
  if (!isJsonObject(status)) throw failed(exec, message`its answer has no status`);
  const token = textOf(status['token']);
  const cert = textOf(status['clientCertificateData']);
  const key = textOf(status['clientKeyData']);
  if (token === undefined && (cert === undefined || key === undefined))
    throw failed(exec, message`it gave neither a token nor a certificate with its key`);
  const expires = Date.parse(textOf(status['expirationTimestamp']) ?? '');
  return {
    ...(token === undefined ? {} : { token }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    ...(Number.isNaN(expires) ? {} : { expiresAt: expires }),
  };
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The last line of what a plugin complained of, without anything that looks like a credential. */
function quoted(complaint: string): string {
  const last = complaint.trim().split('\n').at(-1)?.trim() ?? '';
  return last === '' ? '' : `: ${last.replace(/[\w+/=.~-]{24,}/g, '…').slice(0, 200)}`;
}

function failed(exec: ExecEntry, what: Words): AppError {
  return new AppError(
    'credentials-failed',
    message`The credential plugin "${exec.command}" gave no credentials: ${what}.`,
    {
      advice:
        exec.installHint === undefined
          ? message`Run it by hand to see why, or log in again with its own tool.`
          : exec.installHint.trim(),
      details: { command: exec.command },
    },
  );
}
