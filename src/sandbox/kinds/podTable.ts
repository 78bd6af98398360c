import type { Json, JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { numberAt, objectsAt, textAt } from './access.ts';
import { ageOf, orNone } from './cells.ts';

/** The row of a pod: name, ready, status, restarts, age, ip, node, nominated node, readiness gates. */
export function podCells(pod: JsonObject, nowMs: number): Json[] {
  const statuses = objectsAt(pod, 'status', 'containerStatuses');
  const ready = statuses.filter(
    (status) => status['ready'] === true && isJsonObject(status['state']) && status['state']['running'] !== undefined,
  ).length;
  const restarts = statuses.reduce((sum, status) => sum + (numberAt(status, 'restartCount') ?? 0), 0);
  const gates = objectsAt(pod, 'spec', 'readinessGates');
  const conditions = objectsAt(pod, 'status', 'conditions');
  const met = gates.filter((gate) =>
    conditions.some((item) => item['type'] === gate['conditionType'] && item['status'] === 'True'),
  ).length;
  return [
    textAt(pod, 'metadata', 'name'),
    `${ready}/${objectsAt(pod, 'spec', 'containers').length}`,
    statusOf(pod, statuses),
    String(restarts),
    ageOf(pod, nowMs),
    orNone(textAt(pod, 'status', 'podIP')),
    orNone(textAt(pod, 'spec', 'nodeName')),
    orNone(textAt(pod, 'status', 'nominatedNodeName')),
    gates.length === 0 ? '<none>' : `${met}/${gates.length}`,
  ];
}

/** What `kubectl get` says of a pod: the reason a container waits or ended, else the phase; Terminating before all. */
function statusOf(pod: JsonObject, statuses: readonly JsonObject[]): string {
  let reason = textAt(pod, 'status', 'reason') || textAt(pod, 'status', 'phase');
  for (const status of statuses) {
    const waiting = textAt(status, 'state', 'waiting', 'reason');
    const ended = textAt(status, 'state', 'terminated', 'reason');
    if (waiting !== '') reason = waiting;
    else if (ended !== '') reason = ended;
  }
  if (textAt(pod, 'metadata', 'deletionTimestamp') === '') return reason;
  return textAt(pod, 'status', 'reason') === 'NodeLost' ? 'Unknown' : 'Terminating';
}
