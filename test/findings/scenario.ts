import { cloneJson, isJsonObject, type Json, type JsonObject } from '../../src/codec/json.ts';
import { createDetector } from '../../src/core/findings/detect.ts';
import type { Finding } from '../../src/core/findings/finding.ts';
import type { DetectorOptions } from '../../src/core/findings/options.ts';
import type { Actor, NewTraceEvent, ObjectName, TraceEvent, WriteEvent } from '../../src/core/traceEvent.ts';

type WriteParts = Partial<Omit<WriteEvent, 'type' | 'seq' | 'at' | 'name' | 'actor'>>;

export const configMap = (name = 'demo'): ObjectName => ({ group: '', resource: 'configmaps', namespace: 'lab', name });
export const toy = (name = 'demo'): ObjectName => ({ group: 'example.test', resource: 'toys', namespace: 'lab', name });

/** Builds a trace by hand, as a recorder would have written it: time moves by 100 ms with each step unless told otherwise. */
export class Scenario {
  readonly events: TraceEvent[] = [];
  at = 1_000_000;
  via: TraceEvent['via'] = 'recorder';
  private streams = new Set<string>();

  wait(ms: number): this {
    this.at += ms;
    return this;
  }

  push(
    event: NewTraceEvent extends infer E
      ? E extends NewTraceEvent
        ? Omit<E, 'at' | 'via' | 'cluster'>
        : never
      : never,
  ): void {
    this.at += 100;
    this.events.push({ ...event, seq: this.events.length + 1, at: this.at, via: this.via, cluster: 'c1' });
  }

  observe(name: ObjectName, uid: string, token: string, content: JsonObject = {}, more: JsonObject = {}): void {
    const metadata: JsonObject = {
      name: name.name,
      namespace: name.namespace,
      uid,
      resourceVersion: token,
      ...(isJsonObject(content['metadata']) ? content['metadata'] : {}),
    };
    const body = cloneJson<JsonObject>({ ...content, metadata });
    const status = body['status'];
    this.push({
      type: 'observed',
      name,
      uid,
      token,
      body,
      ...(Array.isArray(metadata['managedFields']) ? { managedFields: metadata['managedFields'] } : {}),
      ...(Array.isArray(metadata['ownerReferences']) ? { ownerReferences: metadata['ownerReferences'] } : {}),
      ...(isJsonObject(metadata['labels']) ? { labels: metadata['labels'] as Record<string, string> } : {}),
      ...(typeof metadata['deletionTimestamp'] === 'string'
        ? { deletionTimestamp: metadata['deletionTimestamp'] }
        : {}),
      ...(typeof metadata['creationTimestamp'] === 'string'
        ? { creationTimestamp: metadata['creationTimestamp'] }
        : {}),
      ...(typeof metadata['generation'] === 'number' ? { generation: metadata['generation'] } : {}),
      ...(isJsonObject(status) && typeof status['observedGeneration'] === 'number'
        ? { observedGeneration: status['observedGeneration'] }
        : {}),
      ...more,
    });
  }

  /** The version as the recorder's own watch delivers it. */
  stream(name: ObjectName, uid: string, token: string, content: JsonObject, more: JsonObject = {}): void {
    const stream = `w-${name.resource}`;
    const change = this.streams.has(`${stream}${uid}`) ? 'MODIFIED' : 'ADDED';
    this.streams.add(`${stream}${uid}`);
    this.observe(name, uid, token, content, { stream, change, ...more });
  }

  get(client: string, name: ObjectName, uid: string, token: string, more: JsonObject = {}): void {
    this.push({
      type: 'read',
      actor: { client },
      verb: 'get',
      scope: { group: name.group, resource: name.resource, namespace: name.namespace, name: name.name },
      given: [{ namespace: name.namespace, name: name.name, uid, token }],
      cacheAllowed: false,
      ...more,
    });
  }

  watched(client: string, name: ObjectName, uid: string, token: string, more: JsonObject = {}): void {
    this.push({
      type: 'read',
      actor: { client },
      verb: 'watch',
      scope: { group: name.group, resource: name.resource },
      given: [{ namespace: name.namespace, name: name.name, uid, token, ...more }],
      cacheAllowed: true,
    });
  }

  write(
    client: string | Actor,
    name: ObjectName,
    verb: WriteEvent['verb'],
    parts: WriteParts & { stored?: JsonObject } = {},
  ): void {
    const { stored, ...rest } = parts;
    const actor = typeof client === 'string' ? { client } : client;
    this.push({ type: 'write', actor, verb, name, outcome: 'accepted', code: 200, ...rest });
    if (stored !== undefined && parts.result !== undefined)
      this.stream(name, parts.result.uid, parts.result.token, stored);
  }

  gone(name: ObjectName, uid: string): void {
    this.push({ type: 'absent', name, uid, how: 'event' });
  }

  findings(options: DetectorOptions = {}): Finding[] {
    return findingsOf(this.events, options);
  }

  /** The findings as `id` or `id/kind`, those that are mere information left out. */
  told(options: DetectorOptions = {}): string[] {
    return shortOf(this.findings(options).filter((finding) => finding.severity !== 'info'));
  }
}

export function findingsOf(events: readonly TraceEvent[], options: DetectorOptions = {}): Finding[] {
  const detector = createDetector(options);
  for (const event of events) detector.add(event);
  detector.end();
  return detector.findings();
}

export function shortOf(findings: readonly Finding[]): string[] {
  return findings.map((finding) => (finding.kind === undefined ? finding.id : `${finding.id}/${finding.kind}`)).sort();
}

export const data = (values: Record<string, Json>): JsonObject => ({ data: values });
