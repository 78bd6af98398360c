import { listed, message, type Words } from '../base/message.ts';
import type { Json, JsonObject } from '../codec/json.ts';
import { isJsonObject } from '../codec/json.ts';

/** A condition that says for which generation it was computed. */
export interface ConditionGeneration {
  readonly type: string;
  readonly observedGeneration: number;
}

/**
 * How far a controller has come with the desired state.
 * `none`: the kind has no generation. `unreported`: nothing says which generation was observed. `not-yet-seen`: the newest
 * desired state was not observed. `seen`: it was, but some conditions were computed for an older one. `current`: all that
 * reports a generation reports this one. `ahead`: something reports a generation that the object does not have.
 */
export type GenerationVerdict = 'none' | 'unreported' | 'not-yet-seen' | 'seen' | 'current' | 'ahead';

/** What an object says about generations, and what follows. */
export interface GenerationState {
  readonly generation?: number;
  readonly observedGeneration?: number;
  /** Every condition that has the field, in the object's order. */
  readonly conditions: readonly ConditionGeneration[];
  readonly verdict: GenerationVerdict;
  /** The conditions that were computed for an older generation. */
  readonly behind: readonly ConditionGeneration[];
}

/**
 * Reads the generations of an object. A missing generation is none, never 0. Counts are compared here because the API
 * defines generation as a sequence (ObjectMeta in the Kubernetes API reference); tokens never are.
 */
export function generationOf(object: JsonObject): GenerationState {
  const metadata = object['metadata'];
  const status = object['status'];
  const conditions = isJsonObject(status) && Array.isArray(status['conditions']) ? status['conditions'] : [];
  return generationState(
    count(isJsonObject(metadata) ? metadata['generation'] : undefined),
    count(isJsonObject(status) ? status['observedGeneration'] : undefined),
    conditions.flatMap((condition) => {
      if (!isJsonObject(condition)) return [];
      const observedGeneration = count(condition['observedGeneration']);
      const type = condition['type'];
      return observedGeneration === undefined || typeof type !== 'string' ? [] : [{ type, observedGeneration }];
    }),
  );
}

/** The verdict on generations that were read before. */
export function generationState(
  generation: number | undefined,
  observedGeneration: number | undefined,
  conditions: readonly ConditionGeneration[],
): GenerationState {
  const behind =
    generation === undefined ? [] : conditions.filter((condition) => condition.observedGeneration < generation);
  return {
    ...(generation === undefined ? {} : { generation }),
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    conditions,
    verdict: verdictOf(generation, observedGeneration, conditions, behind.length),
    behind,
  };
}

function verdictOf(
  generation: number | undefined,
  observed: number | undefined,
  conditions: readonly ConditionGeneration[],
  behind: number,
): GenerationVerdict {
  if (generation === undefined) return 'none';
  if (observed === undefined && conditions.length === 0) return 'unreported';
  if (observed !== undefined && observed > generation) return 'ahead';
  if (conditions.some((condition) => condition.observedGeneration > generation)) return 'ahead';
  if (observed !== undefined && observed < generation) return 'not-yet-seen';
  if (observed === undefined && behind === conditions.length) return 'not-yet-seen';
  return behind > 0 ? 'seen' : 'current';
}

const WORDS: Readonly<Record<GenerationVerdict, Words>> = {
  none: message`none`,
  unreported: message`observed generation not reported`,
  'not-yet-seen': message`not yet seen`,
  seen: message`seen`,
  current: message`current`,
  ahead: message`observed generation is ahead of the object`,
};

/** The verdict as a person reads it: `seen, Ready from generation 6`. */
export function describeGeneration(state: GenerationState): Words {
  const word = WORDS[state.verdict];
  if (state.verdict !== 'seen') return word;
  const behind = state.behind.map(
    ({ type, observedGeneration }) => message`${type} from generation ${observedGeneration}`,
  );
  return listed([word, ...behind]);
}

function count(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}
