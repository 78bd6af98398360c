import { homedir } from 'node:os';
import { InvalidArgumentError, type Command } from 'commander';
import { AppError } from '../base/appError.ts';
import type { Cluster } from '../kube/cluster.ts';
import type { ApiResource, Discovery } from '../kube/discovery.ts';
import type { CliIo, ClusterOptions } from './io.ts';

/** What every request of the command line says it comes from. */
export const cliUserAgent = 'object-versions';

/** The value of an option that may not be empty: an unset variable of a shell must not pass for "any". */
export function filled(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It is empty.');
  return text;
}

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
  if (rest.length > 0 && !isPathSegment(name)) {
    throw new AppError('usage', `"${text}" names no object.`, { advice: 'Write RESOURCE or RESOURCE/NAME.' });
  }
  return { resource: discovery.find(word), ...(name === '' ? {} : { name }) };
}

/**
 * The resources that stand with commas between them, as kubectl takes them: `deploy,cm`.
 * @throws AppError `usage` where one is missing
 */
export function listed(text: string): string[] {
  const words = text.split(',').map((word) => word.trim());
  if (!words.includes('')) return words;
  throw new AppError('usage', `"${text}" leaves a resource out.`, { advice: 'Write RESOURCE,RESOURCE.' });
}

/** What stands on a command line for one object: `cm demo` or `cm/demo`. */
export interface ResourceWords {
  readonly text: string;
  readonly name?: string;
}

/**
 * Finds the resource, and the name of its one object if one is given, in either place but not in both.
 * @throws AppError `unknown-resource`, `usage`
 */
export function findGiven(discovery: Discovery, { text, name }: ResourceWords): NamedResource {
  const found = findNamed(discovery, text);
  if (name === undefined) return found;
  if (found.name !== undefined) {
    throw new AppError('usage', `"${text}" and "${name}" name two objects.`, {
      advice: 'Write RESOURCE NAME or RESOURCE/NAME.',
    });
  }
  if (!isPathSegment(name)) {
    throw new AppError('usage', `"${name}" cannot be the name of an object.`, { advice: 'Check the name.' });
  }
  return { ...found, name };
}

/** As `findGiven`, for commands that are about one object. */
export function findObject(discovery: Discovery, words: ResourceWords): Required<NamedResource> {
  const { resource, name } = findGiven(discovery, words);
  if (name === undefined) throw new AppError('usage', 'Which object? Name it after the resource.');
  return { resource, name };
}

/**
 * The namespace that a command is about: the one given, else the context's.
 * @throws AppError `usage`
 */
export function namespaceOf(cluster: Cluster, { namespace }: ClusterOptions): string {
  const name = namespace === undefined || namespace === '' ? cluster.namespace : namespace;
  if (isPathSegment(name)) return name;
  throw new AppError('usage', `"${name}" cannot be the name of a namespace.`, { advice: 'Check what follows -n.' });
}

/** A name becomes part of an address, where these would lead somewhere else. Source: Kubernetes, `IsValidPathSegmentName`. */
function isPathSegment(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name);
}
