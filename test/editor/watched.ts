import * as vscode from 'vscode';
import type { ObjectVersionsApi } from '../../src/editor/app/api.ts';
import { apiServer, namespace } from './apiServer.ts';
import { extension, openObject, removeAllWatches, useKubeconfig } from './extension.ts';

/** A context and a namespace of a suite's own, watched, with the tree in sight. */
export interface Watched {
  readonly api: ObjectVersionsApi;
  readonly ns: string;
  /** The path of a collection of the core group in it. */
  readonly path: (resource?: string) => string;
  /** Opens the document of an object. */
  readonly open: (name: string) => Promise<vscode.TextEditor>;
}

/** Begins a suite: only these resources are watched, in a context of this name. */
export async function watchedNamespace(context: string, ...resources: readonly string[]): Promise<Watched> {
  const api = await extension();
  await removeAllWatches(api);
  await useKubeconfig({ [context]: { server: apiServer.url.origin } });
  const ns = await namespace(context);
  await vscode.commands.executeCommand('objectVersions.watchedObjects.focus');
  for (const resource of resources) await api.addWatch(context, `${resource} in ${ns}`);
  return {
    api,
    ns,
    path: (resource = 'configmaps') => `/api/v1/namespaces/${ns}/${resource}`,
    open: (name) => openObject(api, name),
  };
}
