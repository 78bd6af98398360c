import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { startScenario, type RunningScenario } from '../../src/sandbox/scenario.ts';
import { sharedApiServer } from '../apiserver/apiServer.ts';
import type { CanonicalStep } from './canon.ts';
import { subjectOf, type Subject } from './exchange.ts';
import { runCase } from './runCase.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const files = readdirSync(join(here, 'cases'), { recursive: true })
  .map(String)
  .filter((file) => file.endsWith('.json'))
  .sort();
const caseText = (file: string): string => readFileSync(join(here, 'cases', file), 'utf8');
const golden = (file: string): CanonicalStep[] =>
  (JSON.parse(readFileSync(join(here, 'golden', file), 'utf8')) as { steps: CanonicalStep[] }).steps;

/** What the sandbox answered, for the comparison with the real server. */
const answered = new Map<string, CanonicalStep[]>();

describe('conformance: the sandbox answers as the real API server was recorded', function () {
  this.timeout(60_000);
  let running: RunningScenario;
  let subject: Subject;

  before(async () => {
    running = await startScenario({ scenario: 'bare' });
    subject = subjectOf(running.sandbox);
  });
  after(async () => {
    subject.agent.destroy();
    await running.stop();
  });

  for (const file of files) {
    it(`${file.replace('.json', '')}: ${(JSON.parse(caseText(file)) as { teaches: string }).teaches}`, async () => {
      const steps = await runCase(subject, caseText(file));
      answered.set(file, steps);
      assert.deepEqual(steps, golden(file));
    });
  }
});

describe('conformance: the sandbox answers as the real API server does now', function () {
  this.timeout(60_000);
  let subject: Subject;

  before(async function () {
    subject = subjectOf(await sharedApiServer(this));
  });
  after(() => subject?.agent.destroy());

  for (const file of files) {
    it(file.replace('.json', ''), async () => {
      assert.deepEqual(answered.get(file), await runCase(subject, caseText(file)));
    });
  }
});
