import assert from 'node:assert/strict';
import { Marks } from '../../src/recorder/marks.ts';
import { Scenario, configMap, data, findingsOf } from '../findings/scenario.ts';

describe('what a report shows of events', () => {
  it('is bounded, and of a long log keeps what is about objects with findings, however old it is', () => {
    const s = new Scenario();
    s.stream(configMap('found'), 'uid-1', '1', data({ a: '1' }));
    s.stream(configMap('found'), 'uid-2', '2', data({ a: '1' }));
    for (let index = 0; index < 500; index += 1)
      s.stream(configMap(`other-${index}`), `uid-other-${index}`, String(10 + index), data({}));
    const findings = findingsOf(s.events);
    assert.deepEqual(
      findings.map((finding) => finding.id),
      ['recreated'],
    );
    const marks = new Marks(40, () => findings);
    for (const event of s.events) marks.add(event);
    const kept = marks.all();
    assert.ok(kept.length <= 40, String(kept.length));
    assert.deepEqual(
      kept.map((item) => [item.object, item.text]),
      [
        ['configmaps lab/found', ['showed version ', { token: '1' }]],
        ['configmaps lab/found', ['showed version ', { token: '2' }]],
      ],
    );
  });
});
