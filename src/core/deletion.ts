import type { Incarnation, Version } from './history.ts';

/** What a person is asked to delete. It stays as it is while the question is open, though the history goes on. */
export interface Deletion {
  readonly incarnation: Incarnation;
  /** The version that was shown; undefined where none was seen. */
  readonly token: string | undefined;
  /** The line of the question: kind, name, first part of the UID, cluster. */
  readonly line: string;
}

/** Holds a deletion to the version that is shown now. `cluster` is its label, '' where it has none. */
export function plannedDeletion(incarnation: Incarnation, shown: Version | undefined, cluster: string): Deletion {
  const { name, uid, kind } = incarnation;
  const path = name.namespace === '' ? name.name : `${name.namespace}/${name.name}`;
  const object = `${kind} ${path} (${uid.slice(0, 8)})`;
  return { incarnation, token: shown?.token, line: cluster === '' ? object : `${object} · ${cluster}` };
}
