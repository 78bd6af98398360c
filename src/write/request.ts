import { message, type Words } from '../base/message.ts';
import type { ServerRequest } from '../base/server.ts';
import type { Change } from '../core/diff.ts';
import type { WriteContext } from './context.ts';
import type { Strategy } from './outcome.ts';
import { draftApply } from './strategies/apply.ts';
import { draftJsonPatch } from './strategies/jsonPatch.ts';
import { draftMergePatch } from './strategies/mergePatch.ts';
import { draftReplace } from './strategies/replace.ts';
import { draftStrategicPatch } from './strategies/strategicPatch.ts';
import type { Draft, Drafted } from './strategies/strategy.ts';
import { describeTarget, targetPath } from './target.ts';
import type { JsonObject } from '../codec/json.ts';

/** A write that is ready to be sent, or why there is none. */
export type Prepared =
  | {
      readonly kind: 'ready';
      readonly request: ServerRequest;
      readonly strategy: Strategy;
      /** Why another strategy was used than was asked for. */
      readonly why?: Words;
      readonly force: boolean;
      readonly tests: boolean;
    }
  | { readonly kind: 'refused'; readonly why: Words; readonly accepted?: readonly string[] };

/** What is written, and where. */
interface PendingChange {
  readonly subresource: string | undefined;
  readonly current: JsonObject;
  readonly desired: JsonObject;
  readonly changes: readonly Change[];
  readonly uid: string;
  readonly token: string;
}

/**
 * The request of a write by the context's strategy. Refuses, before anything is sent, to write without a UID and a token; a
 * token of `0` is none to a server. Only an explicit yes to losing updates leaves the token out, and never the UID.
 */
export function prepare(context: WriteContext, change: PendingChange): Prepared {
  const conditional = context.options.unconditional !== 'may-lose-updates';
  if (change.uid === '' || (conditional && (change.token === '' || change.token === '0'))) {
    return {
      kind: 'refused',
      why: message`${describeTarget(context.target)} was read without a UID or a version: it cannot be written safely.`,
    };
  }
  const draft: Draft = {
    target: context.target,
    subresource: change.subresource,
    current: change.current,
    desired: change.desired,
    changes: change.changes,
    schema: context.schema,
    manager: context.manager,
    token: conditional ? change.token : undefined,
    uid: change.uid,
    resolve: context.options.resolve,
    hasStatusEndpoint: context.hasStatusEndpoint,
  };
  const drafted = draftBy(context.strategy, draft);
  if (drafted.kind === 'refused') return drafted;
  if (drafted.kind === 'request') return ready(context, change.subresource, drafted, context.strategy);
  const other = draftBy(drafted.strategy, draft);
  if (other.kind !== 'request') return { kind: 'refused', why: drafted.why };
  return { ...ready(context, change.subresource, other, drafted.strategy), why: drafted.why };
}

function draftBy(strategy: Strategy, draft: Draft): Drafted {
  switch (strategy) {
    case 'replace':
      return draftReplace(draft);
    case 'apply':
      return draftApply(draft);
    case 'json-patch':
      return draftJsonPatch(draft);
    case 'merge-patch':
      return draftMergePatch(draft);
    case 'strategic':
      return draftStrategicPatch(draft);
  }
}

function ready(
  context: WriteContext,
  subresource: string | undefined,
  drafted: Extract<Drafted, { kind: 'request' }>,
  strategy: Strategy,
): Extract<Prepared, { kind: 'ready' }> {
  const force = drafted.force === true;
  return {
    kind: 'ready',
    strategy,
    force,
    tests: drafted.tests === true,
    request: {
      method: drafted.method,
      path: targetPath(context.target, subresource),
      query: {
        fieldManager: context.manager,
        ...(context.options.dryRun === true ? { dryRun: 'All' } : {}),
        ...(force ? { force: 'true' } : {}),
      },
      headers: { 'content-type': drafted.contentType, accept: 'application/json' },
      body: drafted.body,
    },
  };
}
