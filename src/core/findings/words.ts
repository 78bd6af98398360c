import { listed, message, type Words } from '../../base/message.ts';
import { isSecretResource } from '../secrets.ts';
import type { ObjectName, Token, WriteEvent } from '../traceEvent.ts';
import type { Leaves } from './leaves.ts';

const MAX_VALUE = 40;
const MAX_FIELDS = 8;
const PLAIN = /^("\P{Cc}*"|-?\d{1,20}(\.\d+)?|true|false)$/u;

/** A request in a few words: `update (PUT) of the status`, `JSON patch`. */
export function requestText(write: WriteEvent): Words {
  const kinds: Partial<Record<NonNullable<WriteEvent['patchType']>, string>> = {
    'json-patch': 'JSON patch',
    'merge-patch': 'merge patch',
    strategic: 'strategic merge patch',
  };
  const words: Readonly<Record<WriteEvent['verb'], Words>> = {
    create: 'create (POST)',
    replace: 'update (PUT)',
    patch: (write.patchType === undefined ? undefined : kinds[write.patchType]) ?? 'patch',
    apply: write.force === true ? message`server-side apply with force` : 'server-side apply',
    delete: 'delete',
    deletecollection: message`delete of a collection`,
  };
  const request = words[write.verb];
  return write.subresource === undefined ? request : message`${request} of the ${write.subresource}`;
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
): Words {
  const shown = fields.slice(0, MAX_FIELDS).map((path) => {
    const change = isSecretResource(name) ? undefined : changeText(before?.get(path), after?.get(path));
    return change === undefined ? path : message`${path} (${change})`;
  });
  return withRest(shown, fields.length);
}

/** Fields, of many the first ones. */
export function fieldsText(fields: readonly string[]): Words {
  return withRest(fields.slice(0, MAX_FIELDS), fields.length);
}

function withRest(shown: readonly Words[], count: number): Words {
  const all = listed(shown);
  return count > shown.length ? message`${all} and ${count - shown.length} more` : all;
}

/** A token as a text shows it: opaque, in quotes, so that nobody reads a number into it. */
export function tokenText(token: Token): string {
  return `"${token}"`;
}

/**
 * Which version a write's content came from, how that is known and how sure it is, as a sentence after another:
 * ` Its token names the version "v1" as its base.` Empty where its log does not tell.
 */
export function basisText({ basedOn, via }: Pick<WriteEvent, 'basedOn' | 'via'>): Words {
  if (basedOn === undefined) return '';
  const version = tokenText(basedOn.token);
  switch (basedOn.known) {
    case 'token':
      return message` Its token names the version ${version} as its base.`;
    case 'given':
      if (via === 'write') return message` It is based on the version ${version}, as its writer itself noted.`;
      return message` It is most likely based on the version ${version}, the last that its client had been given.`;
    case 'content':
      return message` It is most likely based on the version ${version}: its content is nearest to that.`;
  }
}

/** A leaf's value, where it may be shown: `nothing` where there is none. */
export function valueText(value: string | undefined, name: Pick<ObjectName, 'group' | 'resource'>): Words | undefined {
  if (isSecretResource(name)) return undefined;
  if (value === undefined) return message`nothing`;
  return isShort(value) ? quoted(value) : undefined;
}

function changeText(before: string | undefined, after: string | undefined): Words | undefined {
  if (before === after) return undefined;
  if (after === undefined) return isShort(before) ? message`${quoted(before)} → gone` : message`gone`;
  if (before === undefined) return isShort(after) ? message`none → ${quoted(after)}` : message`back`;
  return isShort(before) && isShort(after) ? `${quoted(before)} → ${quoted(after)}` : undefined;
}

/** Whether a leaf is a value that may be shown as it is. */
function isShort(value: string | undefined): value is string {
  return value !== undefined && value.length <= MAX_VALUE && PLAIN.test(value);
}

/** A short leaf as JSON prints it: a quote within a text does not end it, nor pass for one around a token. */
function quoted(value: string): string {
  return value.startsWith('"') ? JSON.stringify(value.slice(1, -1)) : value;
}
