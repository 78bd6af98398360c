import { message } from '../../base/message.ts';
import {
  equalJson,
  isJsonObject,
  parseJson,
  setOwn,
  stringifyJson,
  type Json,
  type JsonObject,
} from '../../codec/json.ts';
import type { Change } from '../../core/diff.ts';
import { hasKey, parsePath, startsWith, valueAt, type Path } from '../../codec/path.ts';
import { removeAt, setAt } from '../pathEdit.ts';
import { apiVersionOf, metadataOf } from '../target.ts';
import { ownersIn, ownersOfPath } from '../winners.ts';
import { rekeyedList } from '../rekeyed.ts';
import type { Draft, Drafted } from './strategy.ts';

/**
 * A server-side apply of all that this manager applied before, with the change, conditional on UID and token: what an apply
 * leaves out, its manager gives up. Never the whole object, never managedFields, never a status that has its own endpoint.
 *
 * Force is sent only where a person chose to take over exactly the fields in question, at exactly this version.
 */
export function draftApply(draft: Draft): Drafted {
  const list = rekeyedList(draft.changes);
  if (list !== undefined) {
    return {
      kind: 'use',
      strategy: 'replace',
      why: message`The change gives an item of ${list} another key, which an apply cannot do: the whole object was replaced instead.`,
    };
  }
  let body = appliedBefore(draft);
  const choices = choicesOf(draft);
  for (const change of draft.changes) {
    const choice = choices.find(({ path }) => overlaps(path, change.path))?.choice;
    if (choice === 'give-up') {
      body = without(body, change.path);
      continue;
    }
    const edited = choice === 'co-own' ? coOwn(body, change.path, draft.current) : edit(body, change, draft);
    if ('problem' in edited) return { kind: 'refused', why: String(edited.problem) };
    body = isJsonObject(edited.value) ? edited.value : body;
  }
  const identity: JsonObject = { name: draft.target.name };
  if (draft.target.namespaced) identity['namespace'] = draft.target.namespace;
  identity['uid'] = draft.uid;
  if (draft.token !== undefined) identity['resourceVersion'] = draft.token;
  const { metadata, apiVersion: _apiVersion, kind: _kind, ...rest } = body;
  const whole: JsonObject = {
    apiVersion:
      typeof draft.current['apiVersion'] === 'string' ? draft.current['apiVersion'] : apiVersionOf(draft.target),
    kind: typeof draft.current['kind'] === 'string' ? draft.current['kind'] : draft.target.kind,
    metadata: { ...identity, ...(isJsonObject(metadata) ? metadata : {}) },
    ...rest,
  };
  return {
    kind: 'request',
    method: 'PATCH',
    contentType: 'application/apply-patch+yaml',
    body: stringifyJson(whole),
    force: mayForce(draft, choices),
  };
}

interface Choice {
  readonly path: Path;
  readonly choice: 'give-up' | 'co-own' | 'take-over';
}

function choicesOf(draft: Draft): Choice[] {
  return (draft.resolve?.choices ?? []).flatMap(({ path, choice }) => {
    const parsed = parsePath(path);
    return 'path' in parsed ? [{ path: parsed.path, choice }] : [];
  });
}

/** Whether every field that another owns is one that the person takes over, at the version that the person saw. */
function mayForce(draft: Draft, choices: readonly Choice[]): boolean {
  if (draft.token === undefined || draft.resolve?.token !== draft.token) return false;
  const taken = choices.filter(({ choice }) => choice === 'take-over');
  if (taken.length === 0) return false;
  const others = ownersIn(draft.current).filter(
    (owner) => owner.manager !== draft.manager || owner.operation !== 'Apply',
  );
  return draft.changes
    .filter(
      ({ kind, path }) => kind !== 'removed' && ownersOfPath(others, draft.current, path, draft.schema).length > 0,
    )
    .every(({ path }) => choices.some((one) => overlaps(one.path, path)));
}

function overlaps(a: Path, b: Path): boolean {
  return startsWith(a, b) || startsWith(b, a);
}

function coOwn(body: JsonObject, path: Path, current: JsonObject): ReturnType<typeof setAt> {
  const value = valueAt(current, path);
  return value === undefined ? removeAt(body, path) : setAt(body, path, value);
}

function without(body: JsonObject, path: Path): JsonObject {
  const removed = removeAt(body, path);
  return 'value' in removed && isJsonObject(removed.value) ? removed.value : body;
}

/** One change done to the body. Where the path goes by positions, the whole list is sent: positions are no identity. */
function edit(body: JsonObject, change: Change, draft: Draft): ReturnType<typeof setAt> {
  const position = change.path.findIndex((step) => 'index' in step);
  if (position >= 0) {
    const list = change.path.slice(0, position);
    const whole = valueAt(draft.desired, list);
    return whole === undefined ? removeAt(body, list) : setAt(body, list, whole);
  }
  return change.after === undefined ? removeAt(body, change.path) : setAt(body, change.path, change.after);
}

/** What this manager applied to this endpoint before, with the values that are there now. */
function appliedBefore(draft: Draft): JsonObject {
  const entries = metadataOf(draft.current)['managedFields'];
  const own = (Array.isArray(entries) ? entries : []).find(
    (entry) =>
      isJsonObject(entry) &&
      entry['manager'] === draft.manager &&
      entry['operation'] === 'Apply' &&
      (entry['subresource'] ?? '') === (draft.subresource ?? ''),
  );
  const fields = isJsonObject(own) ? own['fieldsV1'] : undefined;
  const owned = isJsonObject(fields) ? project(draft.current, fields) : undefined;
  if (!isJsonObject(owned)) return {};
  const { status, ...rest } = owned;
  return status === undefined || (draft.hasStatusEndpoint && draft.subresource === undefined) ? rest : owned;
}

/** The part of a value that a FieldsV1 tree names, items in the order in which the value has them. */
function project(value: Json, fields: JsonObject): Json | undefined {
  const names = Object.keys(fields).filter((name) => name !== '.');
  if (names.length === 0 && !Object.hasOwn(fields, '.')) return value;
  if (Array.isArray(value)) return value.flatMap((item) => projectItem(item, fields));
  if (!isJsonObject(value)) return undefined;
  const part: JsonObject = {};
  for (const name of names) {
    const field = name.slice(2);
    const below = fields[name];
    if (!name.startsWith('f:') || !Object.hasOwn(value, field) || !isJsonObject(below)) continue;
    const owned = project(value[field] ?? null, below);
    if (owned !== undefined) setOwn(part, field, owned);
  }
  return part;
}

function projectItem(item: Json, fields: JsonObject): Json[] {
  for (const [name, below] of Object.entries(fields)) {
    const identity = parseIdentity(name);
    if (identity === undefined || !isJsonObject(below)) continue;
    if (name.startsWith('v:')) {
      if (equalJson(item, identity)) return [item];
    } else if (isJsonObject(identity) && hasKey(item, identity)) {
      const owned = project(item, below);
      return [isJsonObject(owned) ? { ...identity, ...owned } : item];
    }
  }
  return [];
}

function parseIdentity(name: string): Json | undefined {
  if (!name.startsWith('k:') && !name.startsWith('v:')) return undefined;
  try {
    return parseJson(name.slice(2));
  } catch {
    return undefined;
  }
}
