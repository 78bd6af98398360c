import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Cluster } from '../kube/cluster.ts';
import type { ScenarioName } from '../sandbox/scenario.ts';
import type { CliIo, ClusterOptions } from './io.ts';

/** How a lab prints its result. */
export type Output = 'text' | 'json';

/** What every lab that talks to a server can be told. */
export interface LabOptions extends ClusterOptions {
  output: Output;
}

/** The option `-o`. */
export const outputOption = (): Option =>
  new Option('-o, --output <format>', 'text or json').choices(['text', 'json']).default('text');

/** Adds the options that choose where a lab runs. */
export function onCluster(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'run on the cluster of this kubeconfig instead of a sandbox of its own')
    .option('--context <name>', 'run on the cluster of this context instead of a sandbox of its own')
    .option('-n, --namespace <name>', 'the namespace to work in')
    .addOption(outputOption());
}

/** A whole number within bounds, for an option. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`A whole number from ${least} to ${most} is needed.`);
    return value;
  };
}

/**
 * Runs a lab on the cluster that was named in so many words, or on a sandbox of its own, which ends with it and whose
 * kubeconfig file is given for other tools.
 */
export async function withServer<T>(
  options: LabOptions,
  io: CliIo,
  use: (cluster: Cluster, namespace: string, kubeconfig?: string) => Promise<T>,
  scenario: ScenarioName = 'bare',
): Promise<T> {
  if (options.kubeconfig !== undefined || options.context !== undefined) {
    const { connect } = await import('./connect.ts');
    const cluster = await connect(options, io);
    try {
      return await use(cluster, options.namespace ?? cluster.namespace);
    } finally {
      cluster.dispose();
    }
  }
  const { startScenario } = await import('../sandbox/scenario.ts');
  const { loadKubeconfig } = await import('../kube/kubeconfig.ts');
  const { connectCluster } = await import('../kube/cluster.ts');
  const running = await startScenario({ scenario });
  const folder = await mkdtemp(join(tmpdir(), 'object-versions-lab-'));
  try {
    const file = join(folder, 'kubeconfig');
    await writeFile(file, running.sandbox.kubeconfig, { mode: 0o600 });
    const kubeconfig = loadKubeconfig({ paths: [file], env: {}, home: folder });
    const cluster = connectCluster(kubeconfig, { userAgent: 'object-versions', clock: io.clock, env: {} });
    try {
      return await use(cluster, options.namespace ?? 'default', file);
    } finally {
      cluster.dispose();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
    await running.stop();
  }
}
