import type { Json, JsonObject } from '../codec/json.ts';
import { isJsonObject } from '../codec/json.ts';
import { writeOutcomes } from './traceEvent.ts';

type Check = (event: JsonObject) => string | undefined;

const OUTCOMES = new Set<string>(writeOutcomes);

const CHECKS: Readonly<Record<string, Check>> = {
  observed: (e) => nameProblem(e['name']) ?? text(e, 'uid') ?? text(e, 'token') ?? optionals(e),
  absent: (e) => nameProblem(e['name']) ?? text(e, 'how') ?? optionalText(e, 'uid') ?? optionalText(e, 'token'),
  gap: (e) =>
    text(e, 'gap') ?? scopeProblem(e['scope']) ?? number(e, 'from') ?? optionalNumber(e, 'to') ?? text(e, 'cause'),
  read: (e) => object(e, 'actor') ?? text(e, 'verb') ?? scopeProblem(e['scope']) ?? givenProblem(e['given']),
  write: (e) => nameProblem(e['name']) ?? object(e, 'actor') ?? text(e, 'verb') ?? outcomeProblem(e) ?? writeParts(e),
  note: (e) =>
    text(e, 'text') ??
    (e['name'] === undefined ? undefined : nameProblem(e['name'])) ??
    (e['association'] === undefined ? undefined : associationProblem(e['association'])),
};

/**
 * Why a value is not an event of the trace format, or undefined if it is one. Checks every member that the projections
 * rely on, so that no line of a file can bring them down; members it does not know are left alone.
 */
export function eventProblem(value: unknown): string | undefined {
  if (!isJsonObject(value)) return 'it is not an object';
  const type = value['type'];
  const check = typeof type === 'string' && Object.hasOwn(CHECKS, type) ? CHECKS[type] : undefined;
  if (check === undefined) return 'its type is unknown';
  return number(value, 'seq') ?? number(value, 'at') ?? text(value, 'via') ?? text(value, 'cluster') ?? check(value);
}

function text(event: JsonObject, member: string): string | undefined {
  return typeof event[member] === 'string' ? undefined : `${member} is not a string`;
}

function optionalText(event: JsonObject, member: string): string | undefined {
  return event[member] === undefined ? undefined : text(event, member);
}

function number(event: JsonObject, member: string): string | undefined {
  return typeof event[member] === 'number' ? undefined : `${member} is not a number`;
}

function optionalNumber(event: JsonObject, member: string): string | undefined {
  return event[member] === undefined ? undefined : number(event, member);
}

function object(event: JsonObject, member: string): string | undefined {
  return isJsonObject(event[member]) ? undefined : `${member} is not an object`;
}

function optionalObject(event: JsonObject, member: string): string | undefined {
  return event[member] === undefined ? undefined : object(event, member);
}

function optionalList(event: JsonObject, member: string): string | undefined {
  return event[member] === undefined || Array.isArray(event[member]) ? undefined : `${member} is not a list`;
}

function optionals(event: JsonObject): string | undefined {
  return (
    optionalText(event, 'stream') ??
    optionalText(event, 'apiVersion') ??
    optionalText(event, 'kind') ??
    optionalText(event, 'deletionTimestamp') ??
    optionalText(event, 'creationTimestamp') ??
    optionalNumber(event, 'generation') ??
    optionalNumber(event, 'observedGeneration') ??
    optionalList(event, 'managedFields') ??
    optionalList(event, 'ownerReferences') ??
    optionalList(event, 'finalizers') ??
    optionalObject(event, 'labels') ??
    optionalObject(event, 'annotations') ??
    optionalObject(event, 'leaves') ??
    optionalObject(event, 'body')
  );
}

function nameProblem(name: Json | undefined): string | undefined {
  if (!isJsonObject(name)) return 'name is not an object';
  return text(name, 'group') ?? text(name, 'resource') ?? text(name, 'namespace') ?? text(name, 'name');
}

function scopeProblem(scope: Json | undefined): string | undefined {
  if (!isJsonObject(scope)) return 'scope is not an object';
  return (
    text(scope, 'group') ?? text(scope, 'resource') ?? optionalText(scope, 'namespace') ?? optionalText(scope, 'name')
  );
}

function givenProblem(given: Json | undefined): string | undefined {
  if (!Array.isArray(given)) return 'given is not a list';
  for (const item of given) {
    if (!isJsonObject(item)) return 'given holds something else than objects';
    const problem = text(item, 'namespace') ?? text(item, 'name') ?? text(item, 'uid') ?? text(item, 'token');
    if (problem !== undefined) return `in given, ${problem}`;
  }
  return undefined;
}

function outcomeProblem(event: JsonObject): string | undefined {
  const outcome = event['outcome'];
  return typeof outcome === 'string' && OUTCOMES.has(outcome) ? undefined : 'outcome is unknown';
}

function writeParts(event: JsonObject): string | undefined {
  for (const member of ['result', 'basedOn']) {
    const part = event[member];
    if (part === undefined) continue;
    if (!isJsonObject(part)) return `${member} is not an object`;
    const problem = text(part, 'uid') ?? text(part, 'token');
    if (problem !== undefined) return `in ${member}, ${problem}`;
  }
  return (
    optionalObject(event, 'preconditions') ??
    optionalList(event, 'paths') ??
    optionalList(event, 'causes') ??
    optionalList(event, 'wonBy') ??
    optionalNumber(event, 'startedAt')
  );
}

function associationProblem(value: Json): string | undefined {
  if (!isJsonObject(value)) return 'association is not an object';
  return text(value, 'what') ?? text(value, 'id') ?? text(value, 'uid');
}
