import assert from 'node:assert/strict';
import fc from 'fast-check';
import { cloneJson, equalJson, isJsonObject, setOwn, type Json, type JsonObject } from '../../src/codec/json.ts';
import { Contents } from '../../src/core/findings/contents.ts';
import {
  changedPaths,
  contentAfter,
  contentOf,
  leavesOf,
  sameLeaves,
  type Content,
} from '../../src/core/findings/leaves.ts';
import { ObjectState } from '../../src/core/findings/objectState.ts';

const name = fc.constantFrom('name', 'spec', 'status', 'metadata', 'items', 'type', '__proto__', 'a b');
const value = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, true, 0, 1, 'x', 'y', 12345678901234567890n),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(
      fc.dictionary(fc.constantFrom('name', 'value'), fc.constantFrom<Json>('a', 'b', 'c'), { noNullPrototype: true }),
      { maxLength: 3 },
    ),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;
const body = fc.dictionary(name, value, { maxKeys: 5, noNullPrototype: true }) as fc.Arbitrary<JsonObject>;

/** Versions of one object: each has members of the two before. */
const versions = fc.array(body, { minLength: 2, maxLength: 8 }).map((bodies) =>
  bodies.map((_, at) => {
    const merged: JsonObject = {};
    for (const part of bodies.slice(Math.max(at - 2, 0), at + 1))
      for (const [member, item] of Object.entries(part)) setOwn(merged, member, cloneJson(item));
    return merged;
  }),
);

const sorted = (paths: readonly string[]): string[] => [...paths].sort();

function state(uid: string): ObjectState {
  return new ObjectState('c', { group: '', resource: 'configmaps', namespace: 'n', name: uid }, uid, 0, 1);
}

describe('contents that share with the one before', () => {
  it('say the same as the bodies do, version by version', () => {
    fc.assert(
      fc.property(versions, (bodies) => {
        let content: Content | undefined;
        for (const now of bodies) {
          content = content === undefined ? contentOf(now) : contentAfter(content, now);
          assert.ok(equalJson(content.body, now));
          assert.deepEqual(new Map(content.leaves), leavesOf(now));
        }
      }),
    );
  });

  it('differ in the same paths as the bodies do, whichever two are compared, asked for before or not', () => {
    fc.assert(
      fc.property(versions, fc.boolean(), (bodies, asked) => {
        const contents: Content[] = [];
        for (const now of bodies) {
          const before = contents.at(-1);
          contents.push(before === undefined ? contentOf(now) : contentAfter(before, now));
          if (asked) assert.equal(contents.at(-1)?.leaves.get('.none'), undefined);
        }
        for (const [a, from] of contents.entries()) {
          for (const [b, to] of contents.entries()) {
            const [one, two] = [leavesOf(bodies[a] ?? {}), leavesOf(bodies[b] ?? {})];
            assert.deepEqual(sorted(changedPaths(from.leaves, to.leaves)), sorted(changedPaths(one, two)));
            assert.equal(sameLeaves(from.leaves, to.leaves), sameLeaves(one, two));
          }
        }
      }),
    );
  });

  it('hold what is the same once, owners too, and those of a write with it', () => {
    const contents = new Contents(1_000);
    const object = state('u1');
    const make = (replicas: number, token: string): JsonObject => ({
      metadata: { name: 'u1', resourceVersion: token, managedFields: [{ manager: 'm', fieldsV1: { 'f:spec': {} } }] },
      spec: { replicas, template: { labels: { app: 'a' } } },
    });
    const first = contents.take(object, make(1, '1'));
    const second = contents.take(object, make(2, '2'));
    const template = (content: { body: JsonObject }): unknown =>
      isJsonObject(content.body['spec']) ? content.body['spec']['template'] : undefined;
    assert.equal(template(second), template(first));
    assert.equal(second.managedFields?.[0], first.managedFields?.[0]);
    assert.deepEqual(changedPaths(first.leaves, second.leaves), ['.spec.replicas']);
  });

  it('are bounded by what they hold: the object longest unseen is as one whose content was never seen', () => {
    const contents = new Contents(60);
    const objects = Array.from({ length: 10 }, (_, index) => state(`u${index}`));
    for (const object of objects) {
      const version = object.append('1', 0, 1);
      const { leaves } = contents.take(object, { data: { a: '1', b: '2', c: '3', d: '4', e: '5', f: '6' } });
      Object.assign(version, { leaves, judged: true });
    }
    const held = objects.filter((object) => object.lastBody !== undefined);
    assert.deepEqual(held, objects.slice(-held.length));
    assert.ok(held.length >= 5 && held.length <= 8, String(held.length));
    assert.equal(objects[0]?.versions[0]?.leaves, undefined);
    assert.notEqual(objects[9]?.versions[0]?.leaves, undefined);
  });
});
