import { Uri } from 'vscode';
import { inGroup } from '../../core/inGroup.ts';
import { AppError } from '../../base/appError.ts';
import { scheme } from '../app/ids.ts';
import { sandboxKey } from '../clusters/clusters.ts';

/** One incarnation of one object, as a document is addressed by it. */
export interface ObjectAddress {
  /** The cluster's key: a context's name or the sandbox's key; for versions out of a trace, the cluster's id in the log. */
  readonly cluster: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * What a document of our scheme shows. `live`: the object, writable. `version`: one version as it was seen. `decision`: what
 * a person makes of two edits that overlap. `side`: one side of such a decision. `report`: how a write went.
 */
export type DocumentAddress =
  | { readonly type: 'live'; readonly object: ObjectAddress }
  | { readonly type: 'version'; readonly object: ObjectAddress; readonly token: string }
  | { readonly type: 'decision' | 'side'; readonly id: string }
  | { readonly type: 'report'; readonly id: string };

/** The sandbox's key as a segment of a path, which is shown above a document; that of a context never begins so. */
const SANDBOX_IN_PATH = '@sandbox';

/**
 * `/@live/CLUSTER/RESOURCE[.GROUP]/[NAMESPACE/]NAME.yaml?VERSION/KIND/UID[/TOKEN]`: short, since VS Code names a document by
 * its whole address when a save is refused, and whole, so that a restored window needs nothing else.
 */
function objectUriOf(type: 'live' | 'version', object: ObjectAddress, fileName: string, token?: string): Uri {
  const { cluster, group, version, resource, kind, namespace, uid } = object;
  const path = [`@${type}`, clusterInPath(cluster), inGroup(resource, group), ...(namespace === '' ? [] : [namespace])];
  const query = [version, kind, uid, ...(token === undefined ? [] : [token])].map(encodeURIComponent).join('/');
  return made(path, fileName, query);
}

/** A text as one segment of a path, such as a context's name that is an ARN. */
function inPath(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('/', '%2F');
}

function clusterInPath(cluster: string): string {
  return cluster === sandboxKey ? SANDBOX_IN_PATH : inPath(cluster).replace(/^@/, '%40');
}

function made(path: readonly string[], fileName: string, query = ''): Uri {
  return Uri.from({ scheme, path: `/${[...path, inPath(fileName)].join('/')}`, query });
}

/** The document in which the live object is edited. */
export function liveUri(object: ObjectAddress): Uri {
  return objectUriOf('live', object, `${object.name}.yaml`);
}

/** The document that shows one version, named by its badge. */
export function versionUri(object: ObjectAddress, token: string, badge: string): Uri {
  return objectUriOf('version', object, `${object.name} ${badge}.yaml`, token);
}

/** A document of a decision or a report; the file name is what its tab says. */
export function otherUri(type: 'decision' | 'side' | 'report', id: string, fileName: string): Uri {
  return made([`@${type}`, encodeURIComponent(id)], fileName);
}

/**
 * Reads an address back.
 * @throws AppError `usage` where the address is none of ours
 */
export function parseAddress(uri: Uri): DocumentAddress {
  const [first = '', ...rest] = uri.path.split('/').slice(1);
  const type = first.slice(1);
  if (type === 'live' || type === 'version') {
    const [token, object] = readObject(type, rest, uri.query.split('/'));
    if (type === 'live' && object !== undefined) return { type, object };
    if (type === 'version' && object !== undefined && token !== undefined) return { type, object, token };
  }
  if ((type === 'decision' || type === 'side' || type === 'report') && rest.length === 2) {
    return { type, id: decodeURIComponent(rest[0] ?? '') };
  }
  throw new AppError('usage', `There is no document at ${uri.toString(true)}.`, {
    advice: 'Open objects from the tree "Watched Objects".',
  });
}

function readObject(
  type: 'live' | 'version',
  path: readonly string[],
  query: readonly string[],
): [token: string | undefined, object: ObjectAddress | undefined] {
  const [version, kind, uid, token] = query.map(decodeURIComponent);
  const [cluster, resources, ...rest] = path;
  const file = rest.at(-1);
  // The file of a version has the version's badge, which has no space, after the name.
  const name =
    file === undefined ? undefined : (type === 'live' ? /^(.*)\.yaml$/s : /^(.*) [^ ]*\.yaml$/s).exec(file)?.[1];
  if (cluster === undefined || resources === undefined || name === undefined || rest.length > 2)
    return [token, undefined];
  if (version === undefined || kind === undefined || uid === undefined) return [token, undefined];
  const [resource = '', ...group] = resources.split('.');
  const namespace = rest.length === 2 ? (rest[0] ?? '') : '';
  return [
    token,
    {
      cluster: cluster === SANDBOX_IN_PATH ? sandboxKey : decodeURIComponent(cluster),
      group: group.join('.'),
      version,
      resource,
      kind,
      namespace,
      name: decodeURIComponent(name),
      uid,
    },
  ];
}
