import assert from 'node:assert/strict';
import fc from 'fast-check';
import { findingRank } from '../../../src/core/timeline/findingWords.ts';
import { matchFilter } from '../../../src/core/timeline/filterMatch.ts';
import { hitTest } from '../../../src/core/timeline/hitTest.ts';
import { StringTable } from '../../../src/core/timeline/columns.ts';
import { estimateWidth, LabelLine } from '../../../src/core/timeline/labels.ts';
import { laneLabels } from '../../../src/core/timeline/laneLabels.ts';
import { laneMetrics } from '../../../src/core/timeline/laneMetrics.ts';
import { laneCells } from '../../../src/core/timeline/laneScene.ts';
import { layOut } from '../../../src/core/timeline/layout.ts';
import {
  emptyModel,
  kindCode,
  type AnnotationInfo,
  type BarInfo,
  type MarkKind,
  type TimelineModel,
} from '../../../src/core/timeline/model.ts';
import { packLanes } from '../../../src/core/timeline/packedLanes.ts';
import { sceneOf, type SceneInput } from '../../../src/core/timeline/scene.ts';
import type { SceneText } from '../../../src/core/timeline/sceneTypes.ts';
import { TimelineStore } from '../../../src/core/timeline/store.ts';
import { english } from '../../../src/core/timeline/translate.ts';
import { laneOf } from './demoModel.ts';

const START = Date.UTC(2026, 10, 29, 14);
const WORDS = [
  'lost update: .spec.replicas',
  'autoscaler took .spec.replicas from deployer',
  '14 conflicts in 9 s, no backoff',
  'رفض الكتابة 🚀🚀🚀 طويل',
  'x',
  'n'.repeat(253),
];
const GLYPHS: readonly (MarkKind | undefined)[] = ['finding', 'lost-update', 'takeover', 'stale-reference', undefined];
const MARKS: readonly MarkKind[] = ['spec', 'conflict', 'field-conflict', 'refused', 'note', 'uid-mismatch'];

interface Drawn {
  readonly annotations: readonly { at: number; length: number; glyph: number; words: number; error: boolean }[];
  readonly marks: readonly { at: number; kind: number; words: number }[];
  readonly bars: readonly { at: number; gap: boolean; terminating: boolean }[];
  readonly gaps: readonly { at: number; length: number; name: boolean }[];
}

/** A lane of all kinds of words, each at a second of the hour. */
function modelOf({ annotations, marks, bars, gaps }: Drawn): TimelineModel {
  const at = (seconds: number): number => START + seconds * 1000;
  const sorted = bars.toSorted((a, b) => a.at - b.at);
  const life = sorted.map((bar, index): BarInfo => ({
    uid: `${index}`.padStart(36, '0'),
    from: at(bar.at),
    began: bar.gap ? 'in-gap' : 'seen',
    ...(bar.terminating ? { terminatingAt: at(bar.at + 20) } : {}),
    ...(index < sorted.length - 1 ? { to: at(sorted[index + 1]?.at ?? 0), endHow: 'event' as const } : {}),
  }));
  const rows = marks.toSorted((a, b) => a.at - b.at);
  const strings = new StringTable();
  for (const text of [...WORDS, 'g7']) strings.place(text);
  const lanes = packLanes([[0, laneOf({ kind: 'Thing', namespace: 'n', name: 'one', bars: life })]], strings);
  return {
    ...emptyModel(),
    strings: strings.copy(),
    groups: [
      { key: 'g', cluster: 'c', clusterLabel: 'c', apiGroup: '', resource: 'things', kind: 'Thing', label: 'c' },
    ],
    ...lanes,
    marks: {
      at: Float64Array.from(rows, (mark) => at(mark.at)),
      lane: new Uint32Array(rows.length),
      kind: Uint8Array.from(rows, (mark) => kindCode(MARKS[mark.kind] ?? 'spec')),
      flags: new Uint8Array(rows.length),
      event: Uint32Array.from(rows, (_, index) => index + 1),
      actor: new Uint32Array(rows.length),
      label: Uint32Array.from(rows, (mark) => (MARKS[mark.kind] === 'spec' ? WORDS.length + 1 : mark.words + 1)),
      uid: new Uint32Array(rows.length),
      outcome: new Uint8Array(rows.length),
    },
    annotations: annotations.map((one, index): AnnotationInfo => {
      const glyph = GLYPHS[one.glyph];
      return {
        lane: 0,
        from: at(one.at),
        to: at(one.at + one.length),
        id: 'ownership-fight',
        key: `${index}`,
        severity: one.error ? 'error' : 'warning',
        text: WORDS[one.words] ?? '',
        events: [1],
        count: 1,
        repeats: [],
        ...(glyph === undefined ? {} : { glyph }),
      };
    }),
    gaps: gaps.map((gap, index) => ({
      id: `${index}`,
      cluster: 'c',
      scope: { group: '', resource: 'things', ...(gap.name ? { namespace: 'n', name: 'one' } : {}) },
      from: at(gap.at),
      to: at(gap.at + gap.length),
      cause: 'relist after 410',
      event: index + 1,
    })),
    lastAt: at(3600),
    lastSeq: 1,
  };
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  annotations: fc.array(
    fc.record({
      at: fc.integer({ min: 0, max: 3500 }),
      length: fc.integer({ min: 0, max: 90 }),
      glyph: fc.nat(GLYPHS.length - 1),
      words: fc.nat(WORDS.length - 1),
      error: fc.boolean(),
    }),
    { maxLength: 14 },
  ),
  marks: fc.array(
    fc.record({
      at: fc.integer({ min: 0, max: 3600 }),
      kind: fc.nat(MARKS.length - 1),
      words: fc.nat(WORDS.length - 1),
    }),
    { maxLength: 40 },
  ),
  bars: fc.array(fc.record({ at: fc.integer({ min: 0, max: 3600 }), gap: fc.boolean(), terminating: fc.boolean() }), {
    maxLength: 12,
  }),
  gaps: fc.array(
    fc.record({
      at: fc.integer({ min: 0, max: 3500 }),
      length: fc.integer({ min: 0, max: 200 }),
      name: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
});

const window = fc.record({
  from: fc.integer({ min: -200, max: 3500 }),
  seconds: fc.integer({ min: 5, max: 4000 }),
  width: fc.integer({ min: 60, max: 1200 }),
  top: fc.integer({ min: 0, max: 40 }),
});

function inputOf(
  model: TimelineModel,
  view: { from: number; seconds: number; width: number; top: number },
): SceneInput {
  const store = new TimelineStore(model);
  const match = matchFilter(store, { terms: [] });
  return {
    store,
    match,
    layout: layOut(store, match, { sort: 'name', collapsed: new Set(), compact: false }),
    annotationDim: () => false,
    scale: { from: START + view.from * 1000, to: START + (view.from + view.seconds) * 1000, width: view.width },
    top: view.top,
    height: 200,
    timeZoneOffsetMin: 0,
    translate: english,
    now: store.lastAt,
  };
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly what: string;
}

function boxOf(text: SceneText): Box {
  const width = estimateWidth(text.text, text.size, text.mono === true);
  const { x, y, size } = text;
  return { left: x, right: x + width, top: y - size * 0.8, bottom: y + size * 0.22, what: text.text };
}

function assertApart(boxes: readonly Box[]): void {
  boxes.forEach((a, index) => {
    for (const b of boxes.slice(index + 1)) {
      const overlap = a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
      assert.ok(!overlap, `"${a.what}" and "${b.what}" overlap`);
    }
  });
}

describe('labels', () => {
  it('of every kind never overlap one another, a mark or a bar, and never leave the view', () => {
    fc.assert(
      fc.property(drawn, window, (shown, view) => {
        const input = inputOf(modelOf(shown), view);
        const scene = sceneOf(input);
        const texts = scene.texts.map(boxOf);
        assertApart(texts);
        for (const box of texts) assert.ok(box.left >= -0.01 && box.right <= view.width + 0.01, box.what);
        for (const text of texts) {
          for (const bar of scene.bars) {
            const clear = text.bottom <= bar.y || text.top >= bar.y + bar.height;
            assert.ok(clear || text.right < bar.x || text.left > bar.x + bar.width, `"${text.what}" lies on a bar`);
          }
          for (const { x, y } of scene.glyphs) {
            const apart = text.right < x - 6 || text.left > x + 6 || text.bottom < y - 6 || text.top > y + 6;
            assert.ok(apart, `"${text.what}" lies on a mark`);
          }
        }
      }),
      { numRuns: 400 },
    );
  });

  it('what is cut or left out is said where it is pointed at: words and marks lead to the finding', () => {
    const annotations = [0, 8, 16, 24].map((at) => ({ at: 600 + at, length: 0, glyph: 1, words: 1, error: false }));
    const input = inputOf(modelOf({ annotations, marks: [], bars: [], gaps: [] }), {
      from: 0,
      seconds: 1200,
      width: 400,
      top: 0,
    });
    const [lane] = input.store.lanes;
    assert.ok(lane);
    const metrics = laneMetrics(58);
    const labels = laneLabels(input, lane, metrics, laneCells(lane, input.scale, undefined));
    assert.ok(labels.length > 0 && labels.length <= 4);
    assert.ok(labels.some(({ text }) => text.text.endsWith('…')) || labels.length < 4);
    for (const label of labels) {
      const hit = hitTest(input, { x: (label.from + label.to) / 2, y: 26 + label.text.y - 3 });
      assert.equal(hit?.type === 'annotation' ? hit.annotation : undefined, label.annotation);
    }
    for (const { at } of annotations) {
      const x = ((at + 0) / 1200) * 400;
      assert.equal(hitTest(input, { x, y: 26 + metrics.onBar })?.type, 'annotation');
    }
  });

  it('recreations too close for words of their own are counted, and none is left out while there is room for one', () => {
    const bars = [600, 602, 604, 606, 1800].map((at) => ({ at, gap: false, terminating: false }));
    const shown = { annotations: [], marks: [], bars: [{ at: 0, gap: false, terminating: false }, ...bars], gaps: [] };
    const texts = sceneOf(inputOf(modelOf(shown), { from: 0, seconds: 3600, width: 900, top: 0 })).texts;
    assert.deepEqual(
      texts.map(({ text }) => text).filter((text) => text.startsWith('↻')),
      ['↻ recreated ×4', '↻ recreated'],
    );
  });

  it('the gravest finding keeps its words where two want one place', () => {
    const one = { at: 1800, length: 0, glyph: 0 };
    const crowd = Array.from({ length: 12 }, () => ({ ...one, words: 1, error: false }));
    const annotations = [...crowd, { ...one, words: 0, error: true }];
    const input = inputOf(modelOf({ annotations, marks: [], bars: [], gaps: [] }), {
      from: 0,
      seconds: 3600,
      width: 500,
      top: 0,
    });
    assert.ok(sceneOf(input).texts.some(({ text }) => text === WORDS[0]));
  });

  it('of equally grave findings the one that sums up the others comes first', () => {
    const ranked = [
      { id: 'force-takeover', severity: 'warning' },
      { id: 'recreated', severity: 'info' },
      { id: 'ownership-fight', severity: 'warning' },
      { id: 'lost-update', severity: 'error' },
    ] as const;
    assert.deepEqual(
      ranked.toSorted((a, b) => findingRank(a) - findingRank(b)).map(({ id }) => id),
      ['lost-update', 'ownership-fight', 'force-takeover', 'recreated'],
    );
  });

  it('a line cuts words to the room there is, and leaves out what would say nothing', () => {
    const measure = (text: string): number => Array.from(text).length * 10;
    const line = new LabelLine(400, [{ from: 190, to: 200 }]);
    assert.equal(line.whole('0123456789abcdefg', 170, { x: 30, side: 'right' }), undefined);
    const words = 'as long as one likes';
    assert.deepEqual(line.shortened(words, measure, { x: 30, side: 'right' }), {
      text: 'as long as one…',
      from: 30,
      to: 180,
    });
    assert.equal(line.shortened(words, measure, { x: 390, side: 'left' })?.text, 'as long as one li…');
    assert.equal(line.shortened(words, measure, { x: 30, side: 'right' }), undefined);
    assert.equal(line.shortened('too short', measure, { x: 392, side: 'right' }), undefined);
  });
});
