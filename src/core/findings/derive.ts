import { isJsonObject, type Json, type JsonObject } from '../../codec/json.ts';
import type { WriteEvent } from '../traceEvent.ts';
import { leavesOf, type Leaves } from './leaves.ts';

/**
 * What a version must hold where no answer showed it, from the request that made it: a replacement says it all but for the
 * part that the endpoint ignores; a merge patch says what it changes. Undefined where the request does not tell.
 */
export function deriveLeaves(event: WriteEvent, before: Leaves | undefined): Map<string, string> | undefined {
  const { body } = event;
  if (!isJsonObject(body) || event.notAnalysed !== undefined) return undefined;
  if (event.subresource !== undefined && event.subresource !== 'status') return undefined;
  const leaves = leavesOf(body);
  if (event.verb === 'create') return withPart(leaves, new Map(), (path) => !isStatus(path));
  if (event.verb === 'replace') {
    if (before === undefined && event.subresource === 'status') return undefined;
    const own = (path: string): boolean => isStatus(path) === (event.subresource === 'status');
    return withPart(leaves, before ?? new Map(), own);
  }
  if (event.verb === 'patch' && event.patchType === 'merge-patch' && before !== undefined)
    return mergePatched(before, body, leaves);
  return undefined;
}

function isStatus(path: string): boolean {
  return path.startsWith('.status') || path.startsWith('\u0000.status');
}

function withPart(asked: Leaves, before: Leaves, own: (path: string) => boolean): Map<string, string> {
  const result = new Map<string, string>();
  for (const [path, value] of before) if (!own(path)) result.set(path, value);
  for (const [path, value] of asked) if (own(path)) result.set(path, value);
  return result;
}

function mergePatched(before: Leaves, patch: JsonObject, asked: Leaves): Map<string, string> {
  const replaced: string[] = [];
  const visit = (path: string, value: Json): void => {
    if (isJsonObject(value))
      for (const [field, item] of Object.entries(value)) visit(`${path}${fieldStep(field)}`, item);
    else replaced.push(path);
  };
  visit('', patch);
  const result = new Map<string, string>();
  for (const [path, value] of before)
    if (!replaced.some((prefix) => isAtOrBeneath(path.replace('\u0000', ''), prefix))) result.set(path, value);
  for (const [path, value] of asked) result.set(path, value);
  return result;
}

/** Whether a path is the other one or lies beneath it. */
export function isAtOrBeneath(path: string, prefix: string): boolean {
  return (
    path.startsWith(prefix) &&
    (path.length === prefix.length || path[prefix.length] === '.' || path[prefix.length] === '[')
  );
}

/** A field as a printed path has it. */
export function fieldStep(field: string): string {
  return /^[A-Za-z_$][\w$-]*$/.test(field) ? `.${field}` : `[${JSON.stringify(field)}]`;
}
