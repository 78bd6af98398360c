import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cloneJson, isJsonObject, type Json, type JsonObject } from '../../src/codec/json.ts';
import { createDetector } from '../../src/core/findings/detect.ts';
import type { Finding } from '../../src/core/findings/finding.ts';
import type { DetectorOptions } from '../../src/core/findings/options.ts';
import { isInShard, ShardView } from '../../src/recorder/shard.ts';
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

/**
 * The findings of a trace, which are the same, words and order included, when all its tokens are called otherwise and when
 * it is looked at live, between its events, and when keys come in another order; and, in any order, when its objects are looked at in shards.
 */
export function findingsOf(events: readonly TraceEvent[], options: DetectorOptions = {}): Finding[] {
  const found = detect(events, options);
  const otherwise = new OtherTokens();
  assert.deepEqual(
    otherwise.back(detect(otherwise.rename(events), options)),
    otherwise.back(found),
    'with other tokens',
  );
  assert.deepEqual(detect(events, options, TICKS), found, 'live');
  const turned = events.map((event, index) =>
    index % 2 === 0 ? event : (turn(event as unknown as Json) as unknown as TraceEvent),
  );
  assert.deepEqual(detect(turned, options), found, 'with the keys of every other event in another order');
  for (const count of SHARDS)
    assert.deepEqual(sorted(detectInShards(events, count, options)), sorted(found), `${count} shards`);
  return found;
}

/** The same value with its keys the other way round. */
function turn(value: Json): Json {
  if (Array.isArray(value)) return value.map(turn);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, turn(item)]),
  );
}

const SHARDS = [2, 3, 5];

/** What the shards of a trace find, each of its own objects. */
export function detectInShards(events: readonly TraceEvent[], count: number, options: DetectorOptions = {}): Finding[] {
  return Array.from({ length: count }, (_item, index) => ({ index, count })).flatMap((shard) => {
    const view = new ShardView(shard);
    return detect(
      events.map((event) => view.of(event)),
      { ...options, isAsked: (name) => isInShard(name, shard) },
    );
  });
}

function sorted(findings: readonly Finding[]): string[] {
  return findings.map((finding) => JSON.stringify(finding)).sort();
}

/** Parts of the time between two events at which a live log is looked at. */
const TICKS = [0, 0.1, 0.5, 0.9, 1];

/** The findings of a trace, looked at live also at these parts of the times between its events. */
export function detect(
  events: readonly TraceEvent[],
  options: DetectorOptions = {},
  ticks: readonly number[] = [],
): Finding[] {
  const detector = createDetector(options);
  let now = events[0]?.at ?? 0;
  for (const event of events) {
    for (const part of ticks) if (event.at > now) detector.advance(now + part * (event.at - now));
    now = Math.max(now, event.at);
    detector.add(event);
  }
  detector.end();
  return detector.findings();
}

/** Calls every token of a trace otherwise, in no order of theirs, and takes that back in what was found. */
export class OtherTokens {
  private readonly tokens = new Map<string, string>();
  private readonly salt: string;

  constructor(salt = '') {
    this.salt = salt;
  }

  rename(events: readonly TraceEvent[]): TraceEvent[] {
    return events.map((event) => this.visit(event as unknown as Json, '') as unknown as TraceEvent);
  }

  back(findings: readonly Finding[]): unknown {
    return JSON.parse(
      JSON.stringify(findings).replaceAll(/token-[0-9a-f]{16}-/g, (name) => this.tokens.get(name) ?? name),
    );
  }

  private visit(value: Json, field: string): Json {
    if (typeof value === 'string') return field === 'token' || field === 'resourceVersion' ? this.nameOf(value) : value;
    if (Array.isArray(value)) return value.map((item) => this.visit(item, ''));
    if (!isJsonObject(value)) return value;
    const ofToken = value['path'] === '/metadata/resourceVersion';
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, this.visit(item, ofToken && key === 'value' ? 'token' : key)]),
    );
  }

  /** None and "0" are no versions of an object, but say which ones will do. */
  private nameOf(token: string): string {
    if (token === '' || token === '0') return token;
    const name = `token-${createHash('sha256').update(`${this.salt}/${token}`).digest('hex').slice(0, 16)}-`;
    this.tokens.set(name, token);
    return name;
  }
}

export function shortOf(findings: readonly Finding[]): string[] {
  return findings.map((finding) => (finding.kind === undefined ? finding.id : `${finding.id}/${finding.kind}`)).sort();
}

export const data = (values: Record<string, Json>): JsonObject => ({ data: values });

/** A and B were given the first version of an object; since then B has added `.data.bob`. */
export function bothRead(name: ObjectName): Scenario {
  const s = new Scenario();
  s.stream(name, 'U1', 'v1', data({ ann: '1' }));
  s.get('A', name, 'U1', 'v1');
  s.get('B', name, 'U1', 'v1');
  s.write('B', name, 'replace', {
    preconditions: { token: 'v1' },
    body: data({ ann: '1', bob: '1' }),
    result: { uid: 'U1', token: 'v2' },
    stored: data({ ann: '1', bob: '1' }),
  });
  return s;
}
