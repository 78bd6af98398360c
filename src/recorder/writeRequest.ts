import { isJsonObject, type Json } from '../codec/json.ts';
import type { WriteEvent } from '../core/traceEvent.ts';
import type { RequestInfo } from './requestInfo.ts';

/** What a write's request says by itself. */
export interface WriteRequest {
  readonly verb: WriteEvent['verb'];
  readonly patchType?: NonNullable<WriteEvent['patchType']>;
  readonly manager?: string;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly preconditions?: { uid?: string; token?: string };
}

const PATCH_TYPES: ReadonlyMap<string, NonNullable<WriteEvent['patchType']>> = new Map(
  Object.entries({
    'application/json-patch+json': 'json-patch',
    'application/merge-patch+json': 'merge-patch',
    'application/strategic-merge-patch+json': 'strategic',
    'application/apply-patch+yaml': 'apply',
    'application/apply-patch+cbor': 'apply',
  }),
);

/** The patch type that a Content-Type names; the body never decides it. */
export function patchTypeOf(contentType: string): WriteEvent['patchType'] {
  return PATCH_TYPES.get(contentType.split(';')[0]?.trim().toLowerCase() ?? '');
}

/** Reads verb, options and preconditions; undefined for a request that writes nothing. */
export function writeRequest(
  info: RequestInfo,
  patchType: WriteEvent['patchType'],
  body: Json | undefined,
): WriteRequest | undefined {
  const { verb } = info;
  if (verb === 'get' || verb === 'list' || verb === 'watch' || verb === 'other') return undefined;
  const manager = info.query.get('fieldManager') ?? '';
  const force = info.query.get('force');
  const options = verb === 'delete' && isJsonObject(body) ? body['dryRun'] : undefined;
  const dryRun = info.query.has('dryRun') || (Array.isArray(options) && options.length > 0);
  const preconditions = preconditionsOf(verb, patchType, body);
  return {
    verb: verb === 'patch' && patchType === 'apply' ? 'apply' : verb,
    ...(verb === 'patch' && patchType !== undefined ? { patchType } : {}),
    ...(manager === '' ? {} : { manager }),
    ...(force === null || force === 'false' || force === '0' ? {} : { force: true }),
    ...(dryRun ? { dryRun: true } : {}),
    ...(preconditions === undefined ? {} : { preconditions }),
  };
}

function preconditionsOf(
  verb: string,
  patchType: WriteEvent['patchType'],
  body: Json | undefined,
): { uid?: string; token?: string } | undefined {
  if (verb === 'create' || verb === 'deletecollection') return undefined;
  if (verb === 'delete')
    return isJsonObject(body) && isJsonObject(body['preconditions'])
      ? pair(body['preconditions']['uid'], body['preconditions']['resourceVersion'])
      : undefined;
  if (patchType === 'json-patch') return operationsPair(body);
  const metadata = isJsonObject(body) ? body['metadata'] : undefined;
  return isJsonObject(metadata) ? pair(metadata['uid'], metadata['resourceVersion']) : undefined;
}

function operationsPair(body: Json | undefined): { uid?: string; token?: string } | undefined {
  if (!Array.isArray(body)) return undefined;
  const at = (path: string): Json | undefined => {
    const operation = body.findLast(
      (item) =>
        isJsonObject(item) && item['path'] === path && typeof item['op'] === 'string' && item['op'] !== 'remove',
    );
    return isJsonObject(operation) ? operation['value'] : undefined;
  };
  return pair(at('/metadata/uid'), at('/metadata/resourceVersion'));
}

function pair(uid: Json | undefined, token: Json | undefined): { uid?: string; token?: string } | undefined {
  const found = {
    ...(typeof uid === 'string' && uid !== '' ? { uid } : {}),
    ...(typeof token === 'string' && token !== '' ? { token } : {}),
  };
  return Object.keys(found).length === 0 ? undefined : found;
}
