import { noListSchema, type ListSchema } from '../core/listSchema.ts';
import { defaultBackoff, type Backoff } from './backoff.ts';
import { defaultAttempts, defaultFieldManager, type ModifyOptions } from './options.ts';
import type { Strategy } from './outcome.ts';
import type { Attempt } from './report.ts';
import type { Session } from './session.ts';
import type { Target } from './target.ts';
import type { WriteLog } from './writeLog.ts';

/** What the parts of one safe write share. */
export interface WriteContext {
  readonly target: Target;
  readonly session: Session;
  readonly log: WriteLog;
  readonly attempts: Attempts;
  readonly options: ModifyOptions;
  readonly strategy: Strategy;
  readonly manager: string;
  readonly schema: ListSchema;
  readonly backoff: Backoff;
  readonly maxAttempts: number;
  /** Whether discovery offers a status endpoint for the kind. */
  readonly hasStatusEndpoint: boolean;
}

/** The context of a write, with the defaults of its options. */
export function contextOf(target: Target, options: ModifyOptions, session: Session, log: WriteLog): WriteContext {
  return {
    target,
    session,
    log,
    attempts: new Attempts(options.onAttempt),
    options,
    strategy: options.strategy ?? 'replace',
    manager: options.fieldManager ?? defaultFieldManager,
    schema: options.schema ?? noListSchema,
    backoff: options.backoff ?? defaultBackoff,
    maxAttempts: Math.max(1, options.maxAttempts ?? defaultAttempts.edits),
    hasStatusEndpoint: options.subresources?.includes('status') === true,
  };
}

/** The attempts of one safe write, in order. What is learned of an attempt later is added to it. */
export class Attempts {
  private readonly items: Attempt[] = [];
  private readonly onAttempt: ((attempt: Attempt) => void) | undefined;

  constructor(onAttempt: ((attempt: Attempt) => void) | undefined) {
    this.onAttempt = onAttempt;
  }

  get all(): readonly Attempt[] {
    return this.items;
  }

  /** The number of the attempt that comes next, from 1. */
  get next(): number {
    return this.items.length + 1;
  }

  add(attempt: Omit<Attempt, 'attempt'>): Attempt {
    const numbered = { attempt: this.next, ...attempt };
    this.items.push(numbered);
    this.onAttempt?.(numbered);
    return numbered;
  }

  amend(attempt: number, more: Partial<Attempt>): void {
    const item = this.items[attempt - 1];
    if (item !== undefined) this.items[attempt - 1] = { ...item, ...more };
  }
}
