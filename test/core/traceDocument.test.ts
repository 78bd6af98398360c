import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { historyOf } from '../../src/core/reduce.ts';
import { TraceReader } from '../../src/core/trace.ts';

const document = readFileSync(new URL('../../docs/trace-format.md', import.meta.url), 'utf8');
const types = readFileSync(new URL('../../src/core/traceEvent.ts', import.meta.url), 'utf8');

describe('docs/trace-format.md', () => {
  it('has an example that reads as it says', () => {
    const example = document.slice(document.indexOf('## Example'));
    const text = /```json\n([\s\S]*?)```/.exec(example)?.[1]?.replaceAll('\n ', ' ') ?? '';
    const reader = new TraceReader();
    const events = [...reader.push(text), ...reader.end()];
    assert.deepEqual(reader.problems, []);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['observed', 'read', 'write', 'write', 'absent'],
    );
    const [incarnation] = historyOf(events).uids.values();
    assert.deepEqual(
      incarnation?.versions.map(({ token, actor }) => [token, actor?.client]),
      [
        ['v1', undefined],
        ['v2', 'B'],
      ],
    );
    assert.equal(incarnation?.end?.how, 'event');
  });

  it('names every member and every value that the types have', () => {
    const members = [...types.matchAll(/^ {2}(\w+)\??:/gm)].map(([, name]) => name);
    const values = [...types.matchAll(/'([\w-]+)'/g)].map(([, value]) => value);
    for (const word of new Set([...members, ...values])) {
      assert.ok(new RegExp(`[\`"]${word}[\`"]`).test(document), `${word} is not in docs/trace-format.md`);
    }
  });
});
