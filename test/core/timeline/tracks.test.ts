import assert from 'node:assert/strict';
import { emptyHistory, reduce } from '../../../src/core/reduce.ts';
import { actorName } from '../../../src/core/timeline/classify.ts';
import { parseFilter, type Filter } from '../../../src/core/timeline/filter.ts';
import { matchFilter } from '../../../src/core/timeline/filterMatch.ts';
import { hitTest } from '../../../src/core/timeline/hitTest.ts';
import { laneMetrics } from '../../../src/core/timeline/laneMetrics.ts';
import { layOut, MAX_ONLY_READ, type LayoutOptions, type Row } from '../../../src/core/timeline/layout.ts';
import { NO_LANE } from '../../../src/core/timeline/model.ts';
import {
  eventOfStop,
  laneOfObject,
  markOfEvent,
  neighbour,
  outermost,
  readOfEvent,
  rowBeside,
  rowOfMark,
  rowOfRead,
  stopsOfRow,
  timeOfStop,
  winnerOf,
  type ReadPlace,
  type Stop,
  stopOfObject,
} from '../../../src/core/timeline/navigate.ts';
import { pictureOf } from '../../../src/core/timeline/picture.ts';
import { TimelineProjection } from '../../../src/core/timeline/project.ts';
import { nameParts, readersWords, trackTitle, trackWords } from '../../../src/core/timeline/rowWords.ts';
import { fitted, xOf } from '../../../src/core/timeline/scale.ts';
import { sceneOf, type SceneInput } from '../../../src/core/timeline/scene.ts';
import { TimelineStore } from '../../../src/core/timeline/store.ts';
import { eventOfItem, itemOf, readsShown, rowOfItem, tableRows } from '../../../src/core/timeline/tableRows.ts';
import { READ_PX } from '../../../src/core/timeline/trackScene.ts';
import { onlyReadKey, openKey, trackKey, trackMarks, type Track } from '../../../src/core/timeline/tracks.ts';
import type { NewTraceEvent, TraceEvent } from '../../../src/core/traceEvent.ts';
import { TraceBuilder } from '../traceBuilder.ts';
import { english } from '../../../src/core/timeline/translate.ts';
import { demo } from '../../webview/scenario.ts';
import { demoModel, numbered, projected } from './demoModel.ts';
import { assertGolden } from './golden.ts';

const PLAIN: LayoutOptions = { sort: 'name', collapsed: new Set(), compact: false };

function laneOf(store: TimelineStore, name: string): number {
  return store.lanes.findIndex(({ info }) => info.name === name);
}

function inputOf(store: TimelineStore, options: Partial<LayoutOptions>, filter: string | Filter = ''): SceneInput {
  const match = matchFilter(store, typeof filter === 'string' ? parseFilter(filter).filter : filter);
  return {
    store,
    match,
    layout: layOut(store, match, { ...PLAIN, ...options }),
    annotationDim: () => false,
    scale: fitted(store.firstAt, store.lastAt, 780),
    top: 0,
    height: 900,
    timeZoneOffsetMin: 0,
    translate: english,
    now: store.lastAt,
  };
}

/** Every lane open. */
function allOpen(store: TimelineStore): Set<string> {
  return new Set(store.lanes.map((_, lane) => openKey(store, { lane })));
}

function tracks(rows: readonly Row[]): (Row & { type: 'track' })[] {
  return rows.filter((row) => row.type === 'track');
}

const conflict = (store: TimelineStore): number => {
  const event = demo().events.findIndex((one) => one.type === 'write' && one.outcome === 'version-conflict') + 1;
  return markOfEvent(store, event) ?? assert.fail();
};

describe('tracks', () => {
  it('an open lane has a row for each of its actors, which hold all of its marks and nothing else', () => {
    const store = new TimelineStore(demoModel());
    const { layout, match } = inputOf(store, { expanded: allOpen(store) });
    for (const [index, lane] of store.lanes.entries()) {
      const own = tracks(layout.rows).filter((row) => row.lane === index);
      const sum = own.reduce((count, row) => count + (trackMarks(store, match, row)?.count ?? 0), 0);
      assert.equal(sum, lane.count);
      assert.equal(own.filter(({ actor }) => actor !== 0).length, lane.actorCount);
      const first = layout.rowOfLane.get(index) ?? assert.fail();
      own.forEach((row, at) => assert.equal(layout.rows[first + 1 + at], row, 'right beneath its lane'));
    }
    const names = tracks(layout.rows)
      .filter(({ lane }) => lane === laneOf(store, 'checkout'))
      .map((row) => trackTitle(store, row, english));
    assert.deepEqual(names, ['deployment-controller', 'kubectl-edit', 'labeller', 'scaler', 'not known who']);
  });

  it('by actor, each has a lane with all that it did, and beneath it a row for each object', () => {
    const store = new TimelineStore(demoModel());
    const closed = inputOf(store, { grouping: 'actor' });
    assert.ok(closed.layout.rows.every((row) => row.type === 'track' && row.lane === undefined));
    const expanded = new Set(tracks(closed.layout.rows).map(({ actor }) => openKey(store, { actor })));
    const { layout, match } = inputOf(store, { grouping: 'actor', expanded });
    const sumOf = (rows: readonly Row[]): number =>
      tracks(rows).reduce((sum, row) => sum + (trackMarks(store, match, row)?.count ?? 0), 0);
    assert.equal(
      sumOf(layout.rows.filter((row) => row.type === 'track' && row.lane === undefined)),
      store.marks.length,
    );
    assert.equal(
      sumOf(layout.rows.filter((row) => row.type === 'track' && row.lane !== undefined)),
      store.marks.length,
    );
    const operator = tracks(layout.rows).find((row) => trackTitle(store, row, english) === 'search-operator');
    assert.match(trackWords(store, match, operator ?? assert.fail(), english), /^\d+ events · \d+ refused$/);
  });

  it('by actor, a filter of objects leaves out what was done to others', () => {
    const store = new TimelineStore(demoModel());
    const { layout, match } = inputOf(store, { grouping: 'actor' }, 'name:checkout');
    const names = tracks(layout.rows).map((row) => trackTitle(store, row, english));
    assert.deepEqual(names, ['deployment-controller', 'kubectl-edit', 'labeller', 'scaler', 'not known who']);
    const sum = tracks(layout.rows).reduce((count, row) => count + (trackMarks(store, match, row)?.count ?? 0), 0);
    assert.equal(sum, store.lanes[laneOf(store, 'checkout')]?.count);
    assert.equal(layout.hidden, store.lanes.length - 1);
  });

  it('are ordered as asked: by what they did, what was refused or found, or when; who is not known comes last', () => {
    const store = new TimelineStore(demoModel());
    for (const sort of ['activity', 'findings', 'recent'] as const) {
      const { layout, match } = inputOf(store, { grouping: 'actor', sort });
      const rows = tracks(layout.rows);
      const known = rows.filter(({ actor }) => actor !== 0);
      assert.deepEqual(rows.slice(0, known.length), known);
      const ranks = known.map((row) => {
        const marks = trackMarks(store, match, row) ?? assert.fail();
        if (sort === 'findings') return store.findingsByActor.get(row.actor)?.count ?? 0;
        return sort === 'activity' ? marks.count : marks.lastAt;
      });
      assert.deepEqual(
        ranks,
        ranks.toSorted((a, b) => b - a),
      );
    }
  });

  it('a curve goes from a refused write to the row of who won', () => {
    const store = new TimelineStore(demoModel());
    const mark = conflict(store);
    const winner = winnerOf(store, mark) ?? assert.fail();
    for (const options of [{ grouping: 'actor' }, { expanded: allOpen(store) }] as const) {
      const input = inputOf(store, options);
      const { layout } = input;
      const lane = store.marks.lane.at(mark);
      const rowFor = (one: number): Row => {
        const track = { actor: store.marks.actor.at(one), ...('grouping' in options ? {} : { lane }) };
        return layout.rows[layout.rowOfTrack.get(trackKey(track)) ?? -1] ?? assert.fail();
      };
      const [from, to] = [rowFor(mark), rowFor(winner)];
      const arc = sceneOf(input).arcs.find(
        ({ x1, y1 }) =>
          Math.abs(x1 - xOf(input.scale, store.marks.at.at(mark))) < 0.01 &&
          Math.abs(y1 - from.y - laneMetrics(from.height).above) < 0.01,
      );
      assert.ok(arc !== undefined && arc.across === true);
      assert.ok(Math.abs(arc.x2 - xOf(input.scale, store.marks.at.at(winner))) < 0.01);
      assert.ok(Math.abs(arc.y2 - to.y - laneMetrics(to.height).onBar) < 0.01);
    }
  });

  it('what is drawn on a track is hit there', () => {
    const store = new TimelineStore(demoModel());
    const input = inputOf(store, { expanded: allOpen(store) });
    const mark = conflict(store);
    const lane = store.marks.lane.at(mark);
    const index = rowOfMark(store, input.layout, { lane, mark, onTrack: true });
    const row = input.layout.rows[index ?? -1] ?? assert.fail();
    assert.equal(row.type, 'track');
    const hit = hitTest(input, {
      x: xOf(input.scale, store.marks.at.at(mark)),
      y: row.y + laneMetrics(row.height).above,
    });
    assert.ok(hit?.type === 'cell' && hit.cell.mark === mark && hit.onTrack === true);
    assert.equal(hitTest(input, { x: 0, y: row.y + 2 })?.type, 'track');
  });

  it('up and down go through them, and stay with their actor', () => {
    const store = new TimelineStore(demoModel());
    const lane = laneOf(store, 'checkout');
    const { layout, match } = inputOf(store, { expanded: new Set([openKey(store, { lane })]) });
    const next = rowBeside(store, layout, layout.rowOfLane.get(lane), 1, store.firstAt, match) ?? assert.fail();
    assert.deepEqual([next.lane, next.onTrack], [lane, true]);
    assert.equal(next.type === 'mark' && store.text(store.marks.actor.at(next.mark)), 'deployment-controller');
  });

  it('appended bit by bit and looked at meanwhile they are what they are at once', () => {
    const { events, findings } = demo();
    const all = numbered(events);
    const whole = new TimelineStore(demoModel());
    for (const batch of [1, 7]) {
      const history = emptyHistory();
      const projection = new TimelineProjection({
        clusterLabel: () => 'kind-dev',
        translate: english,
        eventAt: (seq) => all[seq - 1],
      });
      const grown = new TimelineStore(projection.model());
      const looked: Partial<LayoutOptions>[] = [{ grouping: 'actor' }, { expanded: allOpen(whole) }];
      const { filter } = parseFilter('');
      for (let start = 0; start < all.length; start += batch) {
        const part = all.slice(start, start + batch);
        for (const event of part) reduce(history, event);
        projection.add(part, history);
        if (start + batch >= all.length) projection.setFindings(findings);
        assert.equal(grown.apply(projection.takeDelta()).rejected, 0);
        for (const options of looked) sceneOf(inputOf(grown, options, filter));
      }
      for (const options of looked)
        assert.deepEqual(sceneOf(inputOf(grown, options, filter)), sceneOf(inputOf(whole, options)));
    }
  });

  it('two recorded clients of one field manager have a lane each, with a curve from the refused one to the other', () => {
    const trace = new TraceBuilder();
    const by = (client: string, result: string | undefined): TraceEvent =>
      trace.write({
        verb: 'replace',
        actor: { client, manager: 'operator' },
        preconditions: { uid: 'u1', token: 'a' },
        ...(result === undefined ? { outcome: 'version-conflict' } : { result: { uid: 'u1', token: result } }),
      });
    trace.added('u1', 'a', { spec: { n: 1 } });
    const won = by('green', 'b');
    trace.modified('u1', 'b', { spec: { n: 2 } });
    const refused = by('blue', undefined);
    const store = new TimelineStore(projected(trace.events, [], 1).projection.model());
    const input = inputOf(store, { grouping: 'actor' });
    const rows = tracks(input.layout.rows);
    assert.deepEqual(
      rows.map((row) => trackTitle(store, row, english)),
      ['blue (operator)', 'green (operator)', 'not known who'],
    );
    const [arc, ...others] = sceneOf(input).arcs;
    assert.deepEqual(others, []);
    assert.deepEqual(
      [arc?.x1, arc?.x2].map((x) => Math.round(x ?? 0)),
      [refused.at, won.at].map((at) => Math.round(xOf(input.scale, at))),
    );
    assert.ok(arc !== undefined && arc.y1 < (rows[1]?.y ?? 0) && arc.y2 > (rows[1]?.y ?? 0));
  });

  it('show below their line when a recorded actor was given something', () => {
    const { events } = demo();
    const first = events.find((event) => event.type === 'observed' && event.name.name === 'checkout');
    assert.ok(first?.type === 'observed');
    const { name, uid, token, cluster } = first;
    const last = events.at(-1)?.at ?? 0;
    const read = (verb: 'get' | 'list', names: readonly string[], at: number): NewTraceEvent => ({
      type: 'read',
      via: 'recorder',
      at,
      cluster,
      actor: { client: 'scaler' },
      verb,
      scope: { group: name.group, resource: name.resource, namespace: name.namespace },
      given: names.map((one) => ({ namespace: name.namespace, name: one, uid, token })),
      cacheAllowed: false,
    });
    const many = Array.from({ length: 40 }, (_, index) => `other-${index}`);
    const reads = [
      read('get', ['checkout'], last - 60_000),
      read('list', ['checkout', 'search', 'never-seen'], last - 30_000),
      read('list', ['checkout', ...many], last - 10_000),
    ];
    const { projection } = projected(numbered([...events, ...reads]));
    const store = new TimelineStore(projection.model());
    const lane = laneOf(store, 'checkout');
    const actor = store.strings.indexOf('scaler');
    const input = inputOf(store, { grouping: 'actor', expanded: new Set([openKey(store, { actor })]) });
    const { layout, match, scale } = input;
    const strokes = (track: Track): number[] => {
      const row = layout.rows[layout.rowOfTrack.get(trackKey(track)) ?? -1] ?? assert.fail();
      const y = row.y + laneMetrics(row.height).onBar + READ_PX;
      return sceneOf(input).clusters.flatMap((cluster) => (cluster.y === y ? [cluster.x + 0.5] : []));
    };
    const places = [60_000, 30_000, 10_000].map((before) => xOf(scale, last - before));
    assert.deepEqual(strokes({ actor, lane }), places.slice(0, 2), 'a read of so many is of none of them');
    assert.deepEqual(strokes({ actor }), places);
    assert.match(trackWords(store, match, { actor, lane }, english), / · 2 reads$/);
    const row = layout.rows[layout.rowOfTrack.get(trackKey({ actor })) ?? -1] ?? assert.fail();
    const hit = hitTest(input, { x: places[2] ?? 0, y: row.y + laneMetrics(row.height).onBar + READ_PX + 1 });
    assert.ok(hit?.type === 'read' && hit.cell.count === 1);
    assert.deepEqual([store.reads.event.at(hit.read), hit.lane], [events.length + 3, NO_LANE]);
    const stops = stopsOfRow(store, match, row) ?? assert.fail();
    const stepped: Stop[] = [];
    let stop = outermost(store, stops, -1);
    while (stop !== undefined) {
      stepped.push(stop);
      stop = neighbour(store, stops, { at: timeOfStop(store, stop), event: eventOfStop(store, stop) }, -1);
    }
    const known = stepped.flatMap((stop) => (stop.type === 'read' ? [eventOfStop(store, stop)] : []));
    assert.deepEqual(known, [events.length + 3, events.length + 2, events.length + 1], 'the list is one stop');
    const narrow = layout.rowOfTrack.get(trackKey({ actor, lane }));
    const onRow = (place: Omit<ReadPlace, 'read'>): number | undefined =>
      rowOfRead(store, layout, { read: 0, ...place });
    assert.equal(onRow({ lane, onTrack: true }), narrow);
    assert.equal(onRow({ lane }), layout.rowOfTrack.get(trackKey({ actor })));
    assert.equal(readOfEvent(store, events.length + 2, lane), 1);
    assert.equal(readOfEvent(store, events.length, lane), undefined, 'a mark is no read');
    const opened = { marks: new Set<number>(), reads: new Set<number>() };
    const rowsOf = (input: SceneInput): number =>
      tableRows(store, input.match, readsShown(store, input.layout, input.match), opened).kind.filter(
        (kind) => kind === 1,
      ).length;
    assert.equal(rowsOf(inputOf(store, {})), 0, 'only what is drawn is in the table');
    assert.equal(rowsOf(inputOf(store, { expanded: new Set([openKey(store, { lane })]) })), 2);
    assert.equal(rowsOf(input), 4);
    assert.equal(rowsOf(inputOf(store, {}, 'is:read')), 4);
    assert.equal(rowsOf(inputOf(store, { grouping: 'actor' }, 'is:conflict')), 0);
    assert.equal(rowsOf(inputOf(store, { grouping: 'actor' }, 'manager:scaler')), 4);
    const hidden = inputOf(store, { grouping: 'actor' }, 'name:search');
    assert.equal(store.readsOf(hidden.match).of({ actor })?.length, 1, 'only of what the filter shows');
    assert.equal(store.marks.length, new TimelineStore(demoModel()).marks.length, 'reads are no events of an object');
  });

  it('an object is found in its own cluster, and what is near in the life of the incarnation that is asked for', () => {
    const trace = new TraceBuilder();
    for (const cluster of ['c1', 'c2']) {
      trace.cluster = cluster;
      trace.added(`${cluster}-old`, 'a', { spec: { n: 1 } });
      trace.modified(`${cluster}-old`, 'b', { spec: { n: 2 } });
      trace.absent('event', { uid: `${cluster}-old`, token: 'c' });
      trace.added(`${cluster}-new`, 'd', { spec: { n: 1 } });
    }
    const store = new TimelineStore(projected(trace.events).projection.model());
    const match = matchFilter(store, { terms: [] });
    const object = { ...trace.name, uid: '' };
    assert.deepEqual(
      ['c1', 'c2', 'c3'].map((cluster) => laneOfObject(store, { ...object, cluster })),
      [0, 1, undefined],
    );
    assert.equal(laneOfObject(store, { ...object, cluster: 'c1', group: 'other.test' }), undefined);
    const eventNear = (uid: string, at: number): number => {
      const stop = stopOfObject(store, match, 1, uid, at);
      return eventOfStop(store, stop ?? assert.fail());
    };
    assert.equal(eventNear('', store.lastAt), 8);
    assert.equal(eventNear('c2-new', store.firstAt), 8);
    assert.equal(eventNear('c2-old', store.firstAt), 5);
    assert.equal(eventNear('c2-old', store.lastAt), 7);
  });

  it('gaps, findings and notes are rows of the table where they came, as far as the filter asks for them', () => {
    const trace = new TraceBuilder();
    trace.added('u1', 'a', { spec: { n: 1 } });
    trace.gap('expired');
    trace.modified('u1', 'b', { spec: { n: 2 } });
    trace.push({ type: 'note', via: 'write', at: trace.tick(), cluster: 'c1', text: 'step two' });
    const { name, kind } = trace;
    trace.name = { group: '', resource: 'pods', namespace: 'lab', name: 'other' };
    trace.kind = 'Pod';
    trace.added('u2', 'c', {});
    const finding = {
      id: 'lost-update',
      severity: 'error' as const,
      object: { ...name, cluster: 'c1' },
      actors: [],
      fields: ['.spec.n'],
      count: 1,
      firstAt: trace.events[2]?.at ?? 0,
      lastAt: trace.events[2]?.at ?? 0,
      events: [1, 3],
      explanation: 'lost',
    };
    const store = new TimelineStore(projected(trace.events, [finding]).projection.model());
    const opened = { marks: new Set<number>(), reads: new Set<number>() };
    const rowsOf = (filter: string): string[] => {
      const { match, layout } = inputOf(store, {}, filter);
      const rows = tableRows(store, match, readsShown(store, layout, match), opened);
      return Array.from({ length: rows.length }, (_, row) => {
        const item = itemOf(store, rows, row) ?? assert.fail();
        assert.equal(rowOfItem(store, rows, item), row);
        return `${item.type} ${eventOfItem(store, item)}`;
      });
    };
    assert.deepEqual(rowsOf(''), ['mark 1', 'gap 2', 'mark 3', 'annotation 3', 'note 4', 'mark 5']);
    assert.deepEqual(rowsOf(`kind:${kind}`), ['mark 1', 'gap 2', 'mark 3', 'annotation 3']);
    assert.deepEqual(rowsOf('kind:Pod'), ['mark 5']);
    assert.deepEqual(rowsOf('expired'), []);
    assert.deepEqual(rowsOf('410'), ['gap 2']);
    assert.deepEqual(rowsOf('"step two"'), ['note 4']);
    assert.deepEqual(rowsOf('-"step two"').includes('note 4'), false);
    assert.deepEqual(rowsOf('is:finding'), ['annotation 3']);
    assert.deepEqual(rowsOf('is:spec'), ['mark 3']);
  });

  it('who only reads has a row below those who did something, and what was only read one below what was changed', () => {
    const trace = new TraceBuilder();
    const readers = Array.from({ length: MAX_ONLY_READ + 3 }, (_, index) => `reader-${String(index).padStart(2, '0')}`);
    const names = Array.from({ length: MAX_ONLY_READ + 2 }, (_, index) => `thing-${String(index).padStart(2, '0')}`);
    const { group, resource, namespace } = trace.name;
    for (const name of names) {
      trace.name = { group, resource, namespace, name };
      trace.added(`u-${name}`, 'a', { spec: { n: 1 } });
    }
    const read = (client: string, name: string): TraceEvent =>
      trace.push({
        type: 'read',
        via: 'recorder',
        at: trace.tick(),
        cluster: trace.cluster,
        actor: { client },
        verb: 'get',
        scope: { group, resource, namespace, name },
        given: [{ namespace, name, uid: `u-${name}`, token: 'a' }],
        cacheAllowed: false,
      });
    for (const client of readers) read(client, 'thing-00');
    for (const name of names) read('reader-07', name);
    const name = { group, resource, namespace, name: 'thing-05' };
    trace.write({ name, actor: { client: 'reader-07' }, outcome: 'version-conflict' });
    const store = new TimelineStore(projected(trace.events).projection.model());
    const rowsOf = (options: Partial<LayoutOptions>, filter = ''): string[] => {
      const { layout } = inputOf(store, options, filter);
      return layout.rows.map((row) =>
        row.type === 'track'
          ? trackTitle(store, row, english)
          : row.type === 'readers'
            ? readersWords(row, english)
            : row.type,
      );
    };
    const first = laneOf(store, 'thing-00');
    const ofLane = openKey(store, { lane: first });
    const open = rowsOf({ expanded: new Set([ofLane]) });
    const start = open.indexOf('not known who') + 1;
    const shown = open.slice(start, start + MAX_ONLY_READ + 1);
    assert.deepEqual(shown, [...readers.slice(0, MAX_ONLY_READ), '3 more that only read']);
    const all = rowsOf({ expanded: new Set([ofLane, onlyReadKey(store, { lane: first })]) });
    assert.deepEqual(all.slice(start, start + readers.length), readers);
    const often = rowsOf({ expanded: new Set([ofLane]), sort: 'activity' });
    assert.equal(often[often.indexOf('not known who') + 1], 'reader-07', 'it read twice');

    const byActor = rowsOf({ grouping: 'actor' });
    assert.deepEqual(byActor.slice(0, 4), ['reader-07', 'not known who', 'reader-00', 'reader-01']);
    assert.equal(byActor.at(-1), '2 more that only read');
    assert.equal(rowsOf({ grouping: 'actor', expanded: new Set([onlyReadKey(store, {})]) }).at(-1), 'reader-22');
    const actor = store.strings.indexOf('reader-07');
    const own = rowsOf({ grouping: 'actor', expanded: new Set([openKey(store, { actor })]) }).slice(1, 24);
    assert.deepEqual(own.slice(0, 2), ['Toy thing-05', 'Toy thing-00']);
    assert.equal(own[MAX_ONLY_READ + 1], '1 more that it only read');
    assert.deepEqual(rowsOf({ grouping: 'actor' }, 'name:thing-09'), ['not known who', 'reader-07']);

    const input = inputOf(store, { grouping: 'actor' });
    const row = input.layout.rows[2];
    assert.ok(row?.type === 'track');
    assert.equal(trackWords(store, input.match, row, english, false), '1 read');
    const stop = outermost(store, stopsOfRow(store, input.match, row) ?? assert.fail(), 1) ?? assert.fail();
    assert.equal(stop.type, 'read');
    const x = xOf(input.scale, timeOfStop(store, stop));
    const y = row.y + laneMetrics(row.height).onBar + READ_PX;
    assert.equal(hitTest(input, { x, y: y + 1 })?.type, 'read');
    assert.ok(sceneOf(input).clusters.some((stroke) => stroke.y === y && Math.abs(stroke.x + 0.5 - x) < 0.01));
    const last = input.layout.rows.at(-1) ?? assert.fail();
    assert.deepEqual(hitTest(input, { x: 5, y: last.y + 2 }), { type: 'readers', of: {} });
  });

  it('of the demo are those that were looked at', () => {
    const store = new TimelineStore(demoModel());
    const lane = laneOf(store, 'checkout');
    const rounded = (input: SceneInput): string =>
      `${JSON.stringify(
        pictureOf(input, 200),
        (_key, value: unknown) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value),
        1,
      )}\n`;
    assertGolden('tracks.json', rounded(inputOf(store, { expanded: new Set([openKey(store, { lane })]) })));
    assertGolden('actors.json', rounded(inputOf(store, { grouping: 'actor' })));
  });
});

describe('a name that does not fit', () => {
  it('keeps the end that tells generated names apart', () => {
    assert.deepEqual(nameParts('web-129b17f108-hpgt7'), ['web-129b17f108', '-hpgt7']);
    assert.deepEqual(nameParts('kube-node-lease'), ['kube-node-lease', '']);
    assert.deepEqual(nameParts('settings'), ['settings', '']);
    const store = new TimelineStore(demoModel());
    const [name] = pictureOf(inputOf(store, {}), 90).texts.filter(({ full }) => full === 'feature-flags');
    assert.match(name?.text ?? '', /^feat.*…(-flags)?$/);
  });
});

describe('the name of an actor', () => {
  it('tells recorded clients apart although their field managers are the same', () => {
    assert.equal(actorName({ client: 'blue', manager: 'operator' }), 'blue (operator)');
    assert.equal(actorName({ client: 'green', manager: 'operator' }), 'green (operator)');
    assert.equal(actorName({ client: 'operator', manager: 'operator', user: 'u' }), 'operator');
    assert.equal(actorName({ manager: 'kubectl', agent: 'kubectl/v1.34', user: 'u' }), 'kubectl');
    assert.equal(actorName({ agent: 'python/3', user: 'u' }), 'python');
    assert.equal(actorName({}), '');
  });
});
