import * as mochaModule from 'mocha';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** mocha is an ES module: what `require` makes of it differs between the versions of Node in the tested hosts. */
const imported: { default?: unknown } = mochaModule;
const inner = imported.default as { default?: typeof Mocha } & typeof Mocha;
const MochaClass: typeof Mocha = inner.default ?? inner;

/** Runs every `*.test.cjs` of a folder with mocha inside the extension host and writes the counts where the launcher's caller reads them. */
export async function runMocha(folder: string): Promise<void> {
  const mocha = new MochaClass({ ui: 'bdd', timeout: 60_000, color: false, reporter: 'spec', ...grep() });
  const files = readdirSync(folder).filter((file) => file.endsWith('.test.cjs'));
  for (const file of files.sort()) mocha.addFile(join(folder, file));
  const counted = { passed: 0, failed: 0, skipped: 0, failures: [] as string[], slowest: [] as [number, string][] };
  const stacks: string[] = [];
  await new Promise<void>((done) => {
    const runner = mocha.run(() => done());
    runner.on('pass', (test) => {
      counted.passed += 1;
      counted.slowest.push([test.duration ?? 0, test.fullTitle()]);
    });
    runner.on('pending', () => (counted.skipped += 1));
    runner.on('fail', (test, error: Error) => {
      counted.failed += 1;
      counted.failures.push(`${test.fullTitle()}: ${error.message}`);
      stacks.push(`${test.fullTitle()}\n${error.stack ?? error.message}`);
    });
  });
  counted.slowest = counted.slowest.sort((a, b) => b[0] - a[0]).slice(0, 5);
  const result = process.env['OBJECT_VERSIONS_RESULTS'];
  if (result !== undefined) writeFileSync(result, JSON.stringify(counted));
  if (counted.failed > 0) throw new Error(`${counted.failed} failed:\n\n${stacks.join('\n\n')}`);
}

function grep(): { grep?: string } {
  const only = process.env['OBJECT_VERSIONS_TEST_GREP'];
  return only === undefined ? {} : { grep: only };
}
