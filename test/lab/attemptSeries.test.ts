import assert from 'node:assert/strict';
import fc from 'fast-check';
import { AttemptSeries, SERIES_BINS } from '../../src/lab/attemptSeries.ts';

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

describe('the series of attempts', () => {
  it('counts each attempt once, in its bin, however long it goes on', () => {
    const attempt = fc.tuple(fc.integer({ min: 0, max: 10_000_000 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(attempt, { maxLength: 200 }), (attempts) => {
        const series = new AttemptSeries(1000);
        for (const [at, isAccepted] of attempts) series.add(1000 + at, isAccepted);
        assert.equal(sum(series.accepted), attempts.filter(([, isAccepted]) => isAccepted).length);
        assert.equal(sum(series.refused), attempts.filter(([, isAccepted]) => !isAccepted).length);
        assert.equal(series.accepted.length, series.refused.length);
        assert.ok(series.accepted.length <= SERIES_BINS);
        series.accepted.forEach((count, bin) => {
          const within = attempts.filter(
            ([at, isAccepted]) => isAccepted && Math.floor(at / series.binMs) === bin,
          ).length;
          assert.equal(count, within);
        });
      }),
    );
  });

  it('takes an attempt before the start as one of the first bin', () => {
    const series = new AttemptSeries(1000);
    series.add(500, true);
    assert.deepEqual([series.accepted, series.refused], [[1], [0]]);
  });
});
