import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { inLanguage } from '../../src/lab/lesson.ts';
import { builtInLessons } from '../../src/lab/lessonFiles.ts';
import { readLesson } from '../../src/lab/readLesson.ts';
import { factWords } from '../../src/lab/replayFacts.ts';
import { replaySteps } from '../../src/lab/replaySteps.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const german = JSON.parse(readFileSync(join(root, 'l10n/bundle.l10n.de.json'), 'utf8')) as Record<string, string>;

const lesson = (more = '', translations = ''): string => `lesson: object-versions
version: 1
id: x
title: T
about: A
${more}
steps:
  - id: one
    title: One
    task: Do
    predict: {question: Q, choices: ["a", "b"], answer: "b"}
    solution: []
    check: [{absent: cm/a}]
    lesson: L
${translations}`;

const whole = `translations:
  de:
    title: Titel
    about: Worum
    steps:
      one: {title: Eins, task: Tun, question: F, choices: ["ah", "be"], lesson: Gelernt}
`;

describe('the words of labs and lessons', () => {
  it('every lesson that comes with the product is there in German', () => {
    for (const item of builtInLessons()) {
      assert.ok(item.translations.has('de'), item.id);
      const translated = inLanguage(item, 'de-AT');
      assert.notEqual(translated.title, item.title);
      for (const [index, step] of translated.steps.entries()) {
        assert.notEqual(step.task, item.steps[index]?.task, step.id);
        assert.ok(step.predict === undefined || step.predict.choices.includes(step.predict.answer), step.id);
      }
      assert.equal(inLanguage(item, 'fr'), item, 'a language that it is not translated into');
    }
  });

  it('every sentence of the replay and of the checks is there in German', () => {
    const sentences = new Set([
      ...replaySteps.flatMap(({ title, question, choices, lesson: learnt }) => [title, question, learnt, ...choices]),
      ...Object.values(factWords),
    ]);
    for (const file of globSync('src/lab/*.ts', { cwd: root }))
      for (const [, said] of readFileSync(join(root, file), 'utf8').matchAll(/\btranslate\(\s*'((?:[^'\\]|\\.)*)'/g))
        sentences.add(said ?? '');
    assert.ok(sentences.size > 60);
    assert.deepEqual(
      [...sentences].filter((sentence) => !Object.hasOwn(german, sentence)),
      [],
    );
  });

  it('what a step of the replay is held against has words', () => {
    const facts = new Set(replaySteps.flatMap(({ expected }) => Object.keys(expected)));
    assert.deepEqual([...facts].sort(), Object.keys(factWords).sort());
  });

  it('no lesson names a place that only one surface has', () => {
    for (const item of builtInLessons())
      for (const { id, task } of item.steps)
        assert.doesNotMatch(task, /\b(tree|view|page|click|button|command palette|panel)\b/i, `${item.id}/${id}`);
  });

  it('a translation maps texts and choices, and the right answer stays the right one', () => {
    const read = readLesson(lesson('', whole), 'x.yaml');
    const [step] = inLanguage(read, 'de').steps;
    assert.deepEqual([step?.title, step?.task, step?.lesson], ['Eins', 'Tun', 'Gelernt']);
    assert.deepEqual(step?.predict, { question: 'F', choices: ['ah', 'be'], answer: 'be' });
    assert.equal(inLanguage(read, 'en').steps[0]?.predict?.answer, 'b');
  });

  for (const [what, translations, sentence] of [
    ['lacks a step', whole.replace(/\n +one:.*/, ' {}'), /translations\.de\.steps\.one is missing/],
    ['has a step too many', `${whole}      two: {}\n`, /translations\.de\.steps\.two is no step of the lesson/],
    ['lacks a choice', whole.replace(', "be"', ''), /steps\.one\.choices must hold 2 choices/],
    ['lacks a text', whole.replace('task: Tun, ', ''), /steps\.one\.task must be text/],
  ] as const)
    it(`a translation that ${what} is refused with the place`, () => {
      assert.throws(() => readLesson(lesson('', translations), 'x.yaml'), sentence);
    });

  it('a lesson says which sandbox it wants: one without controllers unless it asks for them', () => {
    assert.equal(readLesson(lesson(), 'x.yaml').sandbox, 'bare');
    assert.equal(readLesson(lesson('sandbox: quiet'), 'x.yaml').sandbox, 'quiet');
    assert.throws(() => readLesson(lesson('sandbox: lively'), 'x.yaml'), /sandbox must be bare or quiet/);
  });
});
