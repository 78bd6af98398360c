import { allOf, message, type Message } from '../../../base/message.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../codec/json.ts';
import type { WriteEvent } from '../../traceEvent.ts';
import { fieldStep, isAtOrBeneath } from '../derive.ts';
import { actorName } from '../knowledge.ts';
import { hasList, isByPlace, leavesOf, listOf, type Leaves } from '../leaves.ts';
import type { VersionRecord } from '../objectState.ts';
import type { VersionChange } from '../rule.ts';
import { basisText, changesText, requestText, tokenText } from '../words.ts';

/** What was lost, and how that is known. */
export interface Loss {
  readonly how: 'repeated' | 'counted' | 'unseen' | 'computed' | 'ignored' | 'swept';
  readonly paths: readonly string[];
  /** The index of the version that was overwritten. */
  readonly previous: number;
  /** The token of the version that the content came from, where it is known. */
  readonly base: string | undefined;
  readonly proof: readonly number[];
}

/** The kinds of a lost update; `dropped-fields` has a rule of its own. */
export type LossKind =
  | 'token-swap'
  | 'unconditional-overwrite'
  | 'list-clobber'
  | 'index-patch'
  | 'dropped-fields'
  | 'finalizer'
  | 'status';

/** The kind by what did the damage. */
export function lossKind(loss: Loss, write: WriteEvent, change: VersionChange): LossKind {
  if (write.patchType === 'json-patch' && indexedPaths(write).length > 0) return 'index-patch';
  if (loss.paths.every((path) => path.startsWith('.metadata.finalizers'))) return 'finalizer';
  if (loss.how === 'swept') return 'list-clobber';
  if (loss.how === 'repeated' && !isUnconditional(write)) return 'token-swap';
  if (write.verb === 'patch' && loss.how !== 'computed') {
    const before = change.object.versions[loss.previous]?.leaves;
    const inList = loss.paths.every((path) => {
      const list = listOf(path);
      return (
        list !== undefined &&
        (before === undefined ||
          hasList(before, list) ||
          change.version.leaves === undefined ||
          hasList(change.version.leaves, list))
      );
    });
    if (inList) return 'list-clobber';
  }
  if (write.subresource === 'status') return 'status';
  return isUnconditional(write) ? 'unconditional-overwrite' : 'token-swap';
}

/** Whether a write carries no token that the server could check. */
export function isUnconditional(write: WriteEvent): boolean {
  const token = write.preconditions?.token;
  return token === undefined || token === '' || token === '0';
}

/** The operations of a JSON Patch that address an item by its position, as pointers. */
export function indexedPaths(write: WriteEvent): string[] {
  if (!Array.isArray(write.body)) return [];
  return write.body.flatMap((operation) => {
    if (!isJsonObject(operation) || operation['op'] === 'test') return [];
    const { path, from } = operation;
    return [path, operation['op'] === 'move' ? from : undefined].filter(
      (pointer): pointer is string => typeof pointer === 'string' && /\/\d+(\/|$)/.test(pointer),
    );
  });
}

/**
 * The path by which a patch names a field: its own (not that of a list or map that holds it) or, in a strategic patch, that of
 * the keyed item which was not there `before` and brings the field along. Undefined where it does not name it.
 */
export function namedPath(write: WriteEvent, path: string, before: Leaves | undefined): string | undefined {
  const { body } = write;
  if (Array.isArray(body)) {
    const isNamed = body.some(
      (operation) =>
        isJsonObject(operation) && typeof operation['path'] === 'string' && printPointer(operation['path']) === path,
    );
    return isNamed ? path : undefined;
  }
  if (!isJsonObject(body)) return undefined;
  if (write.patchType !== 'strategic') return namedLeaves('', body).includes(path) ? path : undefined;
  const named = [...leavesOf(body).keys()].filter((name) => !isByPlace(name));
  if (named.includes(path)) return path;
  return named.find((name) => name.endsWith(']') && isAtOrBeneath(path, name) && before?.has(name) === false);
}

function namedLeaves(prefix: string, value: Json): string[] {
  if (!isJsonObject(value)) return Array.isArray(value) ? [] : [prefix];
  return Object.entries(value).flatMap(([field, item]) => namedLeaves(`${prefix}${fieldStep(field)}`, item));
}

/** What a patch takes out in so many words, as printed paths: by null, or by an operation. */
export function removedPaths({ verb, body }: WriteEvent): string[] {
  if (verb !== 'patch') return [];
  if (!Array.isArray(body)) return isJsonObject(body) ? nulls('', body) : [];
  return body.flatMap((operation) =>
    isJsonObject(operation) && operation['op'] === 'remove' && typeof operation['path'] === 'string'
      ? [printPointer(operation['path'])]
      : [],
  );
}

function nulls(prefix: string, object: JsonObject): string[] {
  return Object.entries(object).flatMap(([field, value]) => {
    const path = `${prefix}${fieldStep(field)}`;
    return value === null ? [path] : isJsonObject(value) ? nulls(path, value) : [];
  });
}

/** A JSON Pointer as a printed path; positions become `[n]`. */
export function printPointer(pointer: string): string {
  const tokens = pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  return tokens.map((token) => (/^\d+$/.test(token) ? `[${token}]` : fieldStep(token))).join('');
}

/** Whether a JSON Patch checks what stands at a position, or the token, before it acts. */
export function isGuarded(write: WriteEvent): boolean {
  if (write.preconditions?.token !== undefined && write.preconditions.token !== '') return true;
  if (!Array.isArray(write.body)) return false;
  const tests = write.body.flatMap((operation) =>
    isJsonObject(operation) && operation['op'] === 'test' && typeof operation['path'] === 'string'
      ? [operation['path']]
      : [],
  );
  return indexedPaths(write).every((path) =>
    tests.some(
      (test) =>
        isAtOrBeneath(printPointer(path), printPointer(test)) || isAtOrBeneath(printPointer(test), printPointer(path)),
    ),
  );
}

const HOW: Readonly<Record<LossKind, Message>> = {
  'token-swap': message`sent an older content with a newer token, so the version check could not refuse it`,
  'unconditional-overwrite': message`sent no token, so the server checked no version`,
  'list-clobber': message`replaced a whole list by a patch that was computed from an older list`,
  'index-patch': message`addressed a list item by its position, and the list had shifted`,
  'dropped-fields': message`sent back the whole object without fields that it does not know`,
  finalizer: message`replaced the list of finalizers by one that was computed from an older list`,
  status: message`replaced the status by one that was computed from an older one`,
};

/** What happened, in words that can be checked against the events. */
export function explainLoss(
  loss: Pick<Loss, 'base'> & { readonly how: Loss['how'] | 'dropped' },
  kind: LossKind,
  change: VersionChange & { readonly write: WriteEvent; readonly over: VersionRecord | undefined },
  others: readonly string[],
  fields: readonly string[],
): Message {
  const { write, object, version, over } = change;
  const who = actorName(write.actor);
  const base = loss.base === undefined ? '' : ` ${tokenText(loss.base)}`;
  const known = {
    repeated: message`The body is the one that was refused before, ${isUnconditional(write) ? message`sent again without a token` : message`with only its token changed`}.`,
    counted: message`${who} read it anew after the refusal and sent the same number, one more or less than the version${base} has: if it was computed from that, the other’s change is lost.`,
    unseen: message`${who} had not been given the version that it overwrote${base === '' ? '' : message`; the last it was given has the token${base}`}.`,
    computed: message`${who} had been given the object${base === '' ? '' : message` with the token${base}`} and not what was set since: if its value was computed from that, the other’s change is lost.`,
    ignored: message`${who} had been given the version${over === undefined ? '' : ` ${tokenText(over.token)}`}, yet what it sent is like the older version${base} in everything that others changed since, and it is not known to want that.`,
    swept: message`It is based on the version${base}, which has them: most likely it was to take only its own away.`,
    dropped: message`It was based on the version${base}, which has them, and changed other fields: most likely ${who} built the object anew, or its types do not have these.`,
  };
  const what =
    loss.how === 'swept' ? message`took finalizers or owners of others away together with its own` : HOW[kind];
  const isGuess = loss.how === 'counted' || (loss.how === 'ignored' && kind !== 'unconditional-overwrite');
  const [request, whose] = [requestText(write), allOf(others)];
  const changes = changesText(fields, object.name, over?.leaves, version.leaves);
  const damage =
    loss.how === 'computed' || loss.how === 'counted'
      ? message`Its ${request} overwrote what ${whose} had set: ${changes}.`
      : message`Its ${request} undid what ${whose} had set: ${changes}.`;
  return message`${who} ${isGuess ? message`most likely ${what}` : what}. ${damage} ${known[loss.how]}${isSaid(loss, write) ? basisText(write) : ''}`;
}

/** Whether the version that a write was based on agrees with what the whole history told: two guesses are not both told. */
function isSaid(
  { how, base }: { readonly how: string; readonly base?: string | undefined },
  { basedOn }: WriteEvent,
): boolean {
  return how === 'repeated' || how === 'unseen' || basedOn?.known !== 'content' || basedOn.token === base;
}

const REMEDY: Readonly<Record<LossKind, Message>> = {
  'token-swap': message`Take content and token from one read: after a conflict, read again and compute the change anew inside the retry; never copy only the newer resourceVersion.`,
  'unconditional-overwrite': message`Send the resourceVersion of the object that was read, and compute the change anew when it is refused; or patch only the fields you mean to change.`,
  'list-clobber': message`Put metadata.resourceVersion into the patch and compute it anew on a conflict, or apply only your own items (server-side apply merges keyed lists).`,
  'index-patch': message`Test the item (or metadata.resourceVersion) in the same JSON Patch before acting on its position, and compute the patch anew when the test fails.`,
  'dropped-fields': message`Patch or apply only the fields you own, or change the object that was read, untyped (unstructured) where your types do not know all of its fields.`,
  finalizer: message`Add or remove only your own finalizer: a patch that carries metadata.resourceVersion, or an update inside a retry on conflict.`,
  status: message`Read the object inside the retry and change only your own conditions and fields, with its token; or apply your own conditions.`,
};

/** What to do about a kind of loss. */
export function lossRemedy(kind: LossKind): Message {
  return REMEDY[kind];
}
