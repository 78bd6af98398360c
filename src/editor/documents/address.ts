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

const FIELDS = ['cluster', 'group', 'version', 'resource', 'kind', 'namespace', 'uid', 'name'] as const;
const EMPTY = '-';

function segments(object: ObjectAddress): string[] {
  return FIELDS.slice(0, -1).map((field) => (object[field] === '' ? EMPTY : encodeURIComponent(object[field])));
}

function made(path: readonly string[], fileName: string): Uri {
  return Uri.from({ scheme, path: `/${[...path, fileName.replaceAll('/', '%2F')].join('/')}` });
}

/** The document in which the live object is edited. */
export function liveUri(object: ObjectAddress): Uri {
  return made(['@live', ...segments(object)], `${object.name}.yaml`);
}

/** The document that shows one version, named by its badge. */
export function versionUri(object: ObjectAddress, token: string, badge: string): Uri {
  return made(
    ['@version', ...segments(object), encodeURIComponent(token), encodeURIComponent(object.name)],
    `${object.name} ${badge}.yaml`,
  );
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
  if (type === 'live' && rest.length === FIELDS.length)
    return { type, object: readObject(rest, decodeFileName(rest.at(-1) ?? '')) };
  if (type === 'version' && rest.length === FIELDS.length + 2) {
    return {
      type,
      object: readObject(rest, decodeURIComponent(rest.at(-2) ?? '')),
      token: decodeURIComponent(rest.at(-3) ?? ''),
    };
  }
  if ((type === 'decision' || type === 'side' || type === 'report') && rest.length === 2)
    return { type, id: decodeURIComponent(rest[0] ?? '') };
  throw new AppError('usage', `There is no document at ${uri.toString(true)}.`, {
    advice: 'Open objects from the tree "Watched Objects".',
  });
}

function decodeFileName(text: string): string {
  return text.replace(/\.yaml$/, '').replaceAll('%2F', '/');
}

function readObject(parts: readonly string[], name: string): ObjectAddress {
  const field = (at: number): string => (parts[at] === EMPTY ? '' : decodeURIComponent(parts[at] ?? ''));
  return {
    cluster: field(0),
    group: field(1),
    version: field(2),
    resource: field(3),
    kind: field(4),
    namespace: field(5),
    uid: field(6),
    name,
  };
}
