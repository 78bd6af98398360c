import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createDetector } from '../../src/core/findings/detect.ts';
import { Anonymizer } from '../../src/core/anonymize.ts';
import { MARK_KINDS, type TimelineModel } from '../../src/core/timeline/model.ts';
import { sharedModel } from '../../src/core/timeline/sharedModel.ts';
import { english } from '../../src/core/timeline/translate.ts';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import { stringifyJson } from '../../src/codec/json.ts';
import { demo } from '../webview/scenario.ts';
import { lanesOf, numbered, projected } from './timeline/demoModel.ts';
import { TraceBuilder } from './traceBuilder.ts';

const { events } = demo();
const log = numbered(events);
const text = (value: unknown): string => stringifyJson(value as never);
const shape = (model: TimelineModel): unknown => ({
  kinds: Array.from(model.marks.kind, (kind) => MARK_KINDS[kind]),
  lanes: Array.from(model.marks.lane),
  at: model.marks.at,
  links: model.links,
  bars: lanesOf(model).map((lane) => lane.bars.map(({ uid: _uid, ...bar }) => bar)),
  annotations: model.annotations.map(({ lane, originLane, glyph }) => [lane, originLane, glyph]),
});

describe('a trace to share', () => {
  const anonymizer = new Anonymizer('secret');
  const replaced = log.map((event) => anonymizer.event(event));

  it('calls a user and a field manager of one name by one name, and two of two names by two', () => {
    const write = log.find((event) => event.type === 'write');
    assert.ok(write?.type === 'write');
    const shared = (user: string, manager: string): { user?: string; manager?: string } =>
      anonymizer.event({ ...write, actor: { user, manager } }).actor;
    const one = shared('deployer', 'deployer');
    assert.notEqual(one.user, 'deployer');
    assert.equal(one.user, one.manager);
    const two = shared('deployer', 'autoscaler');
    assert.equal(two.user, one.user);
    assert.notEqual(two.manager, one.user);
  });

  it('holds no name, namespace, UID, token, value or program of people', () => {
    const all = text(replaced);
    for (const word of [
      'shop',
      'checkout',
      'search',
      'feature-flags',
      'invoices',
      '9a01d2e4',
      'c0ffee00',
      'scaler',
      'flag-sync',
      'gitops',
      'resizer',
      '1Gi',
      'beta',
      'by hand',
      '"v2"',
    ]) {
      assert.ok(!all.includes(word), `${word} is still there`);
    }
  });

  it('gives the same timeline: lanes, marks, links, incarnations and findings', () => {
    const detector = createDetector();
    for (const event of log) detector.add(event);
    detector.end();
    const found = detector
      .findings()
      .map((finding) => ({ ...finding, object: { ...finding.object, cluster: finding.cluster } }));
    assert.deepEqual(shape(sharedModel(log, 'secret', english)), shape(projected(log, found).projection.model()));
  });

  it('gives the same findings, about the same events', () => {
    const found = (all: readonly TraceEvent[]): unknown => {
      const detector = createDetector();
      for (const event of all) detector.add(event);
      detector.end();
      return detector
        .findings()
        .map((finding) => [finding.id, finding.kind, finding.severity, finding.count, finding.events]);
    };
    assert.ok((found(log) as unknown[]).length > 3);
    assert.deepEqual(found(replaced), found(log));
  });

  it('replaces the same by the same, and what differs by what differs', () => {
    const uids = (list: readonly TraceEvent[]): string[] =>
      list.flatMap((event) => (event.type === 'observed' ? [event.uid] : []));
    const [before, after] = [uids(log), uids(replaced)];
    const pairs = new Set(before.map((uid, index) => `${uid} ${after[index]}`));
    assert.equal(pairs.size, new Set(before).size);
    assert.equal(new Set(after).size, new Set(before).size);
  });

  it('keeps a stale reference pointing at the incarnation it meant', () => {
    const gone = replaced.find(
      (event) =>
        event.type === 'observed' &&
        log[event.seq - 1]?.type === 'observed' &&
        (log[event.seq - 1] as { uid: string }).uid.startsWith('9a01d2e4'),
    );
    assert.ok(gone?.type === 'observed');
    const holder = replaced.find(
      (event) => event.type === 'observed' && text(event.body).includes(gone.uid) && event.uid !== gone.uid,
    );
    assert.ok(holder, 'some other object still holds the replaced UID');
  });

  it('of another secret cannot be joined with this one by its UIDs', () => {
    const other = log.map((event) => new Anonymizer('other').event(event));
    const uidsOf = (list: readonly TraceEvent[]): Set<string> =>
      new Set(list.flatMap((event) => (event.type === 'observed' ? [event.uid] : [])));
    const known = uidsOf(replaced);
    assert.deepEqual(
      Array.from(uidsOf(other)).filter((uid) => known.has(uid)),
      [],
    );
  });

  it("keeps what is Kubernetes' own: kinds, resources, verbs, outcomes, programs and field names", () => {
    const all = text(replaced);
    for (const word of [
      'Deployment',
      'bucketclaims',
      'version-conflict',
      'replace',
      '.spec.replicas',
      'observedGeneration',
      'renewTime',
    ])
      assert.ok(all.includes(word), `${word} is gone`);
  });

  it('shares owners of fields whose keys and values are integers of any size', () => {
    const seen = log.find((event) => event.type === 'observed');
    assert.ok(seen?.type === 'observed');
    const big = 12345678901234567890n;
    const owned = { [`k:{"port":${big}}`]: { '.': {} }, [`v:${big}`]: {} };
    const managedFields = [{ manager: 'm', operation: 'Update', fieldsV1: { 'f:spec': { 'f:ports': owned } } }];
    const shared = new Anonymizer('secret').event({ ...seen, managedFields });
    assert.match(text(shared), /"k:\{\\"port\\":\d+\}"/);
  });

  it('never lets a value of a map of people through, whatever it is', () => {
    const value = fc.oneof(fc.string({ minLength: 6, maxLength: 20 }), fc.integer({ min: 100_000 }), fc.uuid());
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^[a-z]{8,12}$/), value, { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
        (data) => {
          const trace = new TraceBuilder();
          trace.seen(
            trace.object(
              'u1',
              't1',
              { data },
              { annotations: Object.fromEntries(Object.entries(data).map(([key, one]) => [key, String(one)])) },
            ),
          );
          const event = new Anonymizer('s').event(trace.events[0] ?? assert.fail());
          const all = text(event);
          for (const [key, one] of Object.entries(data)) {
            assert.ok(!all.includes(`"${key}"`), `the key ${key}`);
            assert.ok(!all.includes(text(one)), `the value ${String(one)}`);
          }
        },
      ),
    );
  });
});
