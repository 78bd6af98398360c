import { isSecretResource } from '../secrets.ts';
import type { ObjectName, Token, WriteEvent } from '../traceEvent.ts';
import type { Leaves } from './leaves.ts';

const MAX_VALUE = 40;
const MAX_FIELDS = 8;
const PLAIN = /^("\P{Cc}*"|-?\d{1,20}(\.\d+)?|true|false)$/u;

/** A request in a few words: `update (PUT) of the status`, `JSON patch`. */
export function requestText(write: WriteEvent): string {
  const part = write.subresource === undefined ? '' : ` of the ${write.subresource}`;
  const kinds: Partial<Record<NonNullable<WriteEvent['patchType']>, string>> = {
    'json-patch': 'JSON patch',
    'merge-patch': 'merge patch',
    strategic: 'strategic merge patch',
  };
  const words: Readonly<Record<WriteEvent['verb'], string>> = {
    create: 'create (POST)',
    replace: 'update (PUT)',
    patch: (write.patchType === undefined ? undefined : kinds[write.patchType]) ?? 'patch',
    apply: `server-side apply${write.force === true ? ' with force' : ''}`,
    delete: 'delete',
    deletecollection: 'delete of a collection',
  };
  return words[write.verb] + part;
}

/**
 * Fields with what became of them: `.spec.replicas (3 → 1)`, `.data.bob ("1" → gone)`. A Secret's values, long ones and those
 * of which only a hash is known are left out.
 */
export function changesText(
  fields: readonly string[],
  name: Pick<ObjectName, 'group' | 'resource'>,
  before: Leaves | undefined,
  after: Leaves | undefined,
): string {
  const shown = fields.slice(0, MAX_FIELDS).map((path) => {
    const change = isSecretResource(name) ? undefined : changeText(before?.get(path), after?.get(path));
    return change === undefined ? path : `${path} (${change})`;
  });
  return `${shown.join(', ')}${fields.length > MAX_FIELDS ? ` and ${fields.length - MAX_FIELDS} more` : ''}`;
}

/** A token as a text shows it: opaque, in quotes, so that nobody reads a number into it. */
export function tokenText(token: Token): string {
  return `"${token}"`;
}

/**
 * Which version a write's content came from, how that is known and how sure it is, as a sentence after another:
 * ` Its token names the version "v1" as its base.` Empty where its log does not tell.
 */
export function basisText({ basedOn, via }: Pick<WriteEvent, 'basedOn' | 'via'>): string {
  if (basedOn === undefined) return '';
  const version = `the version ${tokenText(basedOn.token)}`;
  switch (basedOn.known) {
    case 'token':
      return ` Its token names ${version} as its base.`;
    case 'given':
      if (via === 'write') return ` It is based on ${version}, as its writer itself noted.`;
      return ` It is most likely based on ${version}, the last that its client had been given.`;
    case 'content':
      return ` It is most likely based on ${version}: its content is nearest to that.`;
  }
}

/** A leaf's value, where it may be shown: `nothing` where there is none. */
export function valueText(value: string | undefined, name: Pick<ObjectName, 'group' | 'resource'>): string | undefined {
  if (isSecretResource(name)) return undefined;
  if (value === undefined) return 'nothing';
  return isShort(value) ? value : undefined;
}

function changeText(before: string | undefined, after: string | undefined): string | undefined {
  if (before === after) return undefined;
  if (after === undefined) return isShort(before) ? `${before} → gone` : 'gone';
  if (before === undefined) return isShort(after) ? `none → ${after}` : 'back';
  return isShort(before) && isShort(after) ? `${before} → ${after}` : undefined;
}

/** Whether a leaf is a value that may be shown as it is. */
function isShort(value: string | undefined): value is string {
  return value !== undefined && value.length <= MAX_VALUE && PLAIN.test(value);
}
