import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import {
  FILTER_KEYS,
  formatFilter,
  IS_VALUES,
  matchesText,
  parseFilter,
  toggleTerm,
  type Filter,
} from '../../../src/core/timeline/filter.ts';
import { annotationMatches, matchFilter } from '../../../src/core/timeline/filterMatch.ts';
import { MARK_KINDS } from '../../../src/core/timeline/model.ts';
import { TimelineStore } from '../../../src/core/timeline/store.ts';
import { demoModel } from './demoModel.ts';

const store = new TimelineStore(demoModel());
/** Records as `{…}` makes them, so that they compare equal. */
const plain = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;

function lanesOf(text: string): string[] {
  const { lanes } = matchFilter(store, parseFilter(text).filter);
  return store.lanes.flatMap(({ info }, index) => (lanes[index] === 1 ? [info.name] : []));
}

/** What the marks that match are, with their numbers. */
function marksOf(text: string): Record<string, number> {
  const { marks } = matchFilter(store, parseFilter(text).filter);
  const found: Record<string, number> = {};
  for (let mark = 0; mark < store.marks.length; mark += 1) {
    if (marks !== undefined && marks[mark] !== 1) continue;
    const name = `${store.lanes[store.marks.lane.at(mark)]?.info.name} ${MARK_KINDS[store.marks.kind.at(mark)]}`;
    found[name] = (found[name] ?? 0) + 1;
  }
  return found;
}

describe('filter language', () => {
  it('reads keys, negation, quotes and plain words', () => {
    assert.deepEqual(parseFilter('ns:shop -is:heartbeat "two words" name:"a b" Plain').filter.terms, [
      { key: 'ns', value: 'shop', negated: false },
      { key: 'is', value: 'heartbeat', negated: true },
      { key: undefined, value: 'two words', negated: false },
      { key: 'name', value: 'a b', negated: false },
      { key: undefined, value: 'plain', negated: false },
    ]);
  });

  for (const [text, problem, part] of [
    ['colour:red', 'unknown-key', 'colour:red'],
    ['is:purple', 'unknown-is', 'is:purple'],
    ['ns: x', 'no-value', 'ns:'],
    ['name:"a b', 'open-quote', 'name:"a b'],
    ['ns:shop -', 'no-value', '-'],
  ] as const) {
    it(`says of ${text} that it is ${problem}, and where`, () => {
      const { problems } = parseFilter(text);
      assert.deepEqual(
        problems.map((one) => [one.problem, one.text]),
        [[problem, part]],
      );
      assert.equal(text.slice(problems[0]?.start, problems[0]?.end), part);
    });
  }

  it('reads whatever is typed without failing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const { problems } = parseFilter(text);
        assert.ok(problems.every((one) => one.start < one.end && one.end <= text.length));
      }),
    );
  });

  it('prints what it reads back the same', () => {
    const value = fc
      .string({ minLength: 1, maxLength: 12 })
      .map((text) => text.toLowerCase())
      .filter((text) => text !== '');
    const term = fc.oneof(
      plain({ key: fc.constantFrom(...FILTER_KEYS.filter((key) => key !== 'is')), value, negated: fc.boolean() }),
      plain({ key: fc.constant('is' as const), value: fc.constantFrom(...IS_VALUES), negated: fc.boolean() }),
      plain({ key: fc.constant(undefined), value, negated: fc.boolean() }),
    );
    fc.assert(
      fc.property(fc.array(term, { maxLength: 5 }), (terms) => {
        const filter: Filter = { terms };
        assert.deepEqual(parseFilter(formatFilter(filter)), { filter, problems: [] });
      }),
    );
  });

  it('is documented word by word', () => {
    const page = readFileSync(new URL('../../../docs/timeline.md', import.meta.url), 'utf8');
    assert.deepEqual(
      [...FILTER_KEYS.map((key) => `\`${key}:\``), ...IS_VALUES.map((value) => `\`${value}\``)].filter(
        (word) => !page.includes(word),
      ),
      [],
    );
  });

  it('a term toggled twice is gone', () => {
    const { filter } = parseFilter('ns:shop');
    const term = { key: 'is' as const, value: 'conflict', negated: false };
    assert.equal(formatFilter(toggleTerm(filter, term)), 'ns:shop is:conflict');
    assert.deepEqual(toggleTerm(toggleTerm(filter, term), term), filter);
  });

  it('a star stands for any text and anchors the rest', () => {
    assert.deepEqual(
      ['kube-*', '*-controller', 'k*t*r', '*'].map((glob) => matchesText('kube-controller', glob)),
      [true, true, true, true],
    );
    assert.equal(matchesText('kube-controller', 'controller*'), false);
    assert.equal(matchesText('aa', 'a*a*a'), false);
    assert.equal(matchesText('a'.repeat(50_000), `${'a*'.repeat(200)}b`), false);
  });
});

describe('filter over a timeline', () => {
  it('kind, ns and name choose lanes; several of one key are alternatives', () => {
    assert.deepEqual(
      lanesOf('kind:deployment'),
      ['search', 'checkout'].sort((a, b) => lanesOf('').indexOf(a) - lanesOf('').indexOf(b)),
    );
    assert.deepEqual(lanesOf('name:search name:leader').sort(), ['leader', 'search']);
    assert.deepEqual(lanesOf('kind:deployment -name:search'), ['checkout']);
    assert.deepEqual(lanesOf('ns:other'), []);
  });

  it('is, outcome and manager choose marks', () => {
    assert.deepEqual(marksOf('is:conflict'), { 'checkout conflict': 1, 'search conflict': 14 });
    assert.deepEqual(marksOf('outcome:field-conflict'), { 'thumbnails field-conflict': 1 });
    assert.deepEqual(marksOf('manager:kubectl-edit name:checkout'), { 'checkout spec': 1 });
    assert.deepEqual(Object.keys(marksOf('-is:heartbeat name:leader')), ['leader unknown']);
  });

  it('uid finds an incarnation, is:recreated its beginning', () => {
    assert.deepEqual(Object.keys(marksOf('uid:08e6aa13')).sort(), ['feature-flags created', 'feature-flags metadata']);
    assert.deepEqual(marksOf('is:recreated'), { 'feature-flags created': 1, 'feature-flags unknown': 1 });
  });

  it('a plain word looks in names, managers, UIDs and labels', () => {
    assert.equal(Object.keys(marksOf('resizer')).join(), 'thumbnails field-conflict');
    assert.equal(Object.keys(marksOf('labeller')).length, 3);
  });

  it('findings match what they are', () => {
    const matching = (text: string): string[] =>
      store.annotations.filter((one) => annotationMatches(store, parseFilter(text).filter, one)).map((one) => one.id);
    assert.deepEqual(matching('is:lost-update'), ['lost-update']);
    assert.deepEqual(matching('is:finding kind:configmap'), ['lost-update']);
  });

  it('looking only at what is new gives what looking at everything gives', () => {
    const { filter } = parseFilter('is:spec');
    const whole = matchFilter(store, filter);
    const before = { filter, lanes: whole.lanes, marks: whole.marks?.slice(0, 50), counted: 50 };
    const after = matchFilter(store, filter, before);
    assert.deepEqual(
      Array.from(after.marks ?? []).slice(0, store.marks.length),
      Array.from(whole.marks ?? []).slice(0, store.marks.length),
    );
  });
});
