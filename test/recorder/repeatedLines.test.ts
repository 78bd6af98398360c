import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isJsonObject, parseJson, stringifyJson, type Json, type JsonObject } from '../../src/codec/json.ts';
import type { Actor, NewTraceEvent } from '../../src/core/traceEvent.ts';
import { auditEvents, type AuditReading } from '../../src/recorder/auditEvents.ts';
import { shallow } from '../../src/recorder/auditLine.ts';
import { RepeatedLines } from '../../src/recorder/repeatedLines.ts';
import { ShardView } from '../../src/recorder/shard.ts';

const CONTEXT = { cluster: 'audit', secretKey: 'k', actors: new Map<string, Actor>() };
const LEVELS = ['Metadata', 'Request', 'RequestResponse'] as const;
const OBJECTS = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Texts that look like what stands around them in a line. */
const nasty = fc.constantFrom(
  'plain',
  ',"spec":{"a":1},"status":{"b":2}',
  '"deletionTimestamp"',
  '},"responseStatus":{"metadata":{},"code":200},',
  '"uid":"uid-a","resourceVersion":"999"',
  ',"responseObject":{',
  ',"requestReceivedTimestamp":"2020-01-01T00:00:00Z","stageTimestamp":"2020-01-01T00:00:00Z"}',
  'ünï \\ \n }',
);
const content: fc.Arbitrary<Json> = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    nasty,
    fc.integer({ min: -9, max: 99 }),
    fc.constant(12345678901234567890n),
    tie('object'),
  ),
  object: fc.dictionary(
    fc.constantFrom('replicas', 'spec', 'status', 'metadata', 'uid', 'resourceVersion', 'a'),
    tie('value'),
    {
      maxKeys: 4,
    },
  ),
})).object;

interface Request {
  readonly object: string;
  readonly verb: 'get' | 'update' | 'patch' | 'delete';
  readonly level: (typeof LEVELS)[number];
  readonly who: string;
  readonly agent: string | undefined;
  readonly code: 200 | 409;
  readonly toStatus: boolean;
  readonly isTyped: boolean;
  readonly note: string;
  readonly reason: string;
  readonly spec: Json | undefined;
  readonly ending: 'none' | 'begun' | 'held';
  readonly isChecked: boolean;
}

const request: fc.Arbitrary<Request> = fc.record({
  object: fc.constantFrom(...OBJECTS),
  verb: fc.constantFrom('get', 'update', 'update', 'update', 'patch', 'delete'),
  level: fc.constantFrom(...LEVELS, 'RequestResponse'),
  who: fc.constantFrom('me', 'you', ',"objectRef":{"resource":"x"}'),
  agent: fc.constantFrom('agent/v1', 'agent/v1', undefined),
  code: fc.constantFrom(200, 200, 200, 409),
  toStatus: fc.boolean(),
  isTyped: fc.constantFrom(true, true, false),
  note: nasty,
  reason: fc.oneof({ weight: 3, arbitrary: fc.constant('allowed') }, nasty),
  spec: fc.option(content, { nil: undefined }),
  ending: fc.constantFrom('none', 'none', 'none', 'begun', 'held'),
  isChecked: fc.constantFrom(true, true, false),
});

const NAME = { group: 'apps', resource: 'deployments', namespace: 'n', name: 'a' };
const PLAIN: Request = {
  object: 'a',
  verb: 'get',
  level: 'Metadata',
  who: 'me',
  agent: 'agent/v1',
  code: 200,
  toStatus: false,
  isTyped: true,
  note: '',
  reason: '',
  spec: undefined,
  ending: 'none',
  isChecked: true,
};

const REQUEST = '"requestObject":';
const RECEIVED = '"requestReceivedTimestamp":';
/** The shard to which that object does not belong. */
const OTHERS = [0, 1].map((index) => ({ index, count: 2 })).find((shard) => !new ShardView(shard).has(NAME)) ?? {
  index: 0,
  count: 2,
};

/** What may stand somewhere in a line by mistake. */
const damage = fc.constantFrom(
  '',
  '',
  '0',
  'x',
  '"',
  '}',
  ',',
  '\\',
  '\t',
  ' ',
  ',"verb":"list","x":{}',
  '}}{"a":{}',
  '\\u0041',
);

/** Requests one after another as an API server writes them into its audit log. */
function linesOf(requests: readonly Request[]): string[] {
  const versions = new Map<string, number>();
  return requests.map((item, index) => {
    const { object, verb, level, who, agent, code, toStatus, isTyped, note, reason, spec, ending, isChecked } = item;
    const version = versions.get(object) ?? 1;
    const writes = verb === 'update' || verb === 'patch';
    if (writes && code === 200) versions.set(object, version + 1);
    const body = (token: number): JsonObject => {
      const identity = { uid: `uid-${object}`, resourceVersion: String(token) };
      const end = ending === 'none' ? {} : { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
      const rest = {
        annotations: { note },
        ...(ending === 'held' ? { finalizers: ['x/y'] } : {}),
        managedFields: [{ manager: note }],
      };
      const own = {
        name: object,
        namespace: 'n',
        ...(isChecked || token > version ? identity : {}),
        generation: index,
        ...end,
        ...rest,
      };
      const metadata = isTyped ? own : sorted(own);
      const type = isTyped
        ? { kind: 'Deployment', apiVersion: 'apps/v1' }
        : { apiVersion: 'apps/v1', kind: 'Deployment' };
      return {
        ...type,
        metadata,
        ...(spec === undefined ? {} : { spec }),
        ...(toStatus ? { status: { note, replicas: index } } : {}),
      };
    };
    const time = (ms: number): string =>
      new Date(Date.UTC(2026, 0, 1) + index * 10 + ms).toISOString().replace('Z', '000Z');
    const sub = toStatus ? { subresource: 'status' } : {};
    const isSent = level !== 'Metadata' && verb !== 'get';
    const isShown = level === 'RequestResponse';
    return stringifyJson({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level,
      auditID: String(index),
      stage: 'ResponseComplete',
      requestURI: `/apis/apps/v1/namespaces/n/deployments/${object}${toStatus ? '/status' : ''}`,
      verb,
      user: { username: who, groups: ['g'] },
      sourceIPs: ['10.0.0.1'],
      ...(agent === undefined ? {} : { userAgent: agent }),
      objectRef: {
        resource: 'deployments',
        namespace: 'n',
        name: object,
        ...(verb === 'update' && isChecked ? { uid: `uid-${object}` } : {}),
        apiGroup: 'apps',
        apiVersion: 'v1',
        ...(verb === 'update' && isChecked ? { resourceVersion: String(version) } : {}),
        ...sub,
      },
      responseStatus: { metadata: {}, ...(code === 200 ? {} : { status: 'Failure', reason: 'Conflict' }), code },
      ...(isSent ? { requestObject: body(version) } : {}),
      ...(isShown
        ? { responseObject: code === 200 ? body(writes ? version + 1 : version) : { kind: 'Status', metadata: {} } }
        : {}),
      requestReceivedTimestamp: time(0),
      stageTimestamp: time(3),
      annotations: { reason },
    });
  });
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What the events of lines are to one shard, or to one run; each read from its text where that can be. */
function readAll(
  lines: readonly string[],
  view: ShardView | undefined,
  isQuick: boolean,
): { events: NewTraceEvent[][]; quick: Set<string> } {
  const repeated = new RepeatedLines(shallow, view);
  const quick = new Set<string>();
  const events = lines.map((line) => {
    const known = isQuick ? repeated.read(line) : undefined;
    const reading = known ?? parsed(line);
    if (reading === undefined) return [];
    if (known === undefined) repeated.learn(line, reading);
    const read = reading.events.map((event) => view?.of(event) ?? event);
    if (known !== undefined) for (const { type } of reading.events) quick.add(`${reading.level} ${type}`);
    return [{ ...read[0], at: reading.at } as NewTraceEvent, ...read.slice(1)];
  });
  return { events, quick };
}

/** What a line says when it is parsed; undefined where it is none. */
function parsed(line: string): AuditReading | undefined {
  try {
    return auditEvents(parseJson(line), CONTEXT);
  } catch {
    return undefined;
  }
}

/** What a shard needs of an event of another shard's object. */
function needed(event: NewTraceEvent, view: ShardView | undefined): unknown {
  if (!('name' in event) || view === undefined || view.has(event.name)) return event;
  const { type, at, name, uid, token, apiVersion, kind, creationTimestamp, leaves } = event as NewTraceEvent & {
    type: 'observed';
  };
  if (event.type === 'observed') return { type, at, name, uid, token, apiVersion, kind, creationTimestamp, leaves };
  if (event.type !== 'write') return event;
  const { body: _body, result, ...rest } = event;
  return { ...rest, result: result === undefined ? undefined : { ...result, generation: undefined } };
}

describe('lines of an audit log that repeat earlier ones', () => {
  it('say what they say when they are parsed, to one run and to each shard, whatever stands in them', () => {
    const quick = new Set<string>();
    fc.assert(
      fc.property(fc.array(request, { minLength: 10, maxLength: 60 }), (requests) => {
        const lines = linesOf(requests);
        for (const shard of [undefined, { index: 0, count: 2 }, { index: 1, count: 2 }]) {
          const [view, other] = [0, 1].map(() => (shard === undefined ? undefined : new ShardView(shard)));
          const read = readAll(lines, view, true);
          const parsed = readAll(lines, other, false);
          for (const one of read.quick) quick.add(`${shard === undefined ? 'run' : 'shard'}: ${one}`);
          for (const [index, events] of read.events.entries())
            assert.deepEqual(
              events.map((event) => needed(event, view)),
              parsed.events[index]?.map((event) => needed(event, other)),
              lines[index],
            );
        }
      }),
      { numRuns: 500, seed: 5 },
    );
    for (const one of [
      'run: Metadata read',
      'run: Metadata write',
      'shard: Request write',
      'shard: RequestResponse observed',
    ])
      assert.ok(quick.has(one), `${one} was among what was not parsed: ${[...quick].join()}`);
  });

  it('say what they say when they are parsed, or are parsed, where one place of them is damaged or says something else', () => {
    const quick = new Set<string>();
    const kind = fc.constantFrom<Partial<Request>>(
      { verb: 'get' },
      { verb: 'update' },
      { verb: 'delete' },
      { verb: 'update', level: 'RequestResponse', spec: {} },
    );
    fc.assert(
      fc.property(kind, fc.nat(), fc.nat(3), damage, (item, at, cut, put) => {
        const [first = '', second = ''] = linesOf([
          { ...PLAIN, ...item },
          { ...PLAIN, ...item },
        ]);
        // A shard need not see what is wrong in bodies of others.
        const [from, to] = [REQUEST, RECEIVED].map((text) => second.indexOf(text));
        const bodies = from === undefined || from < 0 || to === undefined ? 0 : to - from;
        const outside = at % (second.length - bodies - cut + 1);
        const place = bodies === 0 || outside + cut <= (from ?? 0) ? outside : outside + bodies;
        const line = second.slice(0, place) + put + second.slice(place + cut);
        const [view, other] = [0, 1].map(() => new ShardView(OTHERS));
        const [read, parsed] = [readAll([first, line], view, true), readAll([first, line], other, false)];
        for (const one of read.quick) quick.add(one);
        assert.deepEqual(
          read.events.map((events) => events.map((event) => needed(event, view))),
          parsed.events.map((events) => events.map((event) => needed(event, other))),
          line,
        );
      }),
      { numRuns: 3_000, seed: 2 },
    );
    for (const one of ['Metadata read', 'Metadata write', 'RequestResponse observed'])
      assert.ok(quick.has(one), `${one} was among what was not parsed: ${[...quick].join()}`);
  });

  it('are parsed where they are cut off, or written in another order', () => {
    const [first = '', second = ''] = linesOf([PLAIN, PLAIN]);
    const repeated = new RepeatedLines(shallow);
    const reading = auditEvents(parseJson(first), CONTEXT);
    assert.ok(reading !== undefined);
    repeated.learn(first, reading);
    assert.deepEqual(repeated.read(second), auditEvents(parseJson(second), CONTEXT));
    assert.equal(repeated.read(second.slice(0, -1)), undefined);
    const event = parseJson(second);
    assert.ok(isJsonObject(event));
    const { user, ...rest } = event;
    assert.equal(repeated.read(JSON.stringify({ user: user ?? null, ...rest })), undefined);
  });
});
