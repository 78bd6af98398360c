import { l10n, window, type QuickPickItem } from 'vscode';
import { AppError, isAppError } from '../../base/appError.ts';
import { cancelled } from '../../base/clock.ts';
import type { ApiResource } from '../../kube/discovery.ts';
import type { Clusters, ConnectedCluster } from '../clusters/clusters.ts';
import { withProgress } from '../app/progress.ts';
import { parseDeclaredWatch, watchId, type WatchDefinition } from './watchDefinition.ts';

interface Choice<T> extends QuickPickItem {
  readonly value: T;
}

async function pick<T>(title: string, placeHolder: string, items: readonly Choice<T>[]): Promise<T> {
  const chosen = await window.showQuickPick(items, {
    title,
    placeHolder,
    matchOnDescription: true,
    ignoreFocusOut: true,
  });
  if (chosen === undefined) throw cancelled();
  return chosen.value;
}

/**
 * Asks what to watch: a context, a resource that the server offers, a namespace, and if wanted a name and labels.
 * @throws AppError `cancelled` when the person leaves, and as the cluster's errors say
 */
export async function askForWatch(clusters: Clusters): Promise<WatchDefinition> {
  const title = l10n.t('Add Watch');
  const contexts = await clusters.contexts();
  if (contexts.length === 0) {
    throw new AppError('kubeconfig-unknown-name', l10n.t('The kubeconfig has no context.'), {
      advice: l10n.t('Start the sandbox, or choose another kubeconfig.'),
    });
  }
  const key = await pick(
    title,
    l10n.t('Which cluster?'),
    contexts.map((context) => ({
      label: context.label,
      description: context.isCurrent ? l10n.t('current context') : '',
      value: context.key,
    })),
  );
  const connected = await withProgress(
    l10n.t('Connecting to {0}', contexts.find((context) => context.key === key)?.label ?? key),
    (signal) => clusters.connect(key, signal),
  );
  const discovery = await withProgress(l10n.t('Asking {0} what it offers', connected.label), (signal) =>
    connected.discovery(signal, true),
  );
  const resource = await pick(
    title,
    l10n.t('Which resource?'),
    discovery.resources.filter(isWatchable).map(resourceChoice),
  );
  const namespace = resource.namespaced ? await askForNamespace(title, connected) : undefined;
  const name = await askForText(title, l10n.t('Name of one object, or empty for all'));
  const labelSelector =
    name === '' ? await askForText(title, l10n.t('Labels, such as app=web,tier!=db, or empty for all')) : '';
  return definitionOf(connected.key, resource, {
    ...(namespace === undefined ? {} : { namespace }),
    name,
    labelSelector,
  });
}

/** A definition from a resource that the server offers. */
export function definitionOf(
  cluster: string,
  resource: ApiResource,
  scope: {
    readonly namespace?: string;
    readonly name?: string;
    readonly labelSelector?: string;
    readonly fieldSelector?: string;
  },
): WatchDefinition {
  const { group, version, resource: plural, kind, namespaced } = resource;
  const definition = {
    cluster,
    group,
    version,
    resource: plural,
    kind,
    namespaced,
    ...(scope.namespace === undefined || scope.namespace === '' || !namespaced ? {} : { namespace: scope.namespace }),
    ...(scope.name === undefined || scope.name === '' ? {} : { name: scope.name }),
    ...(scope.labelSelector === undefined || scope.labelSelector === '' ? {} : { labelSelector: scope.labelSelector }),
    ...(scope.fieldSelector === undefined ? {} : { fieldSelector: scope.fieldSelector }),
  };
  return { ...definition, id: watchId(definition) };
}

/**
 * The definition that a declared watch such as `deployments in shop` means on a cluster.
 * @throws AppError `usage`, `unknown-resource`
 */
export async function declaredDefinition(
  connected: ConnectedCluster,
  text: string,
  signal: AbortSignal,
): Promise<WatchDefinition> {
  const declared = parseDeclaredWatch(text);
  if (declared === undefined) {
    throw new AppError('usage', l10n.t('"{0}" is not a watch.', text), {
      advice: l10n.t('Write RESOURCE, RESOURCE/NAME, and if wanted "in NAMESPACE" and "where LABELS".'),
    });
  }
  const discovery = await connected.discovery(signal);
  return definitionOf(connected.key, discovery.find(declared.resource), declared);
}

function isWatchable(resource: ApiResource): boolean {
  return resource.verbs.includes('list') && resource.verbs.includes('watch');
}

function resourceChoice(resource: ApiResource): Choice<ApiResource> {
  const { group, version, kind, shortNames } = resource;
  const details = [kind, group === '' ? version : `${group}/${version}`, ...shortNames];
  return { label: resource.resource, description: details.join(' · '), value: resource };
}

async function askForNamespace(title: string, connected: ConnectedCluster): Promise<string | undefined> {
  const all: Choice<string | undefined> = { label: l10n.t('All namespaces'), value: undefined };
  const own = connected.cluster.namespace;
  try {
    const { listNames } = await import('../clusters/listNames.ts');
    const names = await withProgress(l10n.t('Reading namespaces'), (signal) =>
      listNames(connected.cluster, '/api/v1/namespaces', signal),
    );
    return await pick(title, l10n.t('Which namespace?'), [
      all,
      ...names.map((name) => ({
        label: name,
        description: name === own ? l10n.t('of this context') : '',
        value: name,
      })),
    ]);
  } catch (error) {
    if (!isAppError(error, 'forbidden', 'unauthenticated')) throw error;
    const typed = await askForText(title, l10n.t('Namespace (this user may not list them)'), own);
    return typed === '' ? undefined : typed;
  }
}

async function askForText(title: string, prompt: string, value = ''): Promise<string> {
  const typed = await window.showInputBox({ title, prompt, value, ignoreFocusOut: true });
  if (typed === undefined) throw cancelled();
  return typed.trim();
}
