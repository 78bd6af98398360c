import assert from 'node:assert/strict';
import { parse } from 'yaml';
import type { Json } from '../../src/codec/json.ts';
import { parseYaml } from '../../src/codec/yaml.ts';
import { printYaml } from '../../src/codec/yamlPrint.ts';

function read(text: string): Json {
  const reading = parseYaml(text);
  assert.deepEqual(reading.problems, []);
  assert.notEqual(reading.value, undefined);
  return reading.value ?? null;
}

function problems(text: string): string[] {
  const reading = parseYaml(text);
  assert.equal(reading.value, undefined, 'a refused text has no value');
  return reading.problems.map(({ code, line, column }) => `${code} ${line}:${column}`);
}

describe('reading YAML as Kubernetes does', () => {
  const meanings: [string, Json][] = [
    ['on', true],
    ['off', false],
    ['yes', true],
    ['no', false],
    ['y', true],
    ['n', false],
    ['0400', 256],
    ['017', 15],
    ['0o17', 15],
    ['0b11', 3],
    ['0x1F', 31],
    ['08', 8],
    ['1_000', 1000],
    ['1e3', 1000],
    ['10:00', '10:00'],
    ['12:30:45', '12:30:45'],
    ['2026-01-01', '2026-01-01'],
    ['2020-03-25T13:37:11Z', '2020-03-25T13:37:11Z'],
    ['~', null],
    ['', null],
    ['=', '='],
    ['9007199254740993', 9007199254740993n],
    ['18446744073709551615', 18446744073709551615n],
    ['-9223372036854775808', -9223372036854775808n],
    ['+1', 1],
    ['.5', 0.5],
    ['1.', 1],
    ['"0400"', '0400'],
    ["'on'", 'on'],
    ['!!str 12', '12'],
  ];
  for (const [text, value] of meanings) {
    it(`J7: ${text === '' ? 'nothing' : text} is ${typeof value === 'bigint' ? value : JSON.stringify(value)}`, () => {
      assert.deepEqual(read(`a: ${text}\n`), { a: value });
    });
  }

  it('J7: numbers that JSON cannot hold are refused at their place', () => {
    assert.deepEqual(problems('a: 1\nb: .inf\nc: -.INF\nd: .nan\n'), ['number 2:4', 'number 3:4', 'number 4:4']);
    assert.deepEqual(problems('a: 18446744073709551616\n'), ['number 1:4']);
    assert.deepEqual(problems('a: -9223372036854775809\n'), ['number 1:4']);
  });

  it('J7: a value that other readers take differently has a hint at its place', () => {
    const { hints, value } = parseYaml('mode: 0400\nenv:\n- value: on\nsafe: "on"\n');
    assert.deepEqual(value, { mode: 256, env: [{ value: true }], safe: 'on' });
    assert.deepEqual(
      hints.map(({ code, line, column }) => [code, line, column]),
      [
        ['ambiguous', 1, 7],
        ['ambiguous', 3, 10],
      ],
    );
  });

  it('J8: a doubled key is refused at both places', () => {
    const text = 'envFrom:\n- configMapRef: {name: a}\nimage: x\nenvFrom:\n- secretRef: {name: b}\n';
    assert.deepEqual(problems(text), ['duplicate-key 1:1', 'duplicate-key 4:1']);
    assert.deepEqual(problems('labels: {a: "1", a: "2"}\n'), ['duplicate-key 1:10', 'duplicate-key 1:18']);
    assert.deepEqual(problems('a: 1\na: 2\na: 3\n'), ['duplicate-key 1:1', 'duplicate-key 2:1', 'duplicate-key 3:1']);
  });

  it('J8: keys that become equal in JSON are doubled keys', () => {
    assert.deepEqual(problems('1: a\n"1": b\n'), ['duplicate-key 1:1', 'duplicate-key 2:1']);
    assert.deepEqual(problems('yes: a\n"true": b\n'), ['duplicate-key 1:1', 'duplicate-key 2:1']);
  });

  it('J8: a second document is refused, an empty end of the first is not', () => {
    assert.deepEqual(problems('a: 1\n---\nb: 2\n'), ['several-documents 3:1']);
    assert.deepEqual(read('---\na: 1\n...\n'), { a: 1 });
  });

  it('J8: tabs as indentation are refused', () => {
    assert.deepEqual(problems('a:\n\tb: 1\n'), ['syntax 2:1']);
    assert.deepEqual(problems('a:\n- b\n-\tc\n'), ['character 3:2']);
  });

  it('J8: aliases and merges are read; what readers disagree on is refused', () => {
    assert.deepEqual(read('x: &a {p: 1}\nz: *a\nw: {<<: *a, q: 2}\n'), { x: { p: 1 }, z: { p: 1 }, w: { p: 1, q: 2 } });
    assert.deepEqual(read('x: &a {p: 1}\nw: {<<: *a, p: 2}\n'), { x: { p: 1 }, w: { p: 2 } });
    assert.deepEqual(problems('x: &a {p: 1}\nw: {p: 2, <<: *a}\n'), ['merge 2:11']);
    assert.deepEqual(problems('a: *nobody\n'), ['alias 1:4']);
    assert.deepEqual(problems('a: &a [*a]\n'), ['alias 1:8']);
  });

  it('an alias bomb is refused before it unfolds', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 9; level += 1) {
      const alias = `*a${level - 1}`;
      lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => alias).join(', ')}]`);
    }
    assert.equal(parseYaml(lines.join('\n')).problems[0]?.code, 'alias');
  });

  it('tags, other YAML versions and keys that are no text are refused', () => {
    assert.deepEqual(problems('a: !!binary aGk=\n'), ['tag 1:4']);
    assert.deepEqual(problems('a: !mine 1\n'), ['tag 1:4']);
    assert.deepEqual(problems('%YAML 1.2\n---\na: 1\n'), ['directive 1:1']);
    assert.deepEqual(problems('? [a]\n: 1\n'), ['key 1:3']);
    assert.deepEqual(problems('1.5: a\n'), ['key 1:1']);
    assert.deepEqual(problems('~: a\n'), ['key 1:1']);
  });

  it('letters that Kubernetes does not read, or reads as line breaks, are refused', () => {
    assert.deepEqual(problems('a: b\u0001\n'), ['character 1:5']);
    assert.deepEqual(problems('a: "b\u2028c"\n'), ['character 1:6']);
    assert.deepEqual(read('a: "b\\u2028c"\n'), { a: 'b\u2028c' });
  });

  it('J9: times are text, with all their digits', () => {
    const text = 'spec:\n  renewTime: "2026-01-02T03:04:05.123456Z"\n  eventTime: 2026-01-02T03:04:05.123450Z\n';
    assert.deepEqual(read(text), {
      spec: { renewTime: '2026-01-02T03:04:05.123456Z', eventTime: '2026-01-02T03:04:05.123450Z' },
    });
  });

  it('an empty text holds nothing', () => {
    assert.equal(parseYaml('').value, null);
    assert.equal(parseYaml('# nothing\n').value, null);
  });

  it('finds the range of a path and the path of a place', () => {
    const text = 'spec:\n  replicas: 3\n  list:\n  - name: a\n';
    const { document } = parseYaml(text);
    const at = document.rangeAt(['spec', 'replicas']);
    assert.equal(text.slice(at?.start, at?.end), '3');
    const key = document.rangeAt(['spec', 'replicas'], 'key');
    assert.equal(text.slice(key?.start, key?.end), 'replicas');
    assert.equal(document.rangeAt(['spec', 'none']), undefined);
    assert.deepEqual(document.pathAt(text.indexOf('a\n')), ['spec', 'list', 0, 'name']);
  });
});

describe('printing YAML', () => {
  const texts = [
    'on',
    'off',
    'yes',
    'no',
    'y',
    'n',
    'null',
    '~',
    '',
    ' a',
    '10:00',
    '1_000',
    '0400',
    '017',
    '1e3',
    '0x1F',
    '.inf',
  ].concat([
    '2020-03-25T13:37:11Z',
    '=',
    '<<',
    '#x',
    'a: b',
    'multi\nline\n',
    'tab\t',
    '\u{1f600}',
    'trailing ',
    'a\r\nb\r\n',
    '\0',
    '\u0085',
    '\u2028',
    '-',
    '- a',
    '?',
    '%a',
    '@a',
    '`a',
    '!a',
    '&a',
    '*a',
    '{',
    '[',
    ']',
    ',',
    '---',
    '...',
    "'",
    '"',
    '\\',
    'a #b',
    'a:',
    ':a',
    '\n',
    'a\n\n',
    '\na',
    ' a\nb',
    'a\n b\n',
    'a\n\tb',
    'a \nb',
    'a\n \nb',
    '\uFEFF',
    '\uFFFE',
    '1.2.3',
    '-1',
    '+1',
    '.5',
    '0b1',
    '0o7',
    'Infinity',
    'NaN',
    'True',
    'é',
    '12345678-1234-1234-1234-123456789012',
    '1e5-x',
    '--flag',
    'x'.repeat(3000),
  ]);

  it('J7: every text reads back the same in both dialects and in ours, as value, list item and key', () => {
    for (const text of texts) {
      const value = { env: [{ value: text }], annotations: { [text]: text }, list: [text, [text]] };
      const printed = printYaml(value);
      assert.deepEqual(parse(printed), value, printed);
      assert.deepEqual(parse(printed, { version: '1.1' }), value, printed);
      assert.deepEqual(read(printed), value, printed);
    }
  });

  it('keys are in one order, whatever order they came in', () => {
    const expected =
      'apiVersion: v1\nkind: Toy\nmetadata:\n  labels: {}\n  name: demo\ndata:\n  a: b\nspec:\n  list:\n  - a: 1\n    b: 2\n  - []\nstatus: {}\n';
    assert.equal(
      printYaml({
        status: {},
        spec: { list: [{ b: 2, a: 1 }, []] },
        metadata: { name: 'demo', labels: {} },
        data: { a: 'b' },
        kind: 'Toy',
        apiVersion: 'v1',
      }),
      expected,
    );
  });

  it('big integers are exact and a text of several lines is a block', () => {
    assert.equal(
      printYaml({ a: 9007199254740993n, b: 'x\ny\n', c: 'x\ny' }),
      'a: 9007199254740993\nb: |\n  x\n  y\nc: |-\n  x\n  y\n',
    );
  });
});
