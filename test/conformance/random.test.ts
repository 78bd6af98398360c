import assert from 'node:assert/strict';
import fc from 'fast-check';

import { startScenario, type RunningScenario } from '../../src/sandbox/scenario.ts';
import { sharedApiServer } from '../apiserver/apiServer.ts';
import { subjectOf, type Subject } from './exchange.ts';
import { sequences } from './randomSteps.ts';
import { runCase } from './runCase.ts';

/** Another seed, and more runs, explore further: OBJECT_VERSIONS_SEED=… OBJECT_VERSIONS_RUNS=… */
const seed = Number(process.env['OBJECT_VERSIONS_SEED'] ?? 20_261);
const numRuns = Number(process.env['OBJECT_VERSIONS_RUNS'] ?? 40);

describe('conformance: random sequences', function () {
  this.timeout(600_000);
  let running: RunningScenario;
  let sandbox: Subject;
  let real: Subject;

  before(async function () {
    real = subjectOf(await sharedApiServer(this));
    running = await startScenario({ scenario: 'bare' });
    sandbox = subjectOf(running.sandbox);
  });
  after(async () => {
    sandbox?.agent.destroy();
    real?.agent.destroy();
    await running?.stop();
  });

  it('are answered alike by the sandbox and the real API server', async () => {
    await fc.assert(
      fc.asyncProperty(sequences, async (steps) => {
        const source = JSON.stringify({ name: 'random', area: 'random', teaches: '', steps });
        const [ours, theirs] = await Promise.all([runCase(sandbox, source), runCase(real, source)]);
        assert.deepEqual(ours, theirs);
      }),
      { seed, numRuns, verbose: 1 },
    );
  });
});
