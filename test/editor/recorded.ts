import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import * as vscode from 'vscode';
import { parseYaml } from '../../src/codec/yaml.ts';

/** What a kubeconfig of the recorder says. */
export interface Config {
  readonly clusters: { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } }[];
  readonly users: { readonly user: { readonly token: string } }[];
}

/** Has a program of this name recorded, and gives its kubeconfig, as a debugger gets it. */
export async function recordedFile(name: string): Promise<string> {
  const file: unknown = await vscode.commands.executeCommand('objectVersions.recorderEnvFile', { name });
  assert.ok(typeof file === 'string');
  const [, path] = /^KUBECONFIG=(.+)\nUSE_EXISTING_CLUSTER=true\n$/.exec(readFileSync(file, 'utf8')) ?? [];
  assert.ok(path !== undefined);
  return path;
}

/** Reads a kubeconfig of the recorder. */
export function recorded(file: string): Config {
  return parseYaml(readFileSync(file, 'utf8')).value as unknown as Config;
}

/** A request of a recorded program. */
export function through(
  config: Config,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: unknown }> {
  const [{ cluster } = { cluster: undefined }] = config.clusters;
  const [{ user } = { user: undefined }] = config.users;
  assert.ok(cluster && user);
  const ca = Buffer.from(cluster['certificate-authority-data'], 'base64').toString();
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' };
    const call = request(new URL(cluster.server + path), { method, ca, agent: false, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as unknown }));
      response.on('error', reject);
    });
    call.on('error', reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
