import assert from 'node:assert/strict';
import fc from 'fast-check';
import { diffIndices } from 'node-diff3';
import { lineAfter, type ChangedLines } from '../../src/core/lineAfter.ts';

function changes(before: readonly string[], after: readonly string[]): ChangedLines[] {
  return diffIndices([...before], [...after]).map(({ buffer1, buffer2 }) => ({
    from: buffer1[0],
    count: buffer1[1],
    newCount: buffer2[1],
  }));
}

describe('a line after changes', () => {
  it('moves by what came and went before it, and stays at its place in what was replaced', () => {
    const [before, after] = [
      ['a', 'old1', 'old2', 'b', 'gone', 'c'],
      ['new', 'a', 'other', 'b', 'c'],
    ];
    const at = before.map((_line, index) => lineAfter(changes(before, after), index));
    assert.deepEqual(at, [1, 2, 2, 3, 4, 4]);
  });

  it('holds the same text wherever the line is not changed, and stays inside the text', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const hunks = changes(before, after);
        for (const [index, text] of before.entries()) {
          const moved = lineAfter(hunks, index);
          assert.ok(moved >= 0 && moved <= after.length);
          const isChanged = hunks.some(({ from, count }) => index >= from && index < from + count);
          if (!isChanged) assert.equal(after[moved], text);
        }
      }),
    );
  });
});
