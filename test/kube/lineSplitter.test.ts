import assert from 'node:assert/strict';

import fc from 'fast-check';

import { Backoff, maxRequestsPerMinute } from '../../src/kube/backoff.ts';
import { LineSplitter } from '../../src/kube/lineSplitter.ts';
import { FakeClock } from './fakeClock.ts';

describe('lines of a stream', () => {
  it('are the same wherever its chunks begin and end', () => {
    const text = fc.string({ unit: 'grapheme' }).map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(fc.array(text), fc.array(fc.nat({ max: 40 })), fc.boolean(), (lines, cuts, ended) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join('') + (ended ? '' : 'rest'));
        const splitter = new LineSplitter();
        const found: string[] = [];
        let start = 0;
        for (const cut of cuts) {
          found.push(...splitter.push(bytes.subarray(start, start + cut)));
          start += cut;
        }
        found.push(...splitter.push(bytes.subarray(start)));
        assert.deepEqual(found, lines);
        assert.equal(splitter.rest(), ended ? '' : 'rest');
      }),
    );
  });

  it('may end in carriage returns, and empty ones are left out', () => {
    assert.deepEqual(new LineSplitter().push(Buffer.from('a\r\n\n\r\nb\n')), ['a', 'b']);
  });
});

describe('backoff', () => {
  it('keeps to its bound in every minute, whatever the random numbers', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 20, maxLength: 20 }),
        (randoms) => {
          const clock = new FakeClock();
          const backoff = new Backoff(clock);
          let time = 0;
          let requests = 0;
          for (const random of randoms) {
            if (time >= 60_000) break;
            requests += 1;
            clock.randomValue = random;
            time += backoff.next();
          }
          assert.ok(requests <= maxRequestsPerMinute, `${requests}`);
        },
      ),
    );
  });

  it('never waits less than the server asks, and begins small again after progress', () => {
    const backoff = new Backoff(new FakeClock());
    assert.equal(backoff.next(20_000), 20_000);
    for (let round = 0; round < 10; round += 1) backoff.next();
    assert.ok(backoff.next() > 15_000);
    backoff.reset();
    assert.ok(backoff.next() <= 800);
  });
});
