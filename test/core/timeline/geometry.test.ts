import assert from 'node:assert/strict';
import fc from 'fast-check';
import { dateText, durationText, preciseTimeText, ticksOf, timeText } from '../../../src/core/timeline/axis.ts';
import { cellsOf } from '../../../src/core/timeline/cells.ts';
import { Density } from '../../../src/core/timeline/density.ts';
import { parseFilter } from '../../../src/core/timeline/filter.ts';
import { matchFilter } from '../../../src/core/timeline/filterMatch.ts';
import { hitTest } from '../../../src/core/timeline/hitTest.ts';
import { laneMetrics } from '../../../src/core/timeline/laneMetrics.ts';
import { layOut, rowAt, rowsInView } from '../../../src/core/timeline/layout.ts';
import { kindCode, MARK_KINDS } from '../../../src/core/timeline/model.ts';
import {
  markOfEvent,
  marksAfter,
  eventOfStop,
  nearestInTime,
  rowBeside,
  neighbour,
  outermost,
  stopsOfRow,
  timeOfStop,
  type Stop,
  winnerOf,
} from '../../../src/core/timeline/navigate.ts';
import { pictureOf } from '../../../src/core/timeline/picture.ts';
import {
  fitted,
  msPerPixel,
  panned,
  timeAt,
  withTimeInView,
  xOf,
  zoomed,
  zoomedSpan,
  type TimeScale,
} from '../../../src/core/timeline/scale.ts';
import { sceneOf, type SceneInput } from '../../../src/core/timeline/scene.ts';
import { MarkSeries } from '../../../src/core/timeline/series.ts';
import { TimelineStore } from '../../../src/core/timeline/store.ts';
import type { Palette } from '../../../src/core/timeline/shapes.ts';
import { svgOf } from '../../../src/core/timeline/svg.ts';
import { tableRows } from '../../../src/core/timeline/tableRows.ts';
import { english } from '../../../src/core/timeline/translate.ts';
import { reduce } from '../../../src/core/reduce.ts';
import { START } from '../../webview/scenario.ts';
import { TraceBuilder } from '../traceBuilder.ts';
import type { NewTraceEvent } from '../../../src/core/traceEvent.ts';
import { demoModel, numbered, projected } from './demoModel.ts';
import { assertGolden } from './golden.ts';

const PLAIN = { sort: 'name', collapsed: new Set<string>(), compact: false } as const;

function demoInput(over: Partial<SceneInput> = {}): SceneInput {
  const store = new TimelineStore(demoModel());
  const match = matchFilter(store, { terms: [] });
  return {
    store,
    match,
    layout: layOut(store, match, PLAIN),
    annotationDim: () => false,
    scale: fitted(store.firstAt, store.lastAt, 780),
    top: 0,
    height: 520,
    timeZoneOffsetMin: 0,
    translate: english,
    now: store.lastAt,
    ...over,
  };
}

const rounded = (value: unknown): string =>
  `${JSON.stringify(value, (_key, item: unknown) => (typeof item === 'number' ? Math.round(item * 10) / 10 : item), 1)}\n`;

describe('time scale', () => {
  const scale: TimeScale = { from: 1000, to: 2000, width: 500 };

  it('pixels and times are each the inverse of the other', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1e4, max: 1e4, noNaN: true }),
        (x) => Math.abs(xOf(scale, timeAt(scale, x)) - x) < 1e-6,
      ),
    );
  });

  it('zooming keeps the time under the pointer where it is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 500 }), fc.double({ min: 0.2, max: 5, noNaN: true }), (x, factor) => {
        assert.ok(Math.abs(timeAt(zoomed(scale, x, factor), x) - timeAt(scale, x)) < 1e-6);
      }),
    );
  });

  it('zooming never goes below a millisecond or beyond ten years', () => {
    let inside = scale;
    for (let step = 0; step < 400; step += 1) inside = zoomed(inside, 10, 0.5);
    assert.equal(Math.round(inside.to - inside.from), 1);
    for (let step = 0; step < 400; step += 1) inside = zoomed(inside, 10, 2);
    assert.equal(inside.to - inside.from, 10 * 365 * 86_400_000);
  });

  it('zooming out of a log that is longer than ten years never comes closer, and zooming in comes back', () => {
    const log: TimeScale = { ...scale, to: 50 * 365 * 86_400_000 };
    assert.equal(msPerPixel(zoomed(log, 10, 2)), msPerPixel(log));
    assert.ok(msPerPixel(zoomed(log, 10, 0.5)) < msPerPixel(log));
    assert.equal(zoomedSpan(1500, 0.5, 1000), 1000);
    assert.equal(zoomedSpan(900_000, Number.POSITIVE_INFINITY, 1000), 10 * 365 * 86_400_000);
  });

  it('panning does not change the length', () => {
    assert.equal(msPerPixel(panned(scale, 123)), msPerPixel(scale));
  });

  it('a time in view moves nothing, one outside just enough', () => {
    assert.equal(withTimeInView(scale, 1500, 20), scale);
    assert.equal(xOf(withTimeInView(scale, 5000, 20), 5000), 480);
    assert.equal(xOf(withTimeInView(scale, 0, 20), 0), 20);
  });
});

describe('time axis', () => {
  it('lines stand at round local times and far enough apart for their words', () => {
    const scale: TimeScale = { from: START, to: START + 480_000, width: 780 };
    assert.deepEqual(
      ticksOf(scale, 0)
        .slice(0, 3)
        .map((tick) => tick.label),
      ['14:00:00', '14:01:00', '14:02:00'],
    );
    fc.assert(
      fc.property(fc.double({ min: 1, max: 3e11, noNaN: true }), fc.integer({ min: 50, max: 3000 }), (span, width) => {
        const ticks = ticksOf({ from: START, to: START + span, width }, 60);
        for (const [index, tick] of ticks.entries()) {
          const before = ticks[index - 1];
          assert.ok(before === undefined || tick.x - before.x >= 89.9);
        }
        assert.ok(ticks.length <= width / 89 + 2);
      }),
    );
  });

  it('dates and times are those of the calendar', () => {
    fc.assert(
      fc.property(fc.integer({ min: -6e12, max: 1e13 }), (at) => {
        const iso = new Date(at).toISOString();
        if (iso.startsWith('-') || iso.startsWith('+')) return;
        assert.equal(dateText(at, 0), iso.slice(0, 10));
        assert.equal(preciseTimeText(at, 0), iso.slice(11, 23));
      }),
    );
    assert.equal(timeText(START, 330), '19:30:00');
  });

  it('durations are said in the units that a person would use', () => {
    assert.deepEqual(
      [450, 9482, 9999, 59_999, 60_000, 200_000, 7_500_000, 90_000_000].map((ms) => durationText(ms)),
      ['450 ms', '9.48 s', '9.99 s', '59.9 s', '1 min', '3 min 20 s', '2 h 5 min', '1 d 1 h'],
    );
  });
});

describe('cells', () => {
  it('hold every mark in view exactly once, whatever the scale', () => {
    const marks = fc.array(
      fc.record({ at: fc.integer({ min: 0, max: 5000 }), kind: fc.integer({ min: 0, max: MARK_KINDS.length - 1 }) }),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(marks, fc.integer({ min: 0, max: 4000 }), fc.integer({ min: 1, max: 3000 }), (all, from, span) => {
        const lane: (MarkSeries | undefined)[] = [];
        all.forEach((mark, index) => (lane[mark.kind] ??= new MarkSeries()).insert(mark.at, index));
        const scale: TimeScale = { from, to: from + span, width: 300 };
        const cells = cellsOf(
          lane,
          MARK_KINDS.map((_, kind) => kind),
          scale,
          10,
          undefined,
        );
        const counted = cells
          .filter((cell) => cell.last >= 0 && cell.first <= 300)
          .reduce((sum, cell) => sum + cell.count, 0);
        const inView = all.filter((mark) => mark.at >= from && mark.at <= from + span).length;
        assert.ok(counted >= inView, 'nothing in view is left out');
        assert.ok(
          cells.every((cell, index) => index === 0 || cell.x > (cells[index - 1]?.x ?? 0)),
          'from left to right',
        );
        assert.ok(
          cells.every((cell) => cell.last - cell.first <= 10.001),
          'no cell is wider than it says',
        );
      }),
    );
  });

  it('keep their marks while one pans by any distance', () => {
    const lane: (MarkSeries | undefined)[] = [];
    const series = new MarkSeries();
    for (let index = 0; index < 500; index += 1) series.insert(START + index * 37, index);
    lane[kindCode('spec')] = series;
    const members = (scale: TimeScale): string[] =>
      cellsOf(lane, [kindCode('spec')], scale, 10, undefined).map((cell) => `${cell.mark} ${cell.count}`);
    const scale: TimeScale = { from: START + 2000, to: START + 12_000, width: 400 };
    const before = new Set(members(scale));
    const after = members(panned(scale, 13.7)).slice(2, -2);
    assert.ok(after.length > 20);
    assert.deepEqual(after.filter((cell) => !before.has(cell)).length <= 2, true);
  });

  it('show the most important kind of those that match', () => {
    const lane: (MarkSeries | undefined)[] = [];
    for (const [kind, mark] of [
      ['status', 0],
      ['spec', 1],
    ] as const) {
      const series = new MarkSeries();
      series.insert(100, mark);
      lane[kindCode(kind)] = series;
    }
    const both = MARK_KINDS.map((_, kind) => kind);
    const scale: TimeScale = { from: 0, to: 200, width: 200 };
    assert.equal(cellsOf(lane, both, scale, 10, undefined)[0]?.kind, kindCode('spec'));
    assert.equal(cellsOf(lane, both, scale, 10, Uint8Array.of(1, 0))[0]?.kind, kindCode('status'));
  });
});

describe('series', () => {
  it('stays sorted and complete under late insertions and removals', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 120 }),
        fc.array(fc.nat(), { maxLength: 40 }),
        (times, removals) => {
          const series = new MarkSeries();
          const wanted = new Map<number, number>();
          times.forEach((at, mark) => {
            series.insert(at, mark);
            wanted.set(mark, at);
          });
          for (const removal of removals) {
            const mark = removal % Math.max(1, times.length);
            assert.equal(series.remove(times[mark] ?? -1, mark), wanted.delete(mark));
          }
          const found = Array.from(
            { length: series.length },
            (_, index) => [series.markAt(index), series.timeAt(index)] as const,
          );
          assert.deepEqual(new Map(found), wanted);
          assert.ok(found.every(([, at], index) => index === 0 || at >= (found[index - 1]?.[1] ?? 0)));
        },
      ),
    );
  });
});

describe('density', () => {
  it('loses no mark, whatever their times and order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1e12 }), { minLength: 1, maxLength: 100 }), (times) => {
        const density = new Density();
        for (const at of times) density.add(at, kindCode(at % 2 === 0 ? 'conflict' : 'spec'));
        const sums = density.columns(Math.min(...times), Math.max(...times) + 1, 37);
        assert.equal(
          sums.reduce((sum, column) => sum + column.count, 0),
          times.length,
        );
        assert.equal(
          sums.reduce((sum, column) => sum + column.alarms, 0),
          times.filter((at) => at % 2 === 0).length,
        );
      }),
    );
  });
});

describe('density of a wide minimap', () => {
  it('has no empty column where marks come all the time, in whichever order they were told', () => {
    for (const order of [1, -1]) {
      const density = new Density();
      const times = Array.from({ length: 10_000 }, (_unused, index) => START + index * 977);
      for (const at of order === 1 ? times : times.toReversed()) density.add(at, kindCode('spec'));
      const sums = density.columns(START, START + 9999 * 977, 640);
      assert.equal(sums.filter(({ count }) => count === 0).length, 0);
    }
  });
});

describe('layout', () => {
  it('groups lanes by cluster and resource and sorts them as asked', () => {
    const { store, match } = demoInput();
    const names = (sort: 'name' | 'activity' | 'findings' | 'recent'): string[] =>
      layOut(store, match, { ...PLAIN, sort }).rows.map((row) =>
        row.type === 'group'
          ? `[${store.groups[row.group]?.resource}]`
          : (store.lanes[('lane' in row ? row.lane : undefined) ?? -1]?.info.name ?? ''),
      );
    assert.deepEqual(names('name'), [
      '[bucketclaims]',
      'invoices',
      'thumbnails',
      '[configmaps]',
      'feature-flags',
      '[deployments]',
      'checkout',
      'search',
      '[leases]',
      'leader',
    ]);
    assert.deepEqual(names('activity').slice(5, 8), ['[deployments]', 'search', 'checkout']);
    assert.deepEqual(names('recent').slice(5, 8), ['[deployments]', 'search', 'checkout']);
  });

  it('noise that nobody watches is folded until somebody opens it, and what is watched is not', () => {
    const lease = (name: string, via: 'watch' | 'sandbox', group: string): NewTraceEvent => ({
      type: 'observed',
      at: START,
      via,
      cluster: name,
      name: { group, resource: 'leases', namespace: 'n', name },
      uid: name,
      token: 'x',
    });
    const events = numbered([
      lease('fed', 'sandbox', 'coordination.k8s.io'),
      lease('watched', 'watch', 'coordination.k8s.io'),
      lease('other', 'sandbox', 'example.com'),
    ]);
    const store = new TimelineStore(projected(events).projection.model());
    const folded = (opened: string[]): (string | undefined)[] =>
      layOut(store, matchFilter(store, { terms: [] }), { ...PLAIN, opened: new Set(opened) }).rows.flatMap((row) =>
        row.type === 'group' && row.folded === 'noise' && row.collapsed ? [store.groups[row.group]?.cluster] : [],
      );
    assert.deepEqual(folded([]), ['fed']);
    assert.deepEqual(folded([store.groups[0]?.key ?? '']), []);
    const everything = layOut(store, matchFilter(store, { terms: [] }), PLAIN);
    assert.ok(
      everything.rows.every((row) => row.type !== 'group' || !row.collapsed),
      'a picture has all lanes',
    );
  });

  it('lanes that nobody watches and nothing happened on are folded and counted; what happens on one brings it back', () => {
    const seen = (resource: string, name: string, via: 'watch' | 'sandbox'): NewTraceEvent => ({
      type: 'observed',
      at: START,
      via,
      cluster: 'c',
      name: { group: '', resource, namespace: 'n', name },
      uid: `uid-${resource}-${name}`,
      token: name,
    });
    const refused: NewTraceEvent = {
      type: 'write',
      at: START + 1,
      via: 'sandbox',
      cluster: 'c',
      actor: { manager: 'm' },
      verb: 'replace',
      name: { group: '', resource: 'pods', namespace: 'n', name: 'b' },
      outcome: 'version-conflict',
      code: 409,
    };
    const events = numbered([
      seen('configmaps', 'one', 'watch'),
      seen('configmaps', 'two', 'sandbox'),
      ...['a', 'b', 'c'].map((name) => seen('pods', name, 'sandbox')),
      refused,
    ]);
    const { projection, history } = projected(events.slice(0, -1), [], 1);
    const store = new TimelineStore(projection.model());
    const rows = (options: Partial<Parameters<typeof layOut>[2]> = {}, filter = ''): string[] =>
      layOut(store, matchFilter(store, parseFilter(filter).filter), {
        ...PLAIN,
        opened: new Set(),
        ...options,
      }).rows.map((row) =>
        row.type === 'group'
          ? `group ${store.groups[row.group]?.resource} ${row.lanes.length} ${row.folded ?? ''}`
          : row.type === 'more'
            ? `more ${store.groups[row.group]?.resource} ${row.count} `
            : row.type === 'readers'
              ? row.type
              : (store.lanes[row.lane ?? -1]?.info.name ?? ''),
      );
    assert.deepEqual(rows(), ['group configmaps 2 ', 'one', 'more configmaps 1 ', 'group pods 3 unwatched']);
    assert.deepEqual(rows({ opened: new Set([store.groups[1]?.key ?? '']) }).slice(3), [
      'group pods 3 ',
      'a',
      'b',
      'c',
    ]);
    assert.deepEqual(rows({}, 'name:*').length, 7, 'whoever asks for a kind or a name gets it');
    const before = store.layoutVersion;
    const last = events.slice(-1);
    for (const event of last) reduce(history, event);
    projection.add(last, history);
    store.apply(projection.takeDelta());
    assert.ok(store.layoutVersion > before, 'the layout is out of date');
    assert.deepEqual(rows().slice(3), ['group pods 3 ', 'b', 'more pods 2 ']);
  });

  it('where nothing is watched, as in a trace, nothing but noise is folded', () => {
    const model = demoModel();
    const watched = new Uint8Array(model.lanes.watched.length);
    const unwatched = new TimelineStore({ ...model, lanes: { ...model.lanes, watched } });
    const match = matchFilter(unwatched, { terms: [] });
    const layout = layOut(unwatched, match, { ...PLAIN, opened: new Set() });
    assert.ok(layout.rows.every((row) => row.type !== 'more' && (row.type !== 'group' || row.folded !== 'unwatched')));
    assert.equal(layout.rows.filter((row) => row.type === 'lane').length, 5);
  });

  it('groups that somebody watches come before those known from the requests of others, also when that comes later', () => {
    const seen = (resource: string, via: 'watch' | 'sandbox'): NewTraceEvent => ({
      type: 'observed',
      at: START,
      via,
      cluster: 'c',
      name: { group: '', resource, namespace: 'n', name: 'one' },
      uid: `uid-${resource}-${via}`,
      token: via,
      ...(via === 'watch' ? { stream: 's', change: 'ADDED' as const } : {}),
    });
    const events = numbered([
      seen('aaa', 'sandbox'),
      seen('bbb', 'watch'),
      seen('ccc', 'sandbox'),
      seen('ccc', 'watch'),
    ]);
    const { projection } = projected(events, [], 1);
    const store = new TimelineStore(projection.model());
    const layout = layOut(store, matchFilter(store, { terms: [] }), PLAIN);
    const groups = layout.rows.flatMap((row) => (row.type === 'group' ? [store.groups[row.group]?.resource] : []));
    assert.deepEqual(groups, ['bbb', 'ccc', 'aaa']);
  });

  it('a collapsed group is one row', () => {
    const { store, match, layout } = demoInput();
    const collapsed = layOut(store, match, { ...PLAIN, collapsed: new Set([store.groups[0]?.key ?? '']) });
    assert.ok(collapsed.height < layout.height);
  });

  it('rows in view are those that a window touches', () => {
    const { layout } = demoInput();
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 1, max: 400 }), (top, height) => {
        const { first, end } = rowsInView(layout, top, height);
        const wanted = layout.rows.filter((row) => row.y + row.height > top && row.y < top + height);
        assert.deepEqual(layout.rows.slice(first, end), wanted);
      }),
    );
    assert.equal(rowAt(layout, layout.height + 5), undefined);
  });
});

describe('scene', () => {
  it('of the demo is the one that was looked at', () => {
    assertGolden('scene.json', rounded(sceneOf(demoInput())));
  });

  it('of one minute, compact and scrolled, is the one that was looked at', () => {
    const input = demoInput();
    const layout = layOut(input.store, input.match, { ...PLAIN, compact: true });
    assertGolden(
      'scene-minute.json',
      rounded(
        sceneOf({
          ...input,
          layout,
          top: 60,
          height: 200,
          scale: { from: START + 220_000, to: START + 280_000, width: 780 },
        }),
      ),
    );
  });

  it('dims also the words and lines that a filter does not look for', () => {
    const store = new TimelineStore(demoModel());
    const looking = (text: string): ReturnType<typeof sceneOf> => {
      const match = matchFilter(store, parseFilter(text).filter);
      for (const lane of store.lanes) lane.resetMatched();
      return sceneOf(demoInput({ store, match, layout: layOut(store, match, PLAIN) }));
    };
    const isDim = (scene: ReturnType<typeof sceneOf>, words: RegExp): (boolean | undefined)[] => [
      ...new Set(scene.texts.filter(({ text }) => words.test(text)).map(({ dim }) => dim)),
    ];
    const plain = looking('');
    assert.ok(plain.texts.length > 5 && plain.lags.length > 0);
    assert.equal([...plain.texts, ...plain.lags].filter(({ dim }) => dim === true).length, 0);
    const conflicts = looking('is:conflict');
    assert.deepEqual(isDim(conflicts, /^g\d/), [true]);
    assert.deepEqual(isDim(conflicts, /recreated/), [true]);
    assert.ok(conflicts.lags.every(({ dim }) => dim === true));
    assert.match(
      svgOf(pictureOf(demoInput({ match: matchFilter(store, parseFilter('is:conflict').filter) }), 200), PALETTE),
      /<text[^>]* opacity=/,
    );
    assert.ok(isDim(looking('is:recreated'), /recreated/).includes(undefined), 'what is looked for is not dimmed');
    assert.ok(isDim(looking('is:spec'), /^g\d/).includes(undefined));
  });

  it('as SVG is the one that was looked at', () => {
    const { top: _top, height: _height, ...input } = demoInput();
    assertGolden('demo.svg', svgOf(pictureOf(input, 200), PALETTE));
  });

  it('as SVG lets nothing of a cluster become markup', () => {
    const trace = new TraceBuilder();
    trace.name = { ...trace.name, name: '<script>alert(1)</script>' };
    trace.added('"><img src=x onerror=alert(1)>', 'a');
    trace.write({ outcome: 'invalid', code: 422, reason: ']]><b>\u0000\ud800' });
    const { top: _top, height: _height, ...input } = demoInput();
    const store = new TimelineStore(projected(trace.events).projection.model());
    const match = matchFilter(store, { terms: [] });
    const svg = svgOf(
      pictureOf(
        {
          ...input,
          store,
          match,
          layout: layOut(store, match, PLAIN),
          scale: fitted(store.firstAt, store.lastAt, 780),
          now: store.lastAt,
        },
        200,
      ),
      PALETTE,
    );
    assert.doesNotMatch(svg, /<script|<img|<b>|(?![\t\n\r])\p{Cc}/u);
    assert.ok(svg.isWellFormed());
    assert.match(svg, /&lt;script&gt;/);
  });
});

describe('hit test', () => {
  it('finds at each lone mark that is drawn the mark itself', () => {
    const input = demoInput();
    const { store, layout, scale } = input;
    let found = 0;
    for (const [index, lane] of store.lanes.entries()) {
      const row = layout.rows[layout.rowOfLane.get(index) ?? -1];
      assert.ok(row);
      const metrics = laneMetrics(row.height);
      const cells = cellsOf(
        lane.series,
        MARK_KINDS.map((_, kind) => kind).filter((kind) => kind < kindCode('refused')),
        scale,
        10,
        undefined,
      );
      for (const cell of cells.filter((one) => one.count === 1)) {
        const hit = hitTest(input, { x: cell.x, y: row.y + metrics.onBar });
        if (hit?.type === 'annotation') continue;
        assert.equal(hit?.type, 'cell');
        assert.equal(hit?.type === 'cell' ? hit.cell.mark : -1, cell.mark);
        found += 1;
      }
    }
    assert.ok(found > 60);
  });

  it('finds gaps, bars, heads of groups, and nothing below the rows', () => {
    const input = demoInput();
    const { store, layout, scale } = input;
    const lane = store.lanes.findIndex(({ info }) => info.name === 'feature-flags');
    const row = layout.rows[layout.rowOfLane.get(lane) ?? -1];
    assert.ok(row);
    const at = (seconds: number, y: number): string | undefined =>
      hitTest(input, { x: xOf(scale, START + seconds * 1000), y })?.type;
    assert.equal(at(168, row.y + 30), 'gap');
    assert.equal(at(80, row.y + 30), 'bar');
    assert.equal(at(80, 5), 'group');
    assert.equal(at(80, layout.height + 40), undefined);
  });
});

describe('moving from mark to mark', () => {
  it('steps through every mark of a lane once, forth and back', () => {
    const { store, match } = demoInput();
    for (const [index, lane] of store.lanes.entries()) {
      const stops = stopsOfRow(store, match, { type: 'lane', lane: index }) ?? assert.fail();
      const walk = (direction: 1 | -1): Stop[] => {
        const seen: Stop[] = [];
        let stop = outermost(store, stops, direction);
        while (stop !== undefined) {
          seen.push(stop);
          const from = { at: timeOfStop(store, stop), event: eventOfStop(store, stop) };
          stop = neighbour(store, stops, from, direction);
        }
        return seen;
      };
      const forth = walk(1);
      assert.equal(forth.length, lane.count);
      assert.deepEqual(walk(-1), forth.toReversed());
    }
  });

  it('goes to the lane below at about the same time', () => {
    const { store, layout, match } = demoInput();
    const checkout = store.lanes.findIndex(({ info }) => info.name === 'checkout');
    const next = rowBeside(store, layout, layout.rowOfLane.get(checkout), 1, START + 250_000, match);
    const { lane } = next ?? assert.fail();
    assert.equal(store.lanes[lane]?.info.name, 'search');
    const stops = stopsOfRow(store, match, { type: 'lane', lane }) ?? assert.fail();
    assert.deepEqual(next, nearestInTime(store, stops, START + 250_000));
  });

  it('finds who won against a refused write', () => {
    const store = new TimelineStore(demoModel());
    const places = Array.from({ length: store.marks.length }, (_unused, mark) => mark);
    const refused = places.filter((mark) => store.marks.kind.at(mark) === kindCode('conflict'));
    const winners = refused.flatMap((mark) => winnerOf(store, mark) ?? []);
    assert.ok(winners.length > 0);
    for (const mark of winners) assert.ok(store.marks.kind.at(mark) < kindCode('refused'));
    assert.equal(winnerOf(store, winners[0] ?? -1), undefined, 'a winner lost to nobody');
    assert.equal(marksAfter(store, 0), store.marks.length);
    assert.equal(marksAfter(store, store.lastSeq), 0);
  });

  it('finds the mark of an event, and none where there is none', () => {
    const { store } = demoInput();
    for (let mark = 0; mark < store.marks.length; mark += 1)
      assert.equal(markOfEvent(store, store.marks.event.at(mark)), mark);
    assert.equal(markOfEvent(store, 100_000), undefined);
  });
});

describe('table rows', () => {
  it('fold heartbeats and nothing else, and open again', () => {
    const { store, match } = demoInput();
    const rows = tableRows(store, match, () => true, { marks: new Set(), reads: new Set() });
    assert.equal(
      rows.count.reduce((sum, count) => sum + count, 0),
      store.marks.length + rows.asides.length,
    );
    const folded = Array.from(rows.count).findIndex((count) => count > 10);
    assert.ok(folded >= 0);
    const mark = rows.place[folded] ?? 0;
    assert.equal(store.lanes[store.marks.lane.at(mark)]?.info.name, 'leader');
    assert.ok(
      Array.from(rows.place).every(
        (one, index) => rows.count[index] === 1 || MARK_KINDS[store.marks.kind.at(one)] !== 'spec',
      ),
    );
    const opened = tableRows(store, match, () => true, { marks: new Set([mark]), reads: new Set() });
    assert.equal(opened.length, rows.length + (rows.count[folded] ?? 0) - 1);
  });
});

const PALETTE: Palette = {
  background: '#1f1f1f',
  grid: '#333333',
  row: '#2a2a2a',
  hatch: '#555555',
  bars: ['#2f4656', '#403b5e', '#2f4f40', '#4f4630'],
  inks: {
    renewal: '#9d9d9d',
    metadata: '#9d9d9d',
    status: '#3fc49a',
    unknown: '#9d9d9d',
    spec: '#4d9bff',
    created: '#4d9bff',
    terminating: '#b0b0b0',
    deleted: '#b0b0b0',
    note: '#d7ba4d',
    refused: '#f4535e',
    uncertain: '#d7ba4d',
    conflict: '#f4535e',
    'uid-mismatch': '#f0a050',
    'field-conflict': '#b77bff',
    takeover: '#b77bff',
    'stale-reference': '#f0a050',
    'lost-update': '#f0a050',
    finding: '#d7ba4d',
    text: '#e5e5e5',
    muted: '#9d9d9d',
    faint: '#858585',
    warning: '#f0a050',
    error: '#f4535e',
    info: '#9d9d9d',
  },
  font: 'system-ui, sans-serif',
  mono: 'monospace',
};
