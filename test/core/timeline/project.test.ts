import assert from 'node:assert/strict';
import fc from 'fast-check';
import { reduce } from '../../../src/core/reduce.ts';
import { detailContext } from '../../../src/core/timeline/detailParts.ts';
import { describeEvent } from '../../../src/core/timeline/details.ts';
import { matchFilter } from '../../../src/core/timeline/filterMatch.ts';
import { findingWords } from '../../../src/core/timeline/findingWords.ts';
import { hitTest } from '../../../src/core/timeline/hitTest.ts';
import { laneMetrics } from '../../../src/core/timeline/laneMetrics.ts';
import { layOut } from '../../../src/core/timeline/layout.ts';
import {
  FLAG,
  LINK_KINDS,
  MARK_KINDS,
  type TimelineFinding,
  type TimelineModel,
} from '../../../src/core/timeline/model.ts';
import { PackedLane } from '../../../src/core/timeline/packedLanes.ts';
import { TimelineStore } from '../../../src/core/timeline/store.ts';
import { english } from '../../../src/core/timeline/translate.ts';
import type { NewTraceEvent, TraceEvent } from '../../../src/core/traceEvent.ts';
import { demo } from '../../webview/scenario.ts';
import { TraceBuilder } from '../traceBuilder.ts';
import { describeModel, lanesOf, numbered, projected } from './demoModel.ts';

const kinds = (model: TimelineModel): string[] => Array.from(model.marks.kind, (kind) => MARK_KINDS[kind] ?? '');
const modelOf = (events: readonly TraceEvent[]): TimelineModel => projected(events).projection.model();

/** The model without what depends on how strings were met. */
function comparable(model: TimelineModel): unknown {
  const links = Array.from(model.links.kind, (kind, index) =>
    [LINK_KINDS[kind], model.links.event[index], model.links.fromAt[index], model.links.toAt[index]].join(' '),
  ).sort();
  return {
    text: describeModel(model, MARK_KINDS),
    links,
    lanes: lanesOf(model),
    gaps: model.gaps,
    notes: model.notes,
    annotations: model.annotations,
  };
}

describe('timeline projection', () => {
  it('tells created, spec, status and metadata changes apart, and numbers generations where they rise', () => {
    const trace = new TraceBuilder();
    trace.seen(trace.object('u1', 'a', { spec: { n: 1 } }, { generation: 1 }), { change: 'ADDED' });
    trace.seen(trace.object('u1', 'b', { spec: { n: 2 } }, { generation: 2 }), { change: 'MODIFIED' });
    trace.seen(trace.object('u1', 'c', { spec: { n: 2 }, status: { ok: true } }, { generation: 2 }), {
      change: 'MODIFIED',
    });
    trace.seen(
      trace.object('u1', 'd', { spec: { n: 2 }, status: { ok: true } }, { generation: 2, labels: { a: 'b' } }),
      { change: 'MODIFIED' },
    );
    const model = modelOf(trace.events);
    assert.deepEqual(kinds(model), ['created', 'spec', 'status', 'metadata']);
    assert.deepEqual(
      Array.from(model.marks.label, (label) => model.strings[label]),
      ['g1', 'g2', '', ''],
    );
  });

  it('an object that was there already begins with a version of which nothing more is known', () => {
    const trace = new TraceBuilder();
    trace.list('u1', 'a', { spec: {} });
    assert.deepEqual(kinds(modelOf(trace.events)), ['unknown']);
  });

  it('a relist that delivers what is known adds no mark', () => {
    const trace = new TraceBuilder();
    trace.added('u1', 'a', { spec: { n: 1 } });
    trace.list('u1', 'a', { spec: { n: 1 } }, 's2');
    assert.equal(modelOf(trace.events).marks.at.length, 1);
  });

  it('another UID at the same name is another bar of the same lane', () => {
    const trace = new TraceBuilder();
    trace.added('u1', 'a');
    trace.absent('event', { uid: 'u1', token: 'b' });
    trace.added('u2', 'c');
    const model = modelOf(trace.events);
    assert.equal(lanesOf(model).length, 1);
    assert.deepEqual(
      lanesOf(model)[0]?.bars.map((bar) => [bar.uid, bar.endHow]),
      [
        ['u1', 'event'],
        ['u2', undefined],
      ],
    );
    assert.deepEqual(kinds(model), ['created', 'deleted', 'created']);
  });

  it('a recreation that nobody saw is in the gap, and its end is no mark', () => {
    const trace = new TraceBuilder();
    trace.added('u1', 'a');
    trace.gap();
    trace.list('u2', 'b', {}, 's2');
    const model = modelOf(trace.events);
    assert.deepEqual(
      lanesOf(model)[0]?.bars.map((bar) => [bar.began, bar.endHow]),
      [
        ['seen', 'in-gap'],
        ['in-gap', undefined],
      ],
    );
    assert.deepEqual(kinds(model), ['created', 'unknown']);
    assert.equal(model.gaps.length, 1);
  });

  it('a time after which the watch went on from its last version is no gap: what came late was observed', () => {
    const trace = new TraceBuilder();
    trace.added('u1', 'a');
    const open = trace.gap();
    assert.ok(open.type === 'gap');
    assert.equal(modelOf(trace.events).gaps.length, 1, 'while it lasts, nobody knows');
    const closed = { ...open, seq: open.seq + 1, to: open.from + 5000, resumed: true };
    assert.deepEqual(modelOf([...trace.events, closed]).gaps, []);
  });

  it('a conflict is linked to the version it read and to the write that won', () => {
    const trace = new TraceBuilder();
    trace.added('u1', 'a', { spec: { n: 1 } });
    const winner = trace.modified('u1', 'b', { spec: { n: 2 } });
    const refused = trace.write({ outcome: 'version-conflict', code: 409, preconditions: { uid: 'u1', token: 'a' } });
    const model = modelOf(trace.events);
    assert.deepEqual(kinds(model), ['created', 'spec', 'conflict']);
    assert.deepEqual(
      Array.from(model.links.kind, (kind, index) => [
        LINK_KINDS[kind],
        model.links.fromAt[index],
        model.links.toAt[index],
      ]),
      [
        ['read', trace.events[0]?.at, refused.at],
        ['winner', refused.at, winner.at],
      ],
    );
  });

  it('the winner is linked when its event comes after the refusal', () => {
    const trace = new TraceBuilder();
    trace.added('u1', 'a', { spec: { n: 1 } });
    trace.write({ outcome: 'version-conflict', code: 409, preconditions: { uid: 'u1', token: 'a' } });
    trace.modified('u1', 'b', { spec: { n: 2 } });
    const model = projected(trace.events, [], 1).projection.model();
    assert.deepEqual(
      Array.from(model.links.kind, (kind) => LINK_KINDS[kind]),
      ['read', 'winner'],
    );
  });

  it('a refusal for another incarnation is not a version conflict', () => {
    const trace = new TraceBuilder();
    trace.added('u1', 'a');
    trace.write({ outcome: 'uid-mismatch', code: 409, preconditions: { uid: 'u0' } });
    assert.deepEqual(kinds(modelOf(trace.events)), ['created', 'uid-mismatch']);
  });

  it('a field conflict names the field and its owner', () => {
    const trace = new TraceBuilder();
    trace.added('u1', 'a');
    trace.write({
      verb: 'apply',
      outcome: 'field-conflict',
      causes: [{ field: '.spec.size', message: 'conflict with "resizer" using example.org/v1' }],
    });
    const model = modelOf(trace.events);
    assert.equal(model.strings[model.marks.label[1] ?? 0], 'apply conflict: .spec.size owned by resizer');
  });

  it('J3: six hundred status writes of one manager are one run, and the change of a person is none of it', () => {
    const trace = new TraceBuilder();
    trace.added('u1', 'v0', { spec: { taints: [] }, status: { beat: 0 } });
    for (let beat = 1; beat <= 600; beat += 1)
      trace.modified('u1', `v${beat}`, { spec: { taints: [] }, status: { beat } });
    trace.modified('u1', 'taint', { spec: { taints: ['x'] }, status: { beat: 600 } });
    const { flags } = modelOf(trace.events).marks;
    const runs = Array.from(flags, (flag) =>
      (flag & FLAG.foldable) !== 0 && (flag & FLAG.continuesRun) === 0 ? 1 : 0,
    ).reduce((sum: number, one) => sum + one, 0);
    assert.equal(runs, 1);
    assert.equal(Array.from(flags).filter((flag) => (flag & FLAG.heartbeat) !== 0).length, 598);
    assert.equal(flags.at(-1), 0, 'a spec change is never folded');
  });

  it('the renewal of a lease is noise, a change of its holder is not', () => {
    const trace = new TraceBuilder();
    trace.name = { group: 'coordination.k8s.io', resource: 'leases', namespace: 'lab', name: 'leader' };
    trace.added('u1', 'a', { spec: { holderIdentity: 'x', renewTime: '1' } });
    trace.modified('u1', 'b', { spec: { holderIdentity: 'x', renewTime: '2' } });
    trace.modified('u1', 'c', { spec: { holderIdentity: 'y', renewTime: '3' } });
    assert.deepEqual(kinds(modelOf(trace.events)), ['created', 'renewal', 'spec']);
  });

  it('observedGeneration that lags is a stretch, open while it lasts', () => {
    const trace = new TraceBuilder();
    const at = (generation: number, observedGeneration: number, token: string): TraceEvent =>
      trace.seen(trace.object('u1', token, { spec: { generation }, status: { observedGeneration } }, { generation }), {
        change: 'MODIFIED',
      });
    at(1, 1, 'a');
    const lengths = [300, 5000, 180_000];
    const stretches = lengths.map((length, index) => {
      const from = at(2 + index, 1 + index, `b${index}`);
      trace.tick(length - 10);
      return [from.at, at(2 + index, 2 + index, `c${index}`).at];
    });
    const open = at(9, 2, 'd');
    const model = modelOf(trace.events);
    assert.deepEqual(
      Array.from(model.lags.from, (from, index) => [from, model.lags.to[index]]),
      stretches,
    );
    assert.equal(lanesOf(model)[0]?.lagFrom, open.at);

    const context = detailContext({
      history: trace.history,
      clusterLabel: (cluster) => cluster,
      translate: english,
      timeZoneOffsetMin: 0,
      eventAt: (seq) => trace.events[seq - 1],
    });
    const remarks = trace.events.map(
      (event) => describeEvent(context, event, undefined)?.facts.find(({ label }) => label === 'generation')?.remark,
    );
    assert.deepEqual(remarks, [
      'observed',
      ...['300 ms', '5.00 s', '3 min'].flatMap((length, index) => [
        `observed is ${1 + index}, reached after ${length}`,
        `observed after ${length}`,
      ]),
      'observed is 2',
    ]);

    const store = new TimelineStore(model);
    const match = matchFilter(store, { terms: [] });
    const layout = layOut(store, match, { sort: 'name', collapsed: new Set(), compact: false });
    const row = layout.rows[1] ?? assert.fail();
    const lagAt = (time: number): unknown => {
      const scale = { from: time - 100, to: time + 100, width: 1000 };
      const shown = { store, match, layout, scale, top: 0, height: 500, timeZoneOffsetMin: 0, translate: english };
      const { barTop, barHeight } = laneMetrics(row.height);
      const hit = hitTest(
        { ...shown, annotationDim: () => false, now: store.lastAt },
        { x: 500, y: row.y + barTop + barHeight },
      );
      assert.equal(hit?.type, 'bar');
      return hit.type === 'bar' && hit.lag;
    };
    for (const [from = 0, to = 0] of stretches) assert.deepEqual(lagAt((from + to) / 2), { from, to });
    assert.equal(lagAt(open.at - 5), undefined);
  });

  it('a finding of a stretch of time says how long it was', () => {
    const words = (id: string, ms: number): string =>
      findingWords(
        {
          id,
          severity: 'warning',
          object: { group: '', resource: 'pods', namespace: 'n', name: 'a' },
          actors: [],
          fields: [],
          count: 7,
          firstAt: 1000,
          lastAt: 1000 + ms,
          events: [1],
          explanation: '',
        },
        english,
      );
    assert.equal(words('generation-lag', 31_000), 'generation not observed for 31.0 s');
    assert.equal(words('generation-lag', 180_000), 'generation not observed for 3 min');
    assert.equal(words('hot-conflict-loop', 300), '7 conflicts in 300 ms, no backoff');
    assert.equal(words('already-exists-loop', 5000), '7 refused creations in 5.00 s');
  });

  it('an accepted write is one mark with its version, which becomes known when the watch delivers it', () => {
    const trace = new TraceBuilder();
    trace.added('u1', 'a', { spec: { n: 1 } });
    trace.write({
      actor: { client: 'scaler' },
      preconditions: { uid: 'u1', token: 'a' },
      result: { uid: 'u1', token: 'b' },
    });
    const before = modelOf(trace.events);
    assert.deepEqual(kinds(before), ['created', 'unknown']);
    trace.modified('u1', 'b', { spec: { n: 2 } });
    const after = projected(trace.events, [], 1).projection.model();
    assert.deepEqual(kinds(after), ['created', 'spec']);
    assert.equal(after.strings[after.marks.actor[1] ?? 0], 'scaler');
  });

  it('a note without an object stands on the axis, one with an object on its lane', () => {
    const trace = new TraceBuilder();
    trace.push({ type: 'note', at: 1, via: 'sandbox', cluster: 'c1', text: 'step 1' });
    trace.push({ type: 'note', at: 2, via: 'sandbox', cluster: 'c1', text: 'about it', name: trace.name });
    const model = modelOf(trace.events);
    assert.deepEqual(model.notes, [{ at: 1, text: 'step 1', event: 1 }]);
    assert.deepEqual(kinds(model), ['note']);
  });

  it('live, in batches of any size, gives what the whole log gives at once', () => {
    const { events, findings } = demo();
    const all = numbered(events);
    const whole = comparable(projected(all, findings).projection.model());
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), (batch) => {
        assert.deepEqual(comparable(projected(all, findings, batch).projection.model()), whole);
      }),
      { numRuns: 12 },
    );
  });

  it('a snapshot and the appends after it give what a later snapshot gives', () => {
    const { events, findings } = demo();
    const all = numbered(events);
    for (const cut of [0, 7, 60, all.length - 1]) {
      const early = projected(all.slice(0, cut));
      const store = new TimelineStore(structuredClone(early.projection.model()));
      const late = projected(all, findings);
      // The same projection goes on in small steps, as a session does.
      const steps = projected(all.slice(0, cut), [], cut, all);
      steps.projection.model();
      for (const event of all.slice(cut)) {
        reduce(steps.history, event);
        steps.projection.add([event], steps.history);
        assert.equal(store.apply(structuredClone(steps.projection.takeDelta())).rejected, 0);
      }
      steps.projection.setFindings(findings);
      store.apply(structuredClone(steps.projection.takeDelta()));
      const wanted = new TimelineStore(late.projection.model());
      assert.deepEqual(describeStore(store), describeStore(wanted), `cut at ${cut}`);
    }
  });

  it('tokens renamed to random strings give the same timeline', () => {
    const { events, findings } = demo();
    const names = new Map<string, string>();
    let next = 0;
    const rename = (token: string): string => {
      const known = names.get(token);
      if (known !== undefined) return known;
      next += 1;
      // Neither their order nor their length is kept.
      const made = `${(next * 7919) % 10007}-${'z'.repeat(next % 5)}`;
      names.set(token, made);
      return made;
    };
    const renamed = events.map((event) => renameTokens(event, rename));
    assert.deepEqual(
      comparable(projected(numbered(renamed), findings).projection.model()),
      comparable(projected(numbered(events), findings).projection.model()),
    );
  });

  it('every takeover that the evidence names has a place on the lane, not only the last', () => {
    const trace = new TraceBuilder();
    trace.added('u', 'a');
    const taken = [1, 2, 3].map((count) =>
      trace.write({
        verb: 'apply',
        force: true,
        actor: { manager: 'autoscaler' },
        result: { uid: 'u', token: `t${count}` },
      }),
    );
    const refused = trace.write({
      verb: 'apply',
      actor: { manager: 'autoscaler' },
      outcome: 'field-conflict',
      code: 409,
    });
    const finding: TimelineFinding = {
      id: 'force-takeover',
      severity: 'warning',
      object: { ...trace.name, cluster: trace.cluster, uid: 'u' },
      actors: ['autoscaler', 'deployer'],
      fields: ['.spec.replicas'],
      count: 3,
      firstAt: taken[0]?.at ?? 0,
      lastAt: taken[2]?.at ?? 0,
      events: [1, ...taken.map(({ seq }) => seq), refused.seq],
      explanation: '',
    };
    const [annotation] = projected(trace.events, [finding]).projection.model().annotations;
    assert.deepEqual(annotation?.repeats, [taken[0]?.at, taken[1]?.at]);
    assert.equal(annotation?.to, taken[2]?.at);
    assert.equal(annotation?.count, 3);
    assert.equal(annotation?.text, 'autoscaler took .spec.replicas from deployer');
  });
});

/** What a store would draw, in words. */
function describeStore(store: TimelineStore): unknown {
  return store.lanes.map((lane) => ({
    info: lane.info instanceof PackedLane ? lane.info.copied() : lane.info,
    marks: lane.series
      .map((series) => {
        if (series === undefined) return [];
        return Array.from({ length: series.length }, (_, index) => {
          const mark = series.markAt(index);
          return [
            series.timeAt(index),
            store.marks.event.at(mark),
            store.marks.flags.at(mark),
            store.text(store.marks.label.at(mark)),
            store.text(store.marks.actor.at(mark)),
          ].join(' ');
        });
      })
      .map((marks) => (marks.length === 0 ? undefined : marks))
      .filter((marks) => marks !== undefined),
    links: lane.links.map((link) => `${LINK_KINDS[link.kind]} ${link.fromAt} ${link.toAt}`).sort(),
    lags: lane.lags,
    annotations: lane.annotations,
  }));
}

function renameTokens(event: NewTraceEvent, rename: (token: string) => string): NewTraceEvent {
  const copy = structuredClone(event);
  if (copy.type === 'observed') {
    copy.token = rename(copy.token);
    const metadata = copy.body?.['metadata'];
    if (typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata))
      metadata['resourceVersion'] = copy.token;
  } else if (copy.type === 'absent' && copy.token !== undefined) copy.token = rename(copy.token);
  else if (copy.type === 'write') {
    for (const part of [copy.preconditions, copy.basedOn, copy.result])
      if (part?.token !== undefined) part.token = rename(part.token);
  }
  return copy;
}
