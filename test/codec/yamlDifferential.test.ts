import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { Json } from '../../src/codec/json.ts';
import { equalJson } from '../../src/codec/json.ts';
import { parseYaml } from '../../src/codec/yaml.ts';
import { printYaml } from '../../src/codec/yamlPrint.ts';
import { hasGo, readAsKubernetes } from './kubernetesReader.ts';

const letters = (set: string, maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...Array.from(set)), maxLength });

const pieces = [
  'a: ',
  'b: ',
  '- ',
  '\n',
  '\n  ',
  '\n    ',
  'x',
  '1',
  '"q"',
  "'s'",
  '{',
  '}',
  '[',
  ']',
  ', ',
  ':',
  '# c',
  '|',
  '>',
  '&a ',
  '*a',
  '<<: ',
  '? ',
  'yes',
  ' ',
  '\t',
  '---',
  '\n---\n',
  '...',
  '!!str ',
  '!x ',
  '%',
  '@',
  '|-',
  '|+',
  '>-',
  'null',
  '-',
  '"a":',
  '0400',
  '\r\n',
  '"\\n"',
];

/** What an API object may hold. */
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>(null, true, false, 0, 1, -1, 1.5, 1e21, 9007199254740993n, 18446744073709551615n),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    letters('0123456789abefxoyntrulsi+-._:E~ \n#"\'{}[],&*!|>%@`=<\t\r', 12),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(letters('ynabe019.-_/ :#\n', 8), fc.string({ maxLength: 8 })), tie('value'), { maxKeys: 4 }),
  ),
})).value;

describe('the YAML reader beside sigs.k8s.io/yaml', function () {
  this.timeout(240_000);

  before('Go is needed for the Kubernetes reader', function () {
    if (hasGo()) return;
    if (process.env['CI'] !== undefined)
      throw new Error('Go is missing: the reader cannot be compared with the Kubernetes reader.');
    process.stderr.write('Go is missing: the YAML reader is not compared with the Kubernetes reader.\n');
    this.skip();
  });

  function compare(texts: readonly string[]): { same: number } {
    let same = 0;
    const reference = readAsKubernetes(texts);
    for (const [index, text] of texts.entries()) {
      const ours = parseYaml(text);
      const theirs = reference[index];
      assert.ok(theirs !== undefined);
      if (ours.value === undefined) continue;
      assert.equal(theirs.error, undefined, `we accept ${JSON.stringify(text)}, Kubernetes does not`);
      assert.ok(equalJson(ours.value, theirs.value), `${JSON.stringify(text)} is ${printYaml(ours.value)} to us`);
      same += 1;
    }
    return { same };
  }

  it('J7: plain scalars mean the same', () => {
    const scalar = letters('0123456789abefxobnyYNtTuULlRsSoOiIfF+-._:eE~ ', 9).map((text) => `a: ${text}\n`);
    const { same } = compare(fc.sample(scalar, { numRuns: 15_000, seed: 20260 }));
    assert.ok(same > 14_000, `only ${same} were read by both`);
  });

  it('J8: whatever is accepted means the same', () => {
    const text = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''));
    const { same } = compare(fc.sample(text, { numRuns: 15_000, seed: 20261 }));
    assert.ok(same > 2_000, `only ${same} were read by both`);
  });

  it('J8: a doubled key that the strict reader refuses is refused', () => {
    const texts = ['a: 1\na: 2\n', 'x:\n- {b: 1, b: 1}\n', 'e: {"a": 1, a: 2}\n'];
    for (const [index, { strict }] of readAsKubernetes(texts).entries()) {
      assert.match(strict ?? '', /already set/);
      assert.equal(parseYaml(texts[index] ?? '').problems.length, 2);
    }
  });

  it('J7: what is printed is read back exactly by Kubernetes, by YAML 1.1, by YAML 1.2 and by us', () => {
    const values = fc.sample(json, { numRuns: 4_000, seed: 20262 });
    const printed = values.map((value) => printYaml(value));
    const reference = readAsKubernetes(printed);
    for (const [index, value] of values.entries()) {
      const text = printed[index] ?? '';
      assert.ok(
        equalJson(reference[index]?.value, value),
        `Kubernetes reads ${text} otherwise: ${reference[index]?.error}`,
      );
      assert.ok(equalJson(parseYaml(text).value, value), `we read ${text} otherwise`);
      assert.ok(equalJson(parse(text, { intAsBigInt: true }) as Json, value), `YAML 1.2 reads ${text} otherwise`);
      assert.ok(
        equalJson(parse(text, { intAsBigInt: true, version: '1.1' }) as Json, value),
        `YAML 1.1 reads ${text} otherwise`,
      );
    }
  });
});
