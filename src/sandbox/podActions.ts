import { cloneJson, isJsonObject, type JsonObject } from '../codec/json.ts';
import { readDeleteOptions } from './deleteOptions.ts';
import { deleteObject } from './deletion.ts';
import { metaString, timestamp, type ApiState, type Call } from './state.ts';
import { badRequest, bareError, conflict, created, notFound, uidMismatch } from './status.ts';

const PODS = { group: '', resource: 'pods' };
const BINDING = { group: '', resource: 'pods/binding' };

/** Binds a Pod to a node; once. `body` is a Binding. Source: the BindingREST of the pods registry. */
export function bindPod(state: ApiState, call: Call, body: JsonObject): JsonObject {
  const metadata = isJsonObject(body['metadata']) ? body['metadata'] : {};
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const named = text(metadata['name']);
  if (named !== call.name) throw badRequest('name in URL does not match name in Binding object');
  const node = isJsonObject(body['target']) ? text(body['target']['name']) : '';
  const targetKind = isJsonObject(body['target']) ? text(body['target']['kind']) : '';
  if (targetKind !== '' && targetKind !== 'Node')
    throw bareError(
      `target.kind: Unsupported value: ${JSON.stringify(targetKind)}: supported values: "Node", "<empty>"`,
    );
  if (node === '') throw bareError('target.name: Required value');
  const key = `${call.namespace}/${call.name}`;
  const pod = state.store.get('/pods', key)?.object;
  if (pod === undefined) throw notFound(PODS, call.name);
  const uid = text(metadata['uid']);
  if (uid !== '' && uid !== metaString(pod, 'uid'))
    throw uidMismatch(PODS, call.name, `/registry/pods/${key}`, uid, metaString(pod, 'uid'));
  const version = text(metadata['resourceVersion']);
  if (version !== '' && version !== metaString(pod, 'resourceVersion')) {
    const why = `Precondition failed: ResourceVersion in precondition: ${version}, ResourceVersion in object meta: ${metaString(pod, 'resourceVersion')}`;
    throw conflict(
      PODS,
      call.name,
      `StorageError: invalid object, Code: 4, Key: /registry/pods/${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
    );
  }
  if (metaString(pod, 'deletionTimestamp') !== '')
    throw conflict(BINDING, call.name, `pod ${call.name} is being deleted, cannot be assigned to a host`);
  const assigned = text((pod['spec'] as JsonObject)['nodeName']);
  if (assigned !== '')
    throw conflict(BINDING, call.name, `pod ${call.name} is already assigned to node ${JSON.stringify(assigned)}`);
  if (!call.dryRun) state.store.put('/pods', key, assign(state, pod, node));
  return created();
}

function assign(state: ApiState, pod: JsonObject, node: string): JsonObject {
  const next = cloneJson(pod);
  (next['spec'] as JsonObject)['nodeName'] = node;
  const status = (next['status'] ?? {}) as JsonObject;
  const conditions = ((status['conditions'] ?? []) as JsonObject[]).filter(
    (condition) => condition['type'] !== 'PodScheduled',
  );
  const scheduled: JsonObject = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(state.clock.now()),
  };
  next['status'] = { ...status, conditions: [...conditions, scheduled] };
  return next;
}

/** A Pod that is evicted says so before it goes, unless the eviction is of another one (`uid`, '' for any). */
function tellDisruption(state: ApiState, call: Call, uid: string): void {
  const key = `${call.namespace}/${call.name}`;
  const pod = state.store.get('/pods', key)?.object;
  if (pod === undefined || metaString(pod, 'deletionTimestamp') !== '') return;
  if (uid !== '' && uid !== metaString(pod, 'uid')) return;
  const next = cloneJson(pod);
  const status = (next['status'] ?? {}) as JsonObject;
  const condition: JsonObject = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(state.clock.now()),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  next['status'] = { ...status, conditions: [...((status['conditions'] ?? []) as JsonObject[]), condition] };
  state.store.put('/pods', key, next);
}

/** Evicts a Pod, which without disruption budgets deletes it. `body` is an Eviction. */
export function evictPod(state: ApiState, call: Call, body: JsonObject): JsonObject {
  const name = isJsonObject(body['metadata']) ? body['metadata']['name'] : undefined;
  if (typeof name === 'string' && name !== '' && name !== call.name)
    throw badRequest('name in URL does not match name in Eviction object');
  const options = isJsonObject(body['deleteOptions']) ? body['deleteOptions'] : {};
  const read = readDeleteOptions(JSON.stringify(options), 'application/json', new URLSearchParams());
  const dryRun = call.dryRun || read.dryRun;
  const demanded = isJsonObject(options['preconditions']) ? options['preconditions']['uid'] : undefined;
  if (!dryRun) tellDisruption(state, call, typeof demanded === 'string' ? demanded : '');
  deleteObject(state, { ...call, subresource: '', dryRun }, read);
  return created();
}
