import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MARK_KINDS, type TimelineModel } from '../../src/core/timeline/model.ts';
import { isHostToTimeline, isTimelineToHost, TIMELINE_REQUESTS } from '../../src/protocol/timeline.ts';
import { validate } from '../../src/protocol/validate.ts';
import { demoModel } from '../core/timeline/demoModel.ts';

const snapshot = (model: object): unknown => ({ type: 'snapshot', sequence: 1, model });
const problemOf = (message: unknown): string | undefined => {
  const checked = validate(isHostToTimeline, message);
  return 'problem' in checked ? checked.problem : undefined;
};

describe('timeline protocol', () => {
  const model: TimelineModel = demoModel();

  it('a projected model passes its own check after being cloned', () => {
    assert.equal(problemOf(structuredClone(snapshot(model))), undefined);
  });

  it('a model whose columns differ in length is refused', () => {
    const marks = { ...model.marks, at: model.marks.at.slice(1) };
    assert.equal(problemOf(snapshot({ ...model, marks })), 'message.model.marks has columns of different lengths');
  });

  it('a mark on a lane that does not exist is refused', () => {
    const lane = model.marks.lane.slice();
    lane[3] = model.lanes.place.length;
    assert.match(
      problemOf(snapshot({ ...model, marks: { ...model.marks, lane } })) ?? '',
      /marks\.lane\[3\] is a place that does not exist/,
    );
  });

  it('lanes whose places, groups, texts or bars do not exist are refused', () => {
    const { lanes, bars } = model;
    const wrong: readonly [Partial<typeof lanes>, RegExp][] = [
      [{ place: lanes.place.toReversed() }, /lanes\.place is not in order/],
      [{ group: lanes.group.map(() => model.groups.length) }, /lanes\.group\[0\]/],
      [{ name: lanes.name.map(() => model.strings.length) }, /lanes\.name\[0\]/],
      [{ barsEnd: lanes.barsEnd.toReversed() }, /lanes\.barsEnd is not in order/],
      [{ barsEnd: lanes.barsEnd.map((end) => end + 1) }, /lanes\.barsEnd\[\d\]/],
    ];
    for (const [column, problem] of wrong)
      assert.match(problemOf(snapshot({ ...model, lanes: { ...lanes, ...column } })) ?? '', problem);
    const uid = bars.uid.map(() => model.strings.length);
    assert.match(problemOf(snapshot({ ...model, bars: { ...bars, uid } })) ?? '', /bars\.uid\[0\]/);
    const endHow = bars.endHow.map(() => 9);
    assert.match(problemOf(snapshot({ ...model, bars: { ...bars, endHow } })) ?? '', /bars\.endHow\[0\]/);
  });

  it('a mark of a kind that does not exist is refused', () => {
    const kind = model.marks.kind.slice();
    kind[0] = MARK_KINDS.length;
    assert.match(problemOf(snapshot({ ...model, marks: { ...model.marks, kind } })) ?? '', /kind\[0\]/);
  });

  it('columns that are plain lists are refused', () => {
    assert.equal(
      problemOf(snapshot({ ...model, marks: { ...model.marks, at: Array.from(model.marks.at) } })),
      'message.model.marks.at is not a Float64Array',
    );
  });

  it('ready carries the protocol version', () => {
    assert.ok('value' in validate(isTimelineToHost, { type: 'ready', protocol: 1 }));
    assert.ok('problem' in validate(isTimelineToHost, { type: 'ready' }));
  });

  it('every message that is any JSON is either understood or refused with a sentence', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (message) => {
        for (const check of [isHostToTimeline, isTimelineToHost]) {
          const checked = validate<unknown>(check, message);
          assert.ok('value' in checked || checked.problem.length > 0);
        }
      }),
    );
  });

  it('every request has a check of its params and of its result', () => {
    for (const [name, { params, result }] of Object.entries(TIMELINE_REQUESTS)) {
      assert.equal(typeof params, 'function', name);
      assert.equal(typeof result, 'function', name);
      assert.notEqual(params('no', 'params'), undefined, `${name} takes an object`);
    }
  });
});
