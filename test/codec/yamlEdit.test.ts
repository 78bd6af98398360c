import assert from 'node:assert/strict';
import fc from 'fast-check';
import { AppError } from '../../src/base/appError.ts';
import type { Json, JsonObject } from '../../src/codec/json.ts';
import { equalJson } from '../../src/codec/json.ts';
import { parseYaml } from '../../src/codec/yaml.ts';
import type { YamlEdit } from '../../src/codec/yamlEdit.ts';
import { editYaml } from '../../src/codec/yamlEdit.ts';
import { printYaml } from '../../src/codec/yamlPrint.ts';
import type { Path } from '../../src/codec/path.ts';
import { parsePath } from '../../src/codec/path.ts';

function path(text: string): Path {
  const found = parsePath(text);
  assert.ok('path' in found);
  return found.path;
}

const set = (at: string, value: Json): YamlEdit => ({ path: path(at), value });
const remove = (at: string): YamlEdit => ({ path: path(at), remove: true });

describe('editing YAML text', () => {
  const cases: [name: string, before: string, edits: YamlEdit[], after: string][] = [
    ['J1: a comment stays where a value changes', '# why\nreplicas: 3', [set('replicas', 5)], '# why\nreplicas: 5'],
    ['a comment behind a value stays', 'a: 1 # one\nb: 2\n', [set('a', 7)], 'a: 7 # one\nb: 2\n'],
    ['quotes stay', 'a: \'x\'\nb: "x"\n', [set('a', "it's"), set('b', 'y')], "a: 'it''s'\nb: \"y\"\n"],
    ['text that would be read otherwise is quoted', 'a: x\n', [set('a', 'on')], 'a: "on"\n'],
    [
      'J11: CRLF and a missing final line break stay',
      'a: 1\r\nb: 2',
      [set('a', 3), set('c', { d: 4 })],
      'a: 3\r\nb: 2\r\nc:\r\n  d: 4',
    ],
    [
      'J11: trailing blanks of another key stay',
      'data:\n  t: "x  \\n"\n  u: |\n    a  \n\n    b\nz: 1\n',
      [set('data.new', 'hi')],
      'data:\n  t: "x  \\n"\n  u: |\n    a  \n\n    b\n  new: hi\nz: 1\n',
    ],
    [
      'J11: the first key of an empty map',
      'data: {}\nkind: Secret\n',
      [set('data.a', 'YQ==')],
      'data:\n  a: YQ==\nkind: Secret\n',
    ],
    [
      'J11: the first key where there is no map',
      'kind: Secret\n',
      [set('data.a', 'YQ==')],
      'kind: Secret\ndata:\n  a: YQ==\n',
    ],
    ['a key whose value is empty gets one', 'a: # none\nb: 1\n', [set('a', 2)], 'a: 2 # none\nb: 1\n'],
    [
      'a map below an empty key',
      'labels:\nb: 1\n',
      [set('labels.x', 'y')],
      'labels:\n  x: "y"\nb: 1\n'.replace('"y"', '"y"'),
    ],
    ['a removed key goes with its line', 'a: 1 # one\n# two\nb: 2\n', [remove('a')], '# two\nb: 2\n'],
    ['the last key goes with the line break before it', 'a: 1\nb: 2', [remove('b')], 'a: 1'],
    ['the only key leaves an empty map', 'a:\n  b: 1\nc: 2\n', [remove('a.b')], 'a: {}\nc: 2\n'],
    ['the first key of a list item', 'l:\n- a: 1\n  b: 2\n- c\n', [remove('l[0].a')], 'l:\n- b: 2\n- c\n'],
    ['an item of a list', 'l:\n  - a # x\n  - b\n', [remove('l[0]')], 'l:\n  - b\n'],
    [
      'a keyed item',
      'l:\n- name: a\n  v: 1\n- name: b\n  v: 2\n',
      [set('l[name="b"].v', 3)],
      'l:\n- name: a\n  v: 1\n- name: b\n  v: 3\n',
    ],
    [
      'a new keyed item is appended',
      'l:\n- name: a\nend: 1\n',
      [set('l[name="b"]', { name: 'b', x: [1] })],
      'l:\n- name: a\n- name: b\n  x:\n  - 1\nend: 1\n',
    ],
    [
      'flow maps and lists stay flow',
      'a: {b: 1, c: 2}\nd: [1, 2] # d\n',
      [set('a.e', 'x, y'), remove('a.b'), set('d[1]', 'z')],
      'a: {c: 2, e: "x, y"}\nd: [1, z] # d\n',
    ],
    ['a block of text stays one', 't: |\n  a\n  b\n\nc: 1\n', [set('t', 'x\ny\nz\n')], 't: |\n  x\n  y\n  z\n\nc: 1\n'],
    [
      'a map is changed key by key',
      'm: # map\n  a: 1 # a\n  b: 2\n',
      [set('m', { a: 1, b: 3, c: 4 })],
      'm: # map\n  a: 1 # a\n  b: 3\n  c: 4\n',
    ],
    ['an alias elsewhere stays', 'x: &a {p: 1}\nz: *a\nq: 1\n', [set('q', 2)], 'x: &a {p: 1}\nz: *a\nq: 2\n'],
    ['an unusual number keeps its spelling', 'mode: 0400\nf: 1e3\nq: 1\n', [set('q', 2)], 'mode: 0400\nf: 1e3\nq: 2\n'],
    ['nothing to do changes nothing', 'a:   1\n', [set('a', 1), remove('b')], 'a:   1\n'],
    ['an empty text', '', [set('a.b', 1)], 'a:\n  b: 1\n'],
    ['big integers are exact', 'a: 1\n', [set('a', 9007199254740993n)], 'a: 9007199254740993\n'],
  ];
  for (const [name, before, edits, after] of cases) it(name, () => assert.equal(editYaml(before, edits), after));

  it('J9: six digits of a time stay when a label changes', () => {
    const text = 'metadata:\n  labels:\n    a: b\nspec:\n  renewTime: "2026-01-02T03:04:05.123450Z"\n';
    assert.equal(editYaml(text, [set('metadata.labels.a', 'c')]), text.replace('a: b', 'a: c'));
  });

  it('J11: letters of every kind survive a change of another key', () => {
    const data = {
      nul: 'a\0b',
      surrogate: 'x\ud800y',
      crlf: 'a\r\nb\r\n',
      blanks: 'x  \n',
      bom: '\ufeffx',
      tabs: '\ta\n',
      base64: 'AP/+MII=',
    };
    const text = printYaml({ data, z: 1 });
    const edited = editYaml(text, [set('z', 2)]);
    assert.equal(edited, text.replace('z: 1', 'z: 2'));
    assert.deepEqual(parseYaml(edited).value, { data, z: 2 });
  });

  it('J8: a change of what an alias stands for is refused, and the text stays', () => {
    for (const edits of [[set('x.p', 2)], [set('z.p', 2)], [remove('x')]]) {
      assert.throws(
        () => editYaml('x: &a {p: 1}\nz: *a\n', edits),
        (error) => error instanceof AppError && error.code === 'invalid-yaml',
      );
    }
  });

  it('a text that is not readable is not edited', () => {
    assert.throws(() => editYaml('a: 1\na: 2\n', [set('b', 1)]), /line 2/i);
  });

  const scalar = fc.oneof(
    fc.constantFrom<Json>(
      null,
      true,
      0,
      12,
      1.5,
      9007199254740993n,
      'on',
      'x: y',
      'a\nb\n',
      'plain',
      '- x',
      '#',
      'a, b',
      '',
    ),
    fc.string({ maxLength: 6 }),
  );
  const key = fc.constantFrom('a', 'b', 'c', 'on', 'x y', 'k.8s/io');
  const value = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      scalar,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 3 }),
    ),
  })).value;
  const root = fc.dictionary(key, value, { minKeys: 1, maxKeys: 4 });

  it('whatever is set, the text means exactly that', () => {
    fc.assert(
      fc.property(root, root, fc.boolean(), (before, after, windows) => {
        const text = windows ? printYaml(before).replaceAll('\n', '\r\n') : printYaml(before);
        const edited = editYaml(text, [{ path: [], value: after }]);
        assert.ok(equalJson(parseYaml(edited).value, after), edited);
      }),
      { numRuns: 500 },
    );
  });

  it('a change of one key leaves all other lines as they are', () => {
    fc.assert(
      fc.property(root, key, scalar, (before, name, item) => {
        const commented = printYaml(before).replaceAll(/^([a-c]:)/gm, '# about it\n$1');
        const edited = editYaml(commented, [{ path: [{ field: name }], value: item }]);
        const expected: JsonObject = { ...before, [name]: item };
        assert.ok(equalJson(parseYaml(edited).value, expected), edited);
        const comments = (text: string): number => text.split('# about it\n').length;
        assert.equal(comments(edited), comments(commented));
      }),
      { numRuns: 300 },
    );
  });
});
