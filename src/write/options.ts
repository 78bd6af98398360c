import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../codec/json.ts';
import type { Change } from '../core/diff.ts';
import type { ListSchema } from '../core/listSchema.ts';
import type { NewTraceEvent } from '../core/traceEvent.ts';
import type { Strategy } from './outcome.ts';
import type { Attempt, Owned } from './report.ts';

/** The field manager of every write of ours unless another is set. */
export const defaultFieldManager = 'object-versions';

/**
 * Attempts unless another bound is set. A person's edits that were overtaken five times are better looked at again. A program's
 * change is recomputed, and means the same, each time; where several of them take time between read and write, each attempt
 * may well be overtaken by one who has just come, however long one waited before it.
 */
export const defaultAttempts = { edits: 5, function: 25 } as const;

/** The yes to a write that is not conditional on the version read: it names what it can lose. */
type UnconditionalConsent = 'may-lose-updates';

/**
 * What a person decided about fields that others own. `take-over` is pinned to the version on which it was decided: at any
 * other version the apply goes without force and the question comes back.
 */
export interface FieldResolution {
  /** The token of the version that the person saw. */
  readonly token: string;
  readonly choices: readonly { readonly path: string; readonly choice: 'give-up' | 'co-own' | 'take-over' }[];
}

/** How a safe write is to go about it. Everything has a default but the clock. */
export interface ModifyOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Default `replace`. */
  readonly strategy?: Strategy;
  readonly fieldManager?: string;
  /**
   * Whether nobody else writes under this field manager. A write whose answer was lost, and which a program computed, can
   * then be told from the same write by another process; otherwise it ends `unknown`. Default false.
   */
  readonly soleManager?: boolean;
  /** Default 5 for a person's edits, 25 for a function: see `defaultAttempts`. */
  readonly maxAttempts?: number;
  /** The limit of the whole, in ms. Default 30,000. */
  readonly timeoutMs?: number;
  readonly dryRun?: boolean;
  /** How the kind's lists are merged. Default: nothing is declared. */
  readonly schema?: ListSchema;
  /** The subresources that discovery offers for the kind. Undefined: not known, and none is used unasked. */
  readonly subresources?: readonly string[];
  readonly unconditional?: UnconditionalConsent;
  readonly resolve?: FieldResolution;
  /** Full jitter between 0 and the smaller of `capMs` and `baseMs` doubled per attempt. */
  readonly backoff?: { readonly baseMs: number; readonly capMs: number };
  /** The cluster's id in the log. */
  readonly cluster?: string;
  /** The User-Agent, for the log. */
  readonly agent?: string;
  /** Whether bodies go into the log; a Secret's never do. Default false. */
  readonly keepBodies?: boolean;
  /** A random key of this log, under which hashes of a Secret's values tell equal from different and nothing else. */
  readonly secretKey?: string;
  /** Every object that a write is computed from. */
  readonly onRead?: (object: JsonObject) => void;
  /** Every read and write, for the log. */
  readonly onEvent?: (event: NewTraceEvent) => void;
  /** After every attempt, for progress. */
  readonly onAttempt?: (attempt: Attempt) => void;
  /** Before each write: what it is about to change. False sends nothing, and ends it `cancelled`. */
  readonly onPlan?: (plan: { subresource: string | undefined; changes: readonly Change[] }) => boolean;
  /** Before the first write, when the intent touches fields that others own. Resolving to false ends it `cancelled`. */
  readonly onOwned?: (owned: readonly Owned[]) => boolean | Promise<boolean>;
}
