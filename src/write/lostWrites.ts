import { message, type Words } from '../base/message.ts';
import type { JsonObject } from '../codec/json.ts';
import type { WriteContext } from './context.ts';
import { evidenceIn, versionAfter, type Pending } from './settle.ts';
import type { Identity } from './target.ts';

/** What reading told of a lost write, where it decides how the whole ends. */
export type Settled =
  | {
      readonly kind: 'stored';
      readonly lost: Pending;
      readonly stored: JsonObject;
      /** Whether `stored` is the very version that the write made. */
      readonly reliable: boolean;
    }
  | { readonly kind: 'unknown'; readonly newest: JsonObject; readonly why: Words };

/** What settling needs of an intent. */
export interface Wish {
  readonly isFunction: boolean;
  /** Whether it wants nothing more of a version. */
  isSatisfied(object: JsonObject): Promise<boolean>;
}

/** The writes of one part whose answers were lost, until reading has told what became of each. */
export class LostWrites {
  private readonly context: WriteContext;
  private items: Pending[] = [];

  constructor(context: WriteContext) {
    this.context = context;
  }

  get any(): boolean {
    return this.items.length > 0;
  }

  /** Whether one of them may still be on its way to the server. */
  get anyOnItsWay(): boolean {
    return this.items.some((one) => !one.answered);
  }

  add(lost: Pending): void {
    this.items.push(lost);
  }

  /** Nothing that was conditional on a token can be stored once another write on it was. */
  supersede(token: string): void {
    for (const lost of this.items.filter((one) => one.token === token)) this.amend(lost, 'not-stored');
    this.items = this.items.filter((one) => one.token !== token);
  }

  /**
   * Settles those that were conditional on another token than the object has now: each was either stored as the next version
   * or never will be. Undefined where the write may go on.
   */
  async settle(object: JsonObject, identity: Identity, wish: Wish): Promise<Settled | undefined> {
    const { manager, options } = this.context;
    for (const lost of this.items.filter((one) => one.token !== identity.token)) {
      const next = lost.token === undefined ? undefined : await versionAfter(this.context, lost.token, identity.uid);
      const stored = next ?? object;
      const reliable = next !== undefined;
      const evidence = evidenceIn({ object: stored, isNext: reliable }, lost, manager);
      if (evidence === 'stored' || evidence === 'held') {
        // The same desire of a function may be another process's own: it counts as ours only where that makes no difference.
        const isOurs = options.soleManager === true && evidence === 'stored';
        const told = !wish.isFunction || isOurs || (await wish.isSatisfied(stored));
        this.amend(lost, told ? 'stored' : 'unknown');
        if (told) return { kind: 'stored', lost, stored, reliable };
        const why =
          'The next version holds what was sent, but another process under this field manager may have written the same.';
        return { kind: 'unknown', newest: stored, why };
      }
      const unclear = evidence === 'unclear';
      this.amend(lost, unclear ? 'unknown' : 'not-stored');
      if (unclear && (wish.isFunction || lost.token === undefined)) {
        return {
          kind: 'unknown',
          newest: object,
          why: message`What was stored since does not tell whether the write is in it.`,
        };
      }
      this.items = this.items.filter((one) => one !== lost);
    }
    return undefined;
  }

  private amend(lost: Pending, settled: 'stored' | 'not-stored' | 'unknown'): void {
    this.context.attempts.amend(lost.attempt, { settled });
  }
}
