import { message, type Words } from '../base/message.ts';
import { delimiter, join } from 'node:path';

import { AppError } from '../base/appError.ts';
import {
  readKubeconfigFile,
  type ClusterEntry,
  type ContextEntry,
  type KubeconfigFile,
  type UserEntry,
} from './kubeconfigFile.ts';

export type { ClusterEntry, ContextEntry, ExecEntry, Impersonation, UserEntry } from './kubeconfigFile.ts';

/** All kubeconfig files together, as kubectl sees them. Paths in entries are absolute. */
export interface Kubeconfig {
  readonly contexts: readonly ContextEntry[];
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, ClusterEntry>;
  readonly users: ReadonlyMap<string, UserEntry>;
  /** The files that were read, in order. */
  readonly files: readonly string[];
}

/** What a context stands for, once its names are looked up. */
export interface ResolvedContext {
  readonly context: ContextEntry;
  readonly cluster: ClusterEntry;
  /** Absent where the context names no user: requests are anonymous. */
  readonly user: UserEntry | undefined;
}

/** `paths` are files named in so many words (`--kubeconfig`): each must exist. */
export interface KubeconfigSources {
  paths?: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  home: string;
}

/**
 * Reads the kubeconfig as kubectl does: the files asked for, else those in KUBECONFIG (missing ones are skipped), else
 * `~/.kube/config`; the first file that has a name wins. A service account of a pod is never used on its own.
 * Source: Kubernetes documentation, "Organizing Cluster Access Using kubeconfig Files".
 * @throws AppError `kubeconfig-missing`, `kubeconfig-malformed`
 */
export function loadKubeconfig(sources: KubeconfigSources): Kubeconfig {
  const files: KubeconfigFile[] = [];
  const { paths, mustExist } = pathsOf(sources);
  for (const path of paths) {
    const file = readKubeconfigFile(path);
    if (file !== undefined) files.push(file);
    else if (mustExist) throw missing([path]);
  }
  if (files.length === 0) throw missing(paths);
  return mergeKubeconfigs(files);
}

function pathsOf(sources: KubeconfigSources): { paths: readonly string[]; mustExist: boolean } {
  if (sources.paths !== undefined && sources.paths.length > 0) return { paths: sources.paths, mustExist: true };
  const listed = (sources.env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) return { paths: [...new Set(listed)], mustExist: false };
  return { paths: [join(sources.home, '.kube', 'config')], mustExist: false };
}

function missing(paths: readonly string[]): AppError {
  const names = paths.join(', ');
  return new AppError('kubeconfig-missing', message`There is no kubeconfig at ${names}.`, {
    advice: message`Name a file, or start the sandbox, which needs none.`,
    details: { paths: names },
  });
}

function mergeKubeconfigs(files: readonly KubeconfigFile[]): Kubeconfig {
  const contexts = new Map<string, ContextEntry>();
  const clusters = new Map<string, ClusterEntry>();
  const users = new Map<string, UserEntry>();
  let currentContext: string | undefined;
  for (const file of files) {
    for (const entry of file.contexts) if (!contexts.has(entry.name)) contexts.set(entry.name, entry);
    for (const entry of file.clusters) if (!clusters.has(entry.name)) clusters.set(entry.name, entry);
    for (const entry of file.users) if (!users.has(entry.name)) users.set(entry.name, entry);
    currentContext ??= file.currentContext;
  }
  return { contexts: [...contexts.values()], currentContext, clusters, users, files: files.map((file) => file.path) };
}

/**
 * Looks up a context, or the current one, with its cluster and user.
 * @throws AppError `kubeconfig-unknown-name` that says which name does not exist and which do
 */
export function resolveContext(kubeconfig: Kubeconfig, name?: string): ResolvedContext {
  const wanted = name ?? kubeconfig.currentContext;
  if (wanted === undefined) {
    throw unknownName(
      kubeconfig,
      message`No context is chosen: the kubeconfig has no current-context.`,
      names(kubeconfig.contexts),
    );
  }
  const context = kubeconfig.contexts.find((entry) => entry.name === wanted);
  if (context === undefined) {
    throw unknownName(kubeconfig, message`The kubeconfig has no context "${wanted}".`, names(kubeconfig.contexts));
  }
  const cluster = kubeconfig.clusters.get(context.cluster);
  if (cluster === undefined) {
    const sentence = message`Context "${wanted}" names the cluster "${context.cluster}", which the kubeconfig does not have (${context.at}).`;
    throw unknownName(kubeconfig, sentence, [...kubeconfig.clusters.keys()]);
  }
  const user = context.user === '' ? undefined : kubeconfig.users.get(context.user);
  if (context.user !== '' && user === undefined) {
    const sentence = message`Context "${wanted}" names the user "${context.user}", which the kubeconfig does not have (${context.at}).`;
    throw unknownName(kubeconfig, sentence, [...kubeconfig.users.keys()]);
  }
  return { context, cluster, user };
}

function names(entries: readonly ContextEntry[]): string[] {
  return entries.map((entry) => entry.name);
}

function unknownName(kubeconfig: Kubeconfig, sentence: Words, known: readonly string[]): AppError {
  const shown = known.slice(0, 20).join(', ');
  return new AppError('kubeconfig-unknown-name', sentence, {
    advice: known.length === 0 ? message`The kubeconfig has none at all.` : message`It has: ${shown}.`,
    details: { files: kubeconfig.files.join(', ') },
  });
}
