// A bare sandbox in a process of its own, for the bench: prints one line when it serves, with how long that took.
import { performance } from 'node:perf_hooks';

const before = performance.now();
const { startScenario } = await import('../../src/sandbox/scenario.ts');
const running = await startScenario({ scenario: 'bare', ownProcess: true });
const startMs = performance.now() - before;
const { url, token, userToken } = running.sandbox;
process.stdout.write(`${JSON.stringify({ url, token, userToken, startMs })}\n`);
process.on('SIGTERM', () => void running.stop());
