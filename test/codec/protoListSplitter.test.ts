import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ProtobufListSplitter } from '../../src/codec/protoListSplitter.ts';
import { protobufField as field, protobufList, protobufObject } from './protobufBytes.ts';

function split(bytes: Buffer, cuts: readonly number[], maxBytes = 1e6): { items: string[]; rest: Buffer | undefined } {
  const items: string[] = [];
  const splitter = new ProtobufListSplitter((item) => items.push(item.toString('hex')), maxBytes);
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  for (const [index, from] of at.slice(0, -1).entries()) splitter.push(bytes.subarray(from, at[index + 1]));
  return { items, rest: splitter.end() };
}

const cuts = fc.array(fc.nat(5_000), { maxLength: 12 });

describe('a list in protobuf, cut as it streams', () => {
  it('gives every item, whatever its size and wherever the bytes are cut', () => {
    const items = fc.array(
      fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(items, cuts, (all, where) => {
        const { items: found, rest } = split(protobufList('v1', 'ThingList', all), where);
        assert.deepEqual(
          found,
          all.map((item) => item.toString('hex')),
        );
        assert.equal(rest, undefined);
      }),
    );
  });

  it('gives back whole what is no list', () => {
    fc.assert(
      fc.property(cuts, (where) => {
        const status = protobufObject('v1', 'Status', Buffer.concat([field(2, 'Failure'), field(3, 'a message')]));
        const { items, rest } = split(status, where);
        assert.deepEqual([items, rest?.toString('hex')], [[], status.toString('hex')]);
      }),
    );
  });

  it('passes over an item beyond the bound, says so, and reads the next one', () => {
    const bytes = protobufList('v1', 'ThingList', [Buffer.alloc(50, 1), Buffer.alloc(5_000, 2), Buffer.alloc(50, 3)]);
    const found: number[] = [];
    const splitter = new ProtobufListSplitter((item) => found.push(item[0] ?? 0), 100);
    for (let at = 0; at < bytes.length; at += 64) splitter.push(bytes.subarray(at, at + 64));
    splitter.end();
    assert.deepEqual([found, splitter.overflowed], [[1, 3], true]);
  });

  it('says that it is torn wherever it ends too soon, and never gives half an item', () => {
    const whole = protobufList('v1', 'ThingList', [Buffer.alloc(300, 7), Buffer.alloc(300, 8)]);
    const envelope = whole.length - 4;
    for (let end = 0; end < envelope; end += 1) {
      const found: number[] = [];
      const splitter = new ProtobufListSplitter((item) => found.push(item.length), 1e6);
      splitter.push(whole.subarray(0, end));
      if (end > 0 && end < whole.indexOf(Buffer.alloc(300, 7))) assert.deepEqual(found, []);
      assert.ok(found.every((length) => length === 300));
      if (end < envelope) assert.throws(() => splitter.end(), { code: 'invalid-protobuf' }, String(end));
    }
  });

  it('never does more than throw on garbage', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), cuts, (garbage, where) => {
        for (const bytes of [Buffer.from(garbage), Buffer.concat([Buffer.from('k8s\0'), garbage])]) {
          try {
            split(bytes, where, 100);
          } catch (error) {
            assert.equal((error as { code?: string }).code, 'invalid-protobuf');
          }
        }
      }),
    );
  });
});
