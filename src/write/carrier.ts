import { message } from '../base/message.ts';
import { AppError, isAppError, wordsOf } from '../base/appError.ts';
import { cloneJson, isJsonObject, type JsonObject } from '../codec/json.ts';
import { jsonFrom } from '../codec/jsonFrom.ts';
import type { ListSchema } from '../core/listSchema.ts';
import { merge3, sameBesidesServerSet, withServerSet } from '../core/merge.ts';
import type { MergeConflict } from '../core/mergeTypes.ts';
import type { Intent } from './intent.ts';
import { editPaths } from './pathEdit.ts';
import { identityOf } from './target.ts';

/** What an intent wants of one read: an object, or a decision by a person. */
export type Desire =
  | { readonly kind: 'object'; readonly object: JsonObject }
  | {
      readonly kind: 'decision';
      readonly conflicts: readonly MergeConflict[];
      readonly base: JsonObject;
      readonly yours: JsonObject;
    };

/**
 * Carries an intent to every read. Server-set metadata of what it gives is always that of the read, so the content and the
 * token of one write cannot come from different reads.
 */
export interface Carrier {
  /** Whether it is computed anew from every read, so that the same desire from two reads may be two different wishes. */
  readonly isFunction: boolean;
  /** The incarnation that the intent was made for, where it says so. */
  readonly uid?: string;
  /** The read that the intent was made from, if it wants nothing at all. */
  readonly nothingAgainst?: JsonObject;
  desire(current: JsonObject): Promise<Desire>;
}

/** The carrier of an intent. Of a Secret, an error of a function is told without its text, which may quote values. */
export function carry(intent: Intent, schema: ListSchema, secret = false): Carrier {
  switch (intent.kind) {
    case 'function':
      return { isFunction: true, desire: async (current) => computed(current, intent.compute, secret) };
    case 'edits':
      return carryEdits(intent.base, intent.desired, schema);
    case 'changes': {
      let edits: Carrier | undefined;
      return {
        isFunction: false,
        desire: async (current) => {
          edits ??= carryEdits(current, changed(current, intent), schema);
          return edits.desire(current);
        },
      };
    }
  }
}

function carryEdits(base: JsonObject, desired: JsonObject, schema: ListSchema): Carrier {
  const { uid } = identityOf(base);
  return {
    isFunction: false,
    ...(uid === '' ? {} : { uid }),
    ...(sameBesidesServerSet(base, desired) ? { nothingAgainst: base } : {}),
    desire: async (current) => {
      const { merged, conflicts } = merge3(base, current, desired, schema);
      if (conflicts.length > 0) return { kind: 'decision', conflicts, base, yours: desired };
      return { kind: 'object', object: merged };
    },
  };
}

function changed(current: JsonObject, intent: Extract<Intent, { kind: 'changes' }>): JsonObject {
  const edited = editPaths(current, intent.set, intent.remove);
  if ('problem' in edited)
    throw new AppError('invalid-path', edited.problem, { advice: message`Read the object and correct the path.` });
  if (!isJsonObject(edited.value))
    throw new AppError('invalid-path', message`The object cannot be replaced as a whole by a path.`);
  return edited.value;
}

async function computed(
  current: JsonObject,
  compute: (current: JsonObject) => JsonObject | Promise<JsonObject>,
  secret: boolean,
): Promise<Desire> {
  let desired: unknown;
  try {
    desired = await compute(cloneJson(current));
  } catch (error) {
    if (isAppError(error)) throw error;
    const name = error instanceof Error ? error.name : 'an error';
    if (secret)
      throw new AppError('script-failed', message`The change could not be computed: ${name}.`, {
        advice: message`Its text is not shown: it may quote what the Secret holds.`,
      });
    throw new AppError('script-failed', message`The change could not be computed: ${wordsOf(error)}`, {
      cause: error,
    });
  }
  if (typeof desired !== 'object' || desired === null || Array.isArray(desired)) {
    throw new AppError('script-failed', message`The change was computed, but what came is no object.`, {
      advice: message`Return the whole desired object.`,
    });
  }
  const made = jsonFrom(desired);
  if ('problem' in made) {
    throw new AppError('script-failed', message`The change was computed, but ${made.problem}.`, {
      advice: message`Return what JSON can hold; leave a field out to remove it.`,
    });
  }
  return { kind: 'object', object: withServerSet(current, made.object) };
}
