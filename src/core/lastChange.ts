import { equalJson } from '../codec/json.ts';
import { formatPath, valueAt, type Path } from '../codec/path.ts';
import type { Incarnation, Version } from './history.ts';
import type { Token } from './traceEvent.ts';

/** Who last changed a field, as far as was observed. */
export interface LastChange {
  /**
   * `changed`: it got its value in this version. `created`: it has it since the creation, which was seen. `unknown`: it had
   * it in this version already, and nothing before that was observed.
   */
  readonly how: 'changed' | 'created' | 'unknown';
  readonly version: Version;
}

/**
 * When each field got the value that it has in the version of a token, in the order of `paths`; empty where the version is
 * not known. Versions are compared with the one that the stream delivered before; where that one's content was not kept, by
 * what is known to have changed.
 */
export function lastChanges({ versions, began }: Incarnation, token: Token, paths: readonly Path[]): LastChange[] {
  const start = versions.findLastIndex((version) => version.token === token);
  const newest = versions[start];
  if (newest === undefined) return [];
  const found = paths.map((): LastChange => ({ how: 'unknown', version: newest }));
  let open = paths.map((path, index) => ({ path, printed: formatPath(path), index }));
  for (let place = start; place > 0 && open.length > 0; place -= 1) {
    const before = versions[place - 1];
    const after = versions[place];
    if (before === undefined || after === undefined || !before.placed || !after.placed) return found;
    open = open.filter(({ path, printed, index }) => {
      const same = isSame(before, after, path, printed);
      if (same === true) found[index] = { how: 'unknown', version: before };
      else found[index] = { how: same === false ? 'changed' : 'unknown', version: after };
      return same === true;
    });
  }
  const [first] = versions;
  if (began === 'seen' && first !== undefined)
    for (const { index } of open) found[index] = { how: 'created', version: first };
  return found;
}

/** Whether a field is the same in two neighbouring versions; undefined where that is not known. */
function isSame(before: Version, after: Version, path: Path, printed: string): boolean | undefined {
  const { changed } = after;
  const part = partOf(printed);
  if (changed?.[part] === false) return true;
  if (before.body !== undefined && after.body !== undefined)
    return equalJson(valueAt(before.body, path), valueAt(after.body, path));
  const paths = changed?.paths ?? [];
  if (paths.some((one) => isWithin(one, printed))) return false;
  // A whole that changed says nothing about its parts, and metadata alone does not tell which other fields changed.
  const isTold = paths.some((one) => partOf(one) === part) && !paths.some((one) => isWithin(printed, one));
  return isTold ? true : undefined;
}

function isWithin(path: string, whole: string): boolean {
  return path === whole || path.startsWith(`${whole}.`) || path.startsWith(`${whole}[`);
}

/** The part of an object that a field is in; all outside metadata and status is desired state. */
function partOf(path: string): 'metadata' | 'status' | 'spec' {
  const root = /^\.(metadata|status)(?![^.[])/.exec(path)?.[1];
  return root === 'metadata' || root === 'status' ? root : 'spec';
}
