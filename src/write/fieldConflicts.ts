import type { JsonObject } from '../codec/json.ts';
import { ownersAt, ownersOf } from '../core/ownership.ts';
import { parsePath } from '../codec/path.ts';
import type { Cause, FieldConflict } from './outcome.ts';
import { metadataOf } from './target.ts';

/**
 * The field conflicts among the causes of an apply's 409. A cause reads
 * `conflict with "MANAGER"[ with subresource "SUB"][ using APIVERSION]`; an `Update` entry has the `using`, an `Apply` one has
 * not. Source: the server's answers, see the sheet of conflicts in `docs/safe-write.md`.
 */
export function fieldConflictsOf(causes: readonly Cause[]): FieldConflict[] {
  return causes.filter((cause) => cause.reason === 'FieldManagerConflict').map(parseCause);
}

function parseCause(cause: Cause): FieldConflict {
  const path = cause.field ?? '';
  const text = String(cause.message ?? '');
  const parts =
    /^conflict with ("(?:[^"\\]|\\.)*")(?: with subresource ("(?:[^"\\]|\\.)*"))?(?: using (\S+?))?(?: at .*)?$/.exec(
      text,
    );
  if (parts === null) return { path, manager: text, operation: '' };
  const [, manager, subresource, apiVersion] = parts;
  return {
    path,
    manager: unquote(manager ?? ''),
    operation: apiVersion === undefined ? 'Apply' : 'Update',
    ...(subresource === undefined ? {} : { subresource: unquote(subresource) }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
  };
}

function unquote(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted.slice(1, -1);
  }
}

/** The conflicts with what `managedFields` of the object adds: when each owner last changed its fields. */
export function withTimes(conflicts: readonly FieldConflict[], object: JsonObject): FieldConflict[] {
  const fields = metadataOf(object)['managedFields'];
  const owners = ownersOf(Array.isArray(fields) ? fields : undefined);
  return conflicts.map((conflict) => {
    const path = parsePath(conflict.path);
    const owner = ('path' in path ? ownersAt(owners, path.path) : []).find(
      (one) => one.manager === conflict.manager && one.subresource === conflict.subresource,
    );
    if (owner === undefined) return conflict;
    return { ...conflict, operation: owner.operation, ...(owner.time === undefined ? {} : { time: owner.time }) };
  });
}
