import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  firstFailureOfOrder,
  labelOf,
  questionAbout,
  resetModular,
  runModular,
  stepModular,
  visitedCount,
  type ModularLab,
} from '../../src/lab/modular.ts';

function lab(m: string, a: string): ModularLab {
  const made = resetModular(m, a);
  assert.ok('lab' in made, 'problem' in made ? made.problem : '');
  return made.lab;
}

const big = fc.bigInt({ min: 1n, max: BigInt(Number.MAX_SAFE_INTEGER) });
const bigOrZero = fc.bigInt({ min: 0n, max: BigInt(Number.MAX_SAFE_INTEGER) });

describe('the modular lab', () => {
  it('with m=8 and a=1 shows 1 to 7 and then 0 again', () => {
    let now = lab('8', '1');
    for (let step = 0; step < 8; step += 1) now = stepModular(now, String((step + 1) % 8));
    assert.deepEqual(now.residues, [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 0n]);
    assert.ok(now.predictions.every((prediction) => prediction.right));
  });

  it('agrees with (k * a) mod m for every step, at any size', () => {
    fc.assert(
      fc.property(big, bigOrZero, fc.integer({ min: 0, max: 50 }), (m, a, steps) => {
        const residues = runModular(lab(String(m), String(a)), steps);
        assert.deepEqual(
          residues,
          Array.from({ length: steps + 1 }, (_, k) => (BigInt(k) * a) % m),
        );
      }),
    );
  });

  it('visits m / gcd(a, m) residues and no more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 200 }), (m, a) => {
        const made = lab(String(m), String(a));
        assert.equal(BigInt(new Set(runModular(made, m * 2)).size), visitedCount(made));
      }),
    );
  });

  it('is back at 0 after m / gcd(a, m) steps and not before, at any size', () => {
    /** The greatest common divisor by halving, another way than the lab's. */
    const common = (x: bigint, y: bigint): bigint => {
      if (x === 0n || y === 0n) return x + y;
      if (x % 2n === 0n && y % 2n === 0n) return 2n * common(x / 2n, y / 2n);
      if (x % 2n === 0n) return common(x / 2n, y);
      if (y % 2n === 0n) return common(x, y / 2n);
      return x > y ? common((x - y) / 2n, y) : common((y - x) / 2n, x);
    };
    fc.assert(
      fc.property(big, bigOrZero, (m, a) => {
        const visited = visitedCount(lab(String(m), String(a)));
        assert.equal(visited * common(a, m), m);
        assert.equal((visited * a) % m, 0n);
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 40 }), fc.integer({ min: 1, max: 1000 }), big, (steps, factor, unit) => {
        const m = (unit / 1_000_000n + 1n) * BigInt(steps);
        const made = lab(String(m), String((m / BigInt(steps)) * BigInt(factor)));
        const visited = Number(visitedCount(made));
        const residues = runModular(made, visited);
        assert.equal(residues.at(-1), 0n);
        assert.equal(new Set(residues).size, visited);
      }),
    );
  });

  it('says where a greater label stops meaning a newer one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 200 }), (m, a) => {
        const made = lab(String(m), String(a));
        const residues = runModular(made, m + 2);
        const found = residues.findIndex((label, step) => step > 0 && label <= (residues[step - 1] ?? -1n));
        assert.equal(firstFailureOfOrder(made), BigInt(found));
      }),
    );
  });

  it('tells a wrong prediction from a right one, and text from both', () => {
    const wrong = stepModular(lab('8', '1'), '2');
    const none = stepModular(wrong, 'two');
    const right = stepModular(none, ' 3 ');
    assert.deepEqual(
      right.predictions.map((prediction) => prediction.right),
      [false, false, true],
    );
    assert.equal(labelOf(right), 3n);
  });

  it('refuses an m or an a that is no whole number in range, with a sentence', () => {
    for (const [m, a] of [
      ['0', '1'],
      ['-8', '1'],
      ['8.5', '1'],
      ['', '1'],
      ['x', '1'],
      ['8', '-1'],
      ['8', '1e3'],
      ['9007199254740992', '1'],
      ['8', '9007199254740992'],
      ['0x8', '1'],
    ] as const) {
      const made = resetModular(m, a);
      assert.ok('problem' in made && /must be a whole number/.test(made.problem), `${m} ${a}`);
    }
    assert.ok('lab' in resetModular('9007199254740991', '9007199254740991'));
  });

  it('asks questions that comparing labels as numbers answers wrongly after the wrap', () => {
    let now = lab('8', '1');
    for (let step = 0; step < 8; step += 1) now = stepModular(now);
    assert.deepEqual([questionAbout(now, 1, 2)?.orderIsRight, questionAbout(now, 7, 8)?.orderIsRight], [true, false]);
    assert.equal(questionAbout(now, 0, 8)?.orderSays, 'the same');
    assert.equal(questionAbout(now, 5, 5), undefined);
  });
});
