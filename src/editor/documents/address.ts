import { Uri } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { scheme } from '../app/ids.ts';

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

const FIELDS = ['cluster', 'group', 'version', 'resource', 'kind', 'namespace', 'name', 'uid'] as const;

/** The path is for people (tabs, breadcrumbs); what identifies the object stands in the query. */
function objectUriOf(type: 'live' | 'version', object: ObjectAddress, fileName: string, token?: string): Uri {
  const query = new URLSearchParams(FIELDS.map((field) => [field, object[field]]));
  if (token !== undefined) query.set('token', token);
  const { namespace, resource } = object;
  return made([`@${type}`, resource, ...(namespace === '' ? [] : [namespace])], fileName, query.toString());
}

function made(path: readonly string[], fileName: string, query = ''): Uri {
  return Uri.from({ scheme, path: `/${[...path, fileName.replaceAll('/', '%2F')].join('/')}`, query });
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
    const query = new URLSearchParams(uri.query);
    const object = readObject(query);
    const token = query.get('token');
    if (type === 'live' && object !== undefined) return { type, object };
    if (type === 'version' && object !== undefined && token !== null) return { type, object, token };
  }
  if ((type === 'decision' || type === 'side' || type === 'report') && rest.length === 2) {
    return { type, id: decodeURIComponent(rest[0] ?? '') };
  }
  throw new AppError('usage', `There is no document at ${uri.toString(true)}.`, {
    advice: 'Open objects from the tree "Watched Objects".',
  });
}

function readObject(query: URLSearchParams): ObjectAddress | undefined {
  if (FIELDS.some((field) => query.get(field) === null)) return undefined;
  return Object.fromEntries(FIELDS.map((field) => [field, query.get(field) ?? ''])) as unknown as ObjectAddress;
}
