import { homedir } from 'node:os';
import type { Command } from 'commander';
import { AppError } from '../base/appError.ts';
import type { Cluster } from '../kube/cluster.ts';
import type { ApiResource, Discovery } from '../kube/discovery.ts';
import type { CliIo, ClusterOptions } from './io.ts';

/** What every request of the command line says it comes from. */
export const cliUserAgent = 'object-versions';

/** Adds the options by which a command finds its cluster, named as kubectl names them. */
export function withClusterOptions(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'the kubeconfig to use instead of KUBECONFIG or ~/.kube/config')
    .option('--context <name>', 'the context of the kubeconfig to use instead of its current one')
    .option('-n, --namespace <name>', 'the namespace, instead of the context’s');
}

/**
 * The client for the cluster that the options name, or the kubeconfig's current one. Whoever asks for it disposes it.
 * @throws AppError `kubeconfig-missing`, `kubeconfig-malformed`, `kubeconfig-unknown-name`
 */
export async function connect(options: ClusterOptions, io: CliIo): Promise<Cluster> {
  const [{ loadKubeconfig }, { connectCluster }] = await Promise.all([
    import('../kube/kubeconfig.ts'),
    import('../kube/cluster.ts'),
  ]);
  const kubeconfig = loadKubeconfig({
    ...(options.kubeconfig === undefined ? {} : { paths: [options.kubeconfig] }),
    env: io.env,
    home: io.env['HOME'] ?? homedir(),
  });
  return connectCluster(kubeconfig, {
    ...(options.context === undefined ? {} : { context: options.context }),
    userAgent: cliUserAgent,
    clock: io.clock,
    env: io.env,
  });
}

/** What a command line names: a resource, and maybe one object of it (`cm`, `deployments.apps`, `cm/demo`). */
export interface NamedResource {
  readonly resource: ApiResource;
  readonly name?: string;
}

/**
 * Finds what `RESOURCE` or `RESOURCE/NAME` means on this server.
 * @throws AppError `unknown-resource`
 */
export function findNamed(discovery: Discovery, text: string): NamedResource {
  const [word = '', ...rest] = text.split('/');
  const name = rest.join('/');
  if (rest.length > 0 && (name === '' || name.includes('/'))) {
    throw new AppError('usage', `"${text}" names no object.`, { advice: 'Write RESOURCE or RESOURCE/NAME.' });
  }
  return { resource: discovery.find(word), ...(name === '' ? {} : { name }) };
}
