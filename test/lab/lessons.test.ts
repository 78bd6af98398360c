import assert from 'node:assert/strict';
import { systemClock } from '../../src/base/clock.ts';
import type { Cluster } from '../../src/kube/cluster.ts';
import { discover, type Discovery } from '../../src/kube/discovery.ts';
import type { Lesson } from '../../src/lab/lesson.ts';
import { readLesson } from '../../src/lab/readLesson.ts';
import { builtInLessons, findLesson } from '../../src/lab/lessonFiles.ts';
import { LessonRun, type LessonOptions } from '../../src/lab/lessonRun.ts';
import { exchangeEvents } from '../../src/lab/exchangeEvents.ts';
import type { NewTraceEvent, TraceEvent } from '../../src/core/traceEvent.ts';
import { findingsOf } from '../findings/scenario.ts';
import { labServers, type LabServer } from './labCluster.ts';

const lessons = builtInLessons();

for (const [on, start] of Object.entries(labServers))
  describe(`lessons, on ${on}`, () => {
    let server: LabServer;
    let cluster: Cluster;
    let namespace: string;
    let resources: Discovery;
    before(async function () {
      server = await start(this);
      ({ cluster, namespace } = server);
      resources = await discover(cluster, new AbortController().signal);
    });
    after(() => server?.stop());

    const runOf = (lesson: Lesson, log: Partial<LessonOptions> = {}): LessonRun =>
      new LessonRun(lesson, {
        server: cluster,
        resources,
        namespace,
        clock: systemClock,
        signal: new AbortController().signal,
        ...log,
      });

    it('are ten, and every step has something to do, to check and to learn', () => {
      assert.equal(lessons.length, 10);
      for (const step of lessons.flatMap((lesson) => lesson.steps))
        assert.ok(step.solution.length > 0 && step.checks.length > 0, step.id);
    });

    for (const lesson of lessons) {
      it(`"${lesson.id}" passes when its steps are done, and leaves nothing behind`, async () => {
        const run = runOf(lesson);
        await run.start();
        for (let step = run.step; step !== undefined; step = run.step) {
          if (step.predict !== undefined) assert.equal(run.predict(step.predict.answer), true);
          await run.solve();
          const results = await run.check();
          assert.deepEqual(
            results.filter((result) => !result.passed),
            [],
            step.id,
          );
        }
        const report = await run.end();
        assert.equal(report.passed, true);
        const again = runOf(lesson);
        await again.start();
        await again.end();
      });

      it(`"${lesson.id}" fails each step that is skipped`, async () => {
        for (let skipped = 0; skipped < lesson.steps.length; skipped += 1) {
          const run = runOf(lesson);
          await run.start();
          try {
            for (let index = 0; index < skipped; index += 1) {
              await run.solve();
              await run.check();
            }
            const results = await run.check();
            assert.ok(
              results.some((result) => !result.passed),
              `step ${lesson.steps[skipped]?.id ?? ''} passed though nothing was done`,
            );
            assert.equal(run.report().passed, false);
          } finally {
            await run.end();
          }
        }
      });
    }

    it('what the wrong retry of "conflict-and-recompute" loses is a finding, with who lost by it', async () => {
      const events: TraceEvent[] = [];
      const keep = (event: NewTraceEvent): void => void events.push({ ...event, seq: events.length + 1 });
      const context = { cluster: 'c', secretKey: '0'.repeat(32) };
      const run = runOf(findLesson('conflict-and-recompute'), {
        onExchange: (exchange) => exchangeEvents(exchange, context).forEach(keep),
        safeWriteLog: { ...context, onEvent: keep, keepBodies: true },
      });
      await run.start();
      while (run.step !== undefined && run.step.id !== 'decide') {
        await run.solve();
        await run.check();
      }
      await run.end();
      assert.deepEqual(
        findingsOf(events)
          .filter(({ severity }) => severity === 'error')
          .map(({ id, kind, actors, fields }) => [id, kind, actors, fields]),
        [['lost-update', 'token-swap', ['cleo', 'learner', 'ben'], ['.data.ben', '.data.count']]],
      );
    });

    it('a check of two fields says which, and of what', async () => {
      const run = runOf(findLesson('gone-and-recreated'));
      await run.start();
      await run.solve();
      const first = await run.check();
      const second = await run.check();
      await run.end();
      assert.deepEqual(
        [...first, ...second].map(({ text }) => text),
        [
          'configmaps/bucket-registry has as .data.owner-uid the .metadata.uid remembered as "first"',
          'configmaps/bucket-registry has as .data.owner-uid the .metadata.uid of configmaps/invoices',
          'configmaps/bucket-registry has another .data.owner-uid than the .metadata.uid remembered as "first"',
        ],
      );
    });

    it('do not begin where one of their names is taken', async () => {
      const first = runOf(findLesson('opaque-token'));
      await first.start();
      const second = runOf(findLesson('opaque-token'));
      await assert.rejects(second.start(), { code: 'usage' });
      await second.end();
      assert.equal((await first.check())[0]?.text.startsWith('configmaps/settings'), true);
      await first.end();
    });

    it('record a wrong prediction as wrong', async () => {
      const run = runOf(findLesson('opaque-token'));
      await run.start();
      assert.equal(run.predict('another'), false);
      assert.equal(run.predict('the same'), false, 'once the answer is known it is no prediction any more');
      const report = await run.end();
      assert.equal(report.steps[0]?.predictedRight, false);
    });

    it('refuse a file that is no lesson, with the place', () => {
      const file =
        'lesson: object-versions\nversion: 1\nid: x\ntitle: x\nabout: x\nsteps:\n- {id: a, title: a, task: a, lesson: a, solution: [{jump: x}], check: []}\n';
      assert.throws(() => readLesson(file, 'x.yaml'), /x\.yaml: steps\[0\]\.solution\[0\] names no action/);
      assert.throws(() => readLesson('a: [', 'x.yaml'), { code: 'invalid-yaml', message: /^x\.yaml:1:\d+: / });
      assert.throws(() => findLesson('no-such-lesson'), { code: 'usage' });
    });

    for (const [what, find, wrong, said] of [
      [
        'a member of the lesson',
        'about: ',
        'abuot: x\nabout: ',
        /y: the lesson has "abuot"; what it may have is .*about/,
      ],
      ['a member of a step', '    before: []', '    befor: []', /y: steps\[0\] has "befor"; /],
      ['a member of an action', 'uidOf: first', 'uidof: first', /y: steps\[0\]\.solution\[1\] has "uidof"; .*uidOf/],
      ['a member of another action', 'uidOf: first', 'tokenOf: first', /y: steps\[0\]\.solution\[1\] has "tokenOf"; /],
      ['a member of a condition', 'equals: "2"', 'equal: "2"', /y: steps\[0\]\.check\[0\]\.where\[0\] has "equal"; /],
      ['a label of an action', 'uidOf: first', 'uidOf: frist', /y: steps\[0\]\.solution\[1\]\.uidOf names "frist"/],
      [
        'a label of a condition',
        'label: first',
        'label: last',
        /y: steps\[0\]\.check\[0\]\.where\[1\]\.label names "last"/,
      ],
      ['an answer', 'answer: 409', 'answer: 408', /y: steps\[0\]\.predict the answer is not among/],
      [
        'a step that checks nothing',
        /check:[^]*lesson: L/,
        'check: []\n    lesson: L',
        /y: steps\[0\]\.check is empty/,
      ],
      ['a step that is there', /(steps:\n)([^]*)$/, '$1$2$2', /y: steps\[1\]\.id is the id of an earlier step/],
    ] as const) {
      it(`refuse ${what} that is wrong, with the place`, () => {
        assert.equal(readLesson(shelf, 'y').steps[0]?.predict?.answer, '409');
        const text = shelf.replace(find, wrong);
        assert.notEqual(text, shelf);
        assert.throws(() => readLesson(text, 'y'), { code: 'invalid-yaml', message: said });
      });
    }
  });

/** A teacher's lesson, as the page on the format has it. */
const shelf = `lesson: object-versions
version: 1
id: shelf
title: T
about: A
setup:
  - create: { apiVersion: v1, kind: ConfigMap, metadata: { name: shelf } }
    remember: first
steps:
  - id: first
    title: T
    task: T
    before: []
    predict: { question: Q, choices: [200, 409], answer: 409 }
    solution:
      - modify: configmaps/shelf
        set: { .data.right: "2" }
      - delete: configmaps/shelf
        uidOf: first
        expect: 200
    check:
      - read: configmaps/shelf
        where:
          - { path: .data.right, equals: "2" }
          - { path: .metadata.uid, sameAs: { label: first, path: .metadata.uid } }
    lesson: L
`;
