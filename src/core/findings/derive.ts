import { isJsonObject, type Json, type JsonObject } from '../../codec/json.ts';
import type { WriteEvent } from '../traceEvent.ts';
import { contentAfter, contentOf, leavesOf, type Content, type Leaves } from './leaves.ts';
import type { VersionRecord } from './objectState.ts';

/**
 * What a version must hold where no answer showed it, from the request that made it: a replacement says it all but for the
 * part that the endpoint ignores; a merge patch says what it changes. What released an object left no finalizer. Empty where
 * the request does not tell.
 */
export function derivedContent(
  event: WriteEvent,
  previous: Pick<VersionRecord, 'body' | 'leaves'> | undefined,
): Partial<Content> {
  const { body } = event;
  const before = previous?.leaves;
  if (event.result?.released === true) return before === undefined ? {} : { leaves: withoutFinalizers(before) };
  if (!isJsonObject(body) || event.notAnalysed !== undefined) return {};
  if (event.subresource !== undefined && event.subresource !== 'status') return {};
  if (event.verb === 'create') return contentOf(withStatusOf(body, {}));
  if (event.verb === 'replace') {
    const toStatus = event.subresource === 'status';
    if (before !== undefined && previous?.body !== undefined)
      return contentAfter(
        { body: previous.body, leaves: before },
        toStatus ? withStatusOf(previous.body, body) : withStatusOf(body, previous.body),
      );
    if (before === undefined) return toStatus ? {} : contentOf(withStatusOf(body, {}));
    return { leaves: withPart(leavesOf(body), before, (path) => isStatus(path) === toStatus) };
  }
  if (event.verb === 'patch' && event.patchType === 'merge-patch' && before !== undefined)
    return { leaves: mergePatched(before, body, leavesOf(body)) };
  return {};
}

function withoutFinalizers(before: Leaves): Map<string, string> {
  return new Map([...before].filter(([path]) => !isAtOrBeneath(path.replace('\u0000', ''), '.metadata.finalizers')));
}

function withStatusOf(body: JsonObject, other: JsonObject): JsonObject {
  const { status: _own, ...rest } = body;
  const { status } = other;
  return status === undefined ? rest : { ...rest, status };
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
