import type { JsonObject } from '../codec/json.ts';
import { bucketOf, keyOf } from './registry.ts';
import type { ListOptions } from './queryOptions.ts';
import type { Filter } from './selectors.ts';
import { inVersion, resourceOf, type ApiState, type Call } from './state.ts';
import { badRequest, bareError, expired, notFound, tooLargeVersion } from './status.ts';
import type { Stored } from './store.ts';
import { decodeContinue, encodeContinue } from './continueToken.ts';

/** How long a read waits for a version that the store has not reached. */
const FUTURE_WAIT_MS = 3000;
const FUTURE_POLL_MS = 50;

/** Where a read looks: at the newest state, or, behind an address that lags, at an older one. */
export interface View {
  /** The revision to show; undefined for the newest. */
  revision(): number | undefined;
}

/** The view of the primary address. */
export const newestView: View = { revision: () => undefined };

/** Reads one object. Throws 404, 500 for a version that is none, 504 for one from the future. */
export async function readObject(
  state: ApiState,
  view: View,
  call: Call,
  resourceVersion: string,
): Promise<JsonObject> {
  if (resourceVersion !== '') {
    const parsed = state.store.tokens.parse(resourceVersion);
    if ('problem' in parsed)
      throw bareError(`resourceVersion: Invalid value: ${JSON.stringify(resourceVersion)}: ${parsed.problem}`);
    await reach(state, view, resourceVersion, parsed.revision);
  }
  const at = view.revision();
  const bucket = bucketOf(call.kind);
  const key = keyOf(call.kind, call.namespace, call.name);
  const stored = at === undefined ? state.store.get(bucket, key) : state.store.getAt(bucket, key, at);
  if (stored === undefined) throw notFound(resourceOf(call.kind), call.name);
  return inVersion(stored.object, call.kind);
}

/** One page of a list. */
export interface Page {
  readonly items: readonly Stored[];
  readonly revision: number;
  readonly continueToken: string | undefined;
  readonly remaining: number | undefined;
}

/** Reads a collection. Throws 400, 410, 504. */
export async function readPage(
  state: ApiState,
  view: View,
  call: Call,
  options: ListOptions,
  filter: Filter,
): Promise<Page> {
  const { store } = state;
  const prefix = call.kind.namespaced && call.namespace !== '' ? `${call.namespace}/` : '';
  const start = await startOf(state, view, options);
  const revision = start.revision ?? view.revision() ?? store.revision;
  const all =
    filter.name !== undefined && prefix !== '' && start.revision === undefined && view.revision() === undefined
      ? [store.get(bucketOf(call.kind), prefix + filter.name)].filter((stored) => stored !== undefined)
      : store.list(bucketOf(call.kind), prefix, start.revision ?? view.revision());
  const from =
    start.after === undefined ? all : all.filter((stored) => stored.key.slice(prefix.length) >= (start.after ?? ''));
  const matching = filter.all ? from : from.filter((stored) => filter.matches(stored.object));
  const unlimited = options.limit <= 0 || (options.resourceVersion === '0' && options.continueToken === '');
  if (unlimited || matching.length <= options.limit)
    return { items: matching, revision, continueToken: undefined, remaining: undefined };
  const items = matching.slice(0, options.limit);
  const last = items[items.length - 1];
  const continueToken = encodeContinue(revision, `${last?.key.slice(prefix.length) ?? ''}\u0000`);
  return { items, revision, continueToken, remaining: filter.all ? matching.length - items.length : undefined };
}

interface Start {
  /** The revision to list at; undefined for the newest. */
  readonly revision: number | undefined;
  readonly after?: string;
}

async function startOf(state: ApiState, view: View, options: ListOptions): Promise<Start> {
  const { resourceVersion, resourceVersionMatch: match, continueToken } = options;
  if (continueToken !== '') return continued(state, options);
  if (resourceVersion === '') return { revision: undefined };
  const parsed = state.store.tokens.parse(resourceVersion);
  if ('problem' in parsed)
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(resourceVersion)}: ${parsed.problem}`,
    );
  await reach(state, view, resourceVersion, parsed.revision);
  const exact = match === 'Exact' || (match === '' && options.limit > 0 && parsed.revision !== 0);
  if (!exact) return { revision: undefined };
  if (parsed.revision < state.store.compactedRevision)
    throw expired('The resourceVersion for the provided list is too old.');
  return { revision: parsed.revision };
}

function continued(state: ApiState, options: ListOptions): Start {
  const { resourceVersion, continueToken } = options;
  const found = decodeContinue(continueToken);
  if (resourceVersion !== '' && resourceVersion !== '0')
    throw badRequest('specifying resource version is not allowed when using continue');
  if (found.revision > 0 && found.revision < state.store.compactedRevision) {
    const fresh = encodeContinue(-1, found.start);
    throw expired(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the ' +
        'continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with ' +
        'the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the ' +
        'first chunk was returned and now may show up in the list.',
      fresh,
    );
  }
  return { revision: found.revision > 0 ? found.revision : undefined, after: found.start };
}

/** Waits a little for a version that is not there yet. Throws 504. */
async function reach(state: ApiState, view: View, token: string, revision: number): Promise<void> {
  const current = (): number => view.revision() ?? state.store.revision;
  for (let waited = 0; current() < revision; waited += FUTURE_POLL_MS) {
    if (waited >= FUTURE_WAIT_MS) throw tooLargeVersion(token, state.store.tokens.print(current()));
    await state.clock.delay(FUTURE_POLL_MS);
  }
}
