import { randomInt, randomUUID } from 'node:crypto';

import type { JsonObject } from '../codec/json.ts';
import { checkNamespaceTakesNew } from './namespaces.ts';
import { dedupOwnerReferences } from './ownerReferences.ts';
import { bucketOf, keyOf } from './registry.ts';
import {
  inVersion,
  metadataOf,
  metaString,
  resourceOf,
  timestamp,
  writeContext,
  type ApiState,
  type Call,
} from './state.ts';
import { alreadyExists, bareError, invalid } from './status.ts';
import { noteCreated } from './unsettled.ts';

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** 63 less the suffix. */
const MAX_GENERATED_BASE = 58;
const MAX_TRIES = 8;

/**
 * Creates an object that is decoded, defaulted and tracked: namespace, admission, system fields, validation, storing, in
 * the API server's order. Answers what was stored; with a dry run, what would have been, with the version that was sent.
 * `byUpdate`: a PUT or an apply found nothing to change; the version it carried then means nothing.
 */
export function createObject(state: ApiState, call: Call, object: JsonObject, byUpdate = false): JsonObject {
  checkNamespaceTakesNew(state, call, call.name === '' ? metaString(object, 'name') : call.name);
  state.mutate?.(object, 'CREATE', call.kind);
  dedupOwnerReferences(object, call.warnings, true);
  const { kind, namespace } = call;
  const metadata = metadataOf(object);
  const sentVersion = metaString(object, 'resourceVersion');
  fillSystemFields(state, metadata);
  const generated = generateName(state, call, metadata);
  delete metadata['deletionTimestamp'];
  delete metadata['deletionGracePeriodSeconds'];
  const context = writeContext(state, call);
  kind.prepareCreate(object, context);
  try {
    const errors = kind.validateCreate(object);
    if (errors.length > 0)
      throw invalid({ group: kind.storage.group, kind: kind.kind }, metaString(object, 'name'), errors);
    call.warnings.push(...kind.warnings(object, undefined, call.subresource));
    const parsed = state.store.tokens.parse(sentVersion);
    if (!byUpdate && !call.dryRun && 'revision' in parsed && parsed.revision !== 0)
      throw bareError('resourceVersion should not be set on objects to be created');
    if (!call.dryRun) delete metadata['resourceVersion'];
    const key = keyOf(kind, namespace, metaString(object, 'name'));
    const live = state.store.get(bucketOf(kind), key);
    if (live !== undefined && !generated) {
      throw alreadyExists(
        resourceOf(kind),
        metaString(object, 'name'),
        metaString(live.object, 'deletionTimestamp') !== '',
      );
    }
    if (call.dryRun) return object;
    const stored = state.store.put(bucketOf(kind), key, inVersion(object, state.registry.storageKind(kind)));
    noteCreated(kind, stored.object);
    return inVersion(stored.object, kind);
  } catch (error) {
    kind.released(object, context);
    throw error;
  }
}

function fillSystemFields(state: ApiState, metadata: JsonObject): void {
  metadata['uid'] = randomUUID();
  metadata['creationTimestamp'] = timestamp(state.clock.now());
}

/** Names an object that has only a generateName; tries again while the name is taken. */
function generateName(state: ApiState, call: Call, metadata: JsonObject): boolean {
  const base = metadata['generateName'];
  if (typeof base !== 'string' || base === '' || (typeof metadata['name'] === 'string' && metadata['name'] !== ''))
    return false;
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    const name = base.slice(0, MAX_GENERATED_BASE) + randomSuffix();
    metadata['name'] = name;
    if (state.store.get(bucketOf(call.kind), keyOf(call.kind, call.namespace, name)) === undefined) return true;
  }
  return false;
}

function randomSuffix(): string {
  let suffix = '';
  for (let index = 0; index < SUFFIX_LENGTH; index += 1)
    suffix += SUFFIX_ALPHABET[randomInt(SUFFIX_ALPHABET.length)] ?? '';
  return suffix;
}
