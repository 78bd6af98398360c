import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';

import { startScenario, type RunningScenario } from '../../src/sandbox/scenario.ts';
import { sharedApiServer } from '../apiserver/apiServer.ts';
import { exchange, subjectOf, type Subject } from './exchange.ts';
import { RANDOM_DEFINITION, sequences } from './randomSteps.ts';
import { runCase } from './runCase.ts';

/** Another seed, and more runs, explore further: OBJECT_VERSIONS_SEED=… OBJECT_VERSIONS_RUNS=… */
const seed = Number(process.env['OBJECT_VERSIONS_SEED'] ?? 20_261);
const numRuns = Number(process.env['OBJECT_VERSIONS_RUNS'] ?? 40);

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

async function call(subject: Subject, method: string, path: string, object?: unknown): Promise<number> {
  const body = object === undefined ? undefined : JSON.stringify(object);
  const headers = {
    authorization: `Bearer ${subject.token}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  return (await exchange(subject, { method, path, headers, body, watch: undefined }, async () => undefined)).status;
}

/** Creates the definition that the sequences use, and waits until it is served. */
async function define(subject: Subject): Promise<void> {
  assert.equal(await call(subject, 'POST', DEFINITIONS, RANDOM_DEFINITION), 201);
  while ((await call(subject, 'GET', `/apis/${RANDOM_DEFINITION.spec.group}/v1/widgets`)) !== 200) await delay(50);
}

describe('conformance: random sequences', function () {
  this.timeout(600_000);
  let running: RunningScenario;
  let sandbox: Subject;
  let real: Subject;

  before(async function () {
    real = subjectOf(await sharedApiServer(this));
    running = await startScenario({ scenario: 'bare' });
    sandbox = subjectOf(running.sandbox);
    await Promise.all([sandbox, real].map(define));
  });
  after(async () => {
    await call(real, 'DELETE', `${DEFINITIONS}/${RANDOM_DEFINITION.metadata.name}`);
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
      { seed, numRuns },
    );
  });
});
