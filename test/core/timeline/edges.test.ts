import assert from 'node:assert/strict';
import { matchFilter } from '../../../src/core/timeline/filterMatch.ts';
import { hitTest } from '../../../src/core/timeline/hitTest.ts';
import { estimateWidth } from '../../../src/core/timeline/labels.ts';
import { layOut, type LayoutOptions } from '../../../src/core/timeline/layout.ts';
import {
  emptyModel,
  kindCode,
  LINK_KINDS,
  type BarInfo,
  type TimelineModel,
} from '../../../src/core/timeline/model.ts';
import { packLanes } from '../../../src/core/timeline/packedLanes.ts';
import { StringTable } from '../../../src/core/timeline/columns.ts';
import { pictureOf } from '../../../src/core/timeline/picture.ts';
import { xOf, type TimeScale } from '../../../src/core/timeline/scale.ts';
import { sceneOf, type SceneInput } from '../../../src/core/timeline/scene.ts';
import type { SceneBar } from '../../../src/core/timeline/sceneTypes.ts';
import { barShape, type Palette } from '../../../src/core/timeline/shapes.ts';
import { TimelineStore } from '../../../src/core/timeline/store.ts';
import { svgOf } from '../../../src/core/timeline/svg.ts';
import { english } from '../../../src/core/timeline/translate.ts';
import { START } from '../../webview/scenario.ts';
import { laneOf } from './demoModel.ts';

const SECOND = 1000;
const PLAIN: LayoutOptions = { sort: 'name', collapsed: new Set<string>(), compact: false };

interface Given {
  readonly name?: string;
  readonly bars?: readonly BarInfo[];
  readonly marks?: readonly number[];
  readonly links?: readonly (readonly [from: number, to: number])[];
  readonly lags?: readonly (readonly [from: number, to: number])[];
  readonly gaps?: TimelineModel['gaps'];
}

/** A model of one lane; times are seconds from the start. */
function modelOf({ name = 'one', bars = [], marks = [], links = [], lags = [], gaps = [] }: Given): TimelineModel {
  const strings = new StringTable();
  const lanes = packLanes([[0, laneOf({ kind: 'Thing', namespace: 'n', name, bars })]], strings);
  const at = (seconds: number): number => START + seconds * SECOND;
  const empty = emptyModel();
  const zeros = new Uint32Array(marks.length);
  return {
    ...empty,
    ...lanes,
    strings: strings.copy(),
    groups: [
      {
        key: 'c things',
        cluster: 'c',
        clusterLabel: 'c',
        apiGroup: '',
        resource: 'things',
        kind: 'Thing',
        label: 'things',
      },
    ],
    marks: {
      at: Float64Array.from(marks, at),
      lane: zeros,
      kind: new Uint8Array(marks.length).fill(kindCode('spec')),
      flags: new Uint8Array(marks.length),
      event: Uint32Array.from(marks, (_unused, index) => index + 1),
      actor: zeros,
      label: zeros,
      uid: zeros,
      outcome: new Uint8Array(marks.length),
    },
    links: {
      kind: new Uint8Array(links.length).fill(LINK_KINDS.indexOf('read')),
      event: new Uint32Array(links.length),
      fromLane: new Uint32Array(links.length),
      fromAt: Float64Array.from(links, ([from]) => at(from)),
      toLane: new Uint32Array(links.length),
      toAt: Float64Array.from(links, ([, to]) => at(to)),
    },
    lags: {
      lane: new Uint32Array(lags.length),
      from: Float64Array.from(lags, ([from]) => at(from)),
      to: Float64Array.from(lags, ([, to]) => at(to)),
    },
    gaps,
    lastAt: at(Math.max(0, ...marks)),
    lastSeq: Math.max(1, marks.length),
  };
}

function inputOf(given: Given, [from, to]: readonly [number, number], over: Partial<SceneInput> = {}): SceneInput {
  const store = new TimelineStore(modelOf(given));
  const match = matchFilter(store, { terms: [] });
  const scale: TimeScale = { from: START + from * SECOND, to: START + to * SECOND, width: 600 };
  return {
    store,
    match,
    layout: layOut(store, match, PLAIN),
    annotationDim: () => false,
    scale,
    top: 0,
    height: 400,
    timeZoneOffsetMin: 0,
    translate: english,
    now: scale.to,
    ...over,
  };
}

const living: BarInfo = { uid: 'u1', from: START, began: 'seen' };

describe('edges of time', () => {
  it('a gap that lasts is hatched until now, as far as the incarnation is drawn, and both are hit there', () => {
    const scope = { group: '', resource: 'things' };
    const lasting = { id: 'g', cluster: 'c', scope, from: START + 10 * SECOND, cause: 'connection lost', event: 2 };
    const input = inputOf({ bars: [living], marks: [0, 10], gaps: [lasting] }, [0, 60]);
    const { hatches, bars } = sceneOf(input);
    assert.ok(hatches.some(({ kind, x, width }) => kind === 'gap' && x === 100 && x + width >= 600));
    assert.ok((bars[0]?.width ?? 0) >= 600);
    assert.equal(hitTest(input, { x: 500, y: 26 + 34 })?.type, 'gap');
    const observed = inputOf({ bars: [living], marks: [0, 10] }, [0, 60]);
    assert.equal(hitTest(observed, { x: 500, y: 26 + 34 })?.type, 'bar');
  });

  it('a gap and a life without length are drawn, and hit where they are', () => {
    const at = START + 30 * SECOND;
    const gap = {
      id: 'g',
      cluster: 'c',
      scope: { group: '', resource: 'things' },
      from: at,
      to: at,
      cause: '',
      event: 1,
    };
    const brief: BarInfo = { ...living, from: at, to: at, endHow: 'event' };
    const withGap = inputOf({ bars: [brief], gaps: [gap] }, [0, 60]);
    assert.ok(sceneOf(withGap).hatches.every(({ width }) => width >= 2));
    assert.equal(hitTest(withGap, { x: 302, y: 60 })?.type, 'gap');
    const alone = inputOf({ bars: [brief] }, [0, 60]);
    assert.equal(sceneOf(alone).bars[0]?.width, 3);
    assert.equal(hitTest(alone, { x: 302, y: 60 })?.type, 'bar');
  });

  it('where the clock was set back, curves and lags of before are still drawn', () => {
    const given: Given = {
      bars: [living],
      marks: [100, 101, 40],
      links: [
        [90, 100],
        [30, 40],
      ],
      lags: [
        [92, 100],
        [30, 40],
      ],
    };
    const { arcs, lags } = sceneOf(inputOf(given, [80, 110]));
    assert.equal(arcs.length, 1);
    assert.equal(lags.length, 1);
    const both = sceneOf(inputOf(given, [0, 110]));
    assert.equal(both.arcs.length, 2);
    assert.equal(both.lags.length, 2);
  });

  it('no curve reaches far out of view, however deep one zooms', () => {
    const input = inputOf({ bars: [living], marks: [0, 36_000], links: [[0, 36_000]] }, [35_999.999, 36_000.001]);
    const [arc] = sceneOf(input).arcs;
    assert.ok(arc !== undefined && arc.x1 >= -600 && arc.x2 === xOf(input.scale, START + 36_000 * SECOND));
  });

  it('ten thousand short lives in one place are drawn as often as they can be told apart', () => {
    const bars = Array.from({ length: 10_000 }, (_unused, index): BarInfo => {
      const from = START + index * 2;
      return { uid: `u${index}`, from, to: from + 1, began: 'seen', endHow: 'event' };
    });
    const scene = sceneOf(inputOf({ bars }, [0, 600]));
    assert.ok(scene.bars.length > 3 && scene.bars.length < 100, `${scene.bars.length} bars`);
    assert.ok(Math.max(...scene.bars.map(({ x, width }) => x + width)) >= 20, 'up to the last');
    const inside = { ...living, uid: 'u2', from: START + 20_000, to: START + 20_001, endHow: 'event' as const };
    assert.equal(sceneOf(inputOf({ bars: [living, inside] }, [0, 60])).bars.length, 2, 'one within another is seen');
  });
});

describe('edges of words', () => {
  it('a name of emoji or of wide characters is cut between characters and ends before the lanes', () => {
    for (const name of ['🚀'.repeat(60), '漢字'.repeat(60), `${'x'.repeat(80)}-5d9c7b8f6`]) {
      const { top: _top, height: _height, ...input } = inputOf({ name, bars: [living] }, [0, 60]);
      const picture = pictureOf(input, 200);
      const drawn = picture.texts.find(({ full }) => full === name) ?? assert.fail(name);
      assert.ok(drawn.x + estimateWidth(drawn.text, drawn.size, false) <= 200);
      assert.ok(estimateWidth(drawn.text, drawn.size, false) > 120, 'and no more than that');
      assert.doesNotMatch(svgOf(picture, PALETTE), /\uFFFD/);
    }
  });
});

describe('shapes', () => {
  const bar: SceneBar = {
    x: 10,
    y: 5,
    width: 50,
    height: 17,
    incarnation: 0,
    openLeft: false,
    openRight: true,
    dim: false,
  };

  it('an end that is open or out of view has no round corner, and no corner is larger than its bar', () => {
    assert.deepEqual(barShape(bar, PALETTE), { fill: '#111111', outline: undefined, left: 4, right: 0 });
    assert.equal(barShape({ ...bar, width: 3, openRight: false }, PALETTE).right, 1.5);
  });

  it('where bars have the colour of the background, their outlines are in an SVG too', () => {
    const { top: _top, height: _height, ...input } = inputOf({ bars: [living], marks: [1] }, [0, 60]);
    const svg = svgOf(pictureOf(input, 200), { ...PALETTE, bars: [PALETTE.background], outline: '#6fc3df' });
    assert.match(svg, /<path d="[^"]*z" fill="#000000" stroke="#6fc3df"\/>/);
    assert.doesNotMatch(svgOf(pictureOf(input, 200), PALETTE), /#6fc3df/);
  });
});

const PALETTE: Palette = {
  background: '#000000',
  grid: '#333333',
  row: '#222222',
  hatch: '#444444',
  bars: ['#111111'],
  inks: new Proxy({} as Palette['inks'], { get: () => '#eeeeee' }),
  font: 'sans-serif',
  mono: 'monospace',
};
