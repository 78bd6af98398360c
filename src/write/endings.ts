import { message, type Words } from '../base/message.ts';
import type { JsonObject } from '../codec/json.ts';
import type { WriteContext } from './context.ts';
import type { Answer, ReadyWrite } from './exchange.ts';
import type { AttemptOutcome, FinalOutcome } from './outcome.ts';
import { withStatusOf } from './plan.ts';
import type { Report } from './report.ts';
import { storedOtherwise } from './stored.ts';
import { describeTarget, identityOf, isSecret } from './target.ts';

/** A report but for the attempts, which all parts share. */
export type PartReport = Omit<Report, 'attempts'>;

/** How a part ended. */
export interface PartEnd {
  readonly report: PartReport;
  /** What is left to be written to the status endpoint, as edits of what was just stored. */
  readonly rest?: { readonly base: JsonObject; readonly desired: JsonObject };
}

/** A write that was stored. */
interface Finished {
  readonly base: JsonObject;
  readonly desired: JsonObject;
  /** The whole desire, where its status is written after this. */
  readonly whole: JsonObject | undefined;
  readonly outcome: 'written' | 'unchanged';
  readonly stored: JsonObject;
  /** Whether `stored` is the very version that this write made. */
  readonly reliable: boolean;
}

/** A report about an incarnation, with the identity of the newest version that is known. */
export function endWith(
  outcome: FinalOutcome,
  uid: string | undefined,
  object: JsonObject | undefined,
  more: Partial<Report> = {},
): PartEnd {
  const identity = object === undefined ? undefined : identityOf(object);
  return {
    report: {
      outcome,
      ...(uid === undefined ? {} : { uid }),
      ...(identity === undefined ? {} : { token: identity.token }),
      ...(identity?.generation === undefined ? {} : { generation: identity.generation }),
      ...(object === undefined ? {} : { object }),
      ...more,
    },
  };
}

/** The end of a write that was stored: what the server made of it, and what is left to write. */
export function endFinished(context: WriteContext, write: Finished, ready?: ReadyWrite): PartEnd {
  const before = identityOf(write.base);
  const after = identityOf(write.stored);
  const different = write.reliable
    ? storedOtherwise({
        before: write.base,
        asked: write.desired,
        stored: write.stored,
        manager: context.manager,
        schema: context.schema,
        besidesStatus: write.whole !== undefined,
        secret: isSecret(context.target),
      })
    : [];
  const counted = before.generation !== undefined && after.generation !== undefined;
  const end = endWith(write.outcome, before.uid, write.stored, {
    ...(different.length === 0 ? {} : { storedOtherwise: different }),
    ...(counted ? { desiredStateChanged: before.generation !== after.generation } : {}),
    ...(ready?.why === undefined ? {} : { message: ready.why, strategy: ready.strategy }),
  });
  if (write.whole === undefined) return end;
  return {
    ...end,
    rest: { base: withStatusOf(write.base, write.stored), desired: withStatusOf(write.whole, write.stored) },
  };
}

/** The end where another incarnation holds the name. */
export function endRecreated(context: WriteContext, uid: string | undefined, holder: string | undefined): PartEnd {
  const name = describeTarget(context.target);
  const said = message`${name} was deleted and created again: the object that was meant is gone, and another holds its name. Nothing was written to it.`;
  return endWith('recreated', uid, undefined, { message: said, ...(holder === undefined ? {} : { holder }) });
}

/** The end where nothing holds the name. */
export function endGone(context: WriteContext, uid: string | undefined, anyLost: boolean): PartEnd {
  const lost = anyLost ? message` Whether the write whose answer was lost was stored before is not known.` : '';
  return endWith('gone', uid, undefined, {
    message: message`${describeTarget(context.target)} does not exist: its name is free.${lost}`,
  });
}

/** The end where it cannot be told whether a write was stored. */
export function endUnknown(uid: string | undefined, object: JsonObject | undefined, why: Words): PartEnd {
  const said = message`The answer to the write was lost, and it cannot be told whether it was stored. ${why}`;
  return endWith('unknown', uid, object, { message: said });
}

/** The end by the caller's signal. */
export function endCancelled(context: WriteContext, uid: string | undefined, anyLost: boolean): PartEnd {
  const onItsWay = anyLost || context.attempts.all.at(-1)?.outcome === 'cancelled';
  return endWith(
    'cancelled',
    uid,
    undefined,
    onItsWay ? { message: message`Cancelled; the last write may have been stored.` } : {},
  );
}

/** Whether an outcome of an attempt can be how a write ends. */
export function isFinal(outcome: AttemptOutcome): outcome is FinalOutcome {
  return outcome !== 'version-conflict' && outcome !== 'uid-mismatch' && outcome !== 'uncertain';
}

/** What a report repeats of an answer. */
export function saying(answer: Answer): Partial<Report> {
  return {
    ...(answer.message === undefined ? {} : { message: answer.message }),
    ...(answer.causes === undefined ? {} : { causes: answer.causes }),
    ...(answer.accepted === undefined ? {} : { accepted: answer.accepted }),
  };
}
