// Mocha's spec output, kept short where all is well, and the counts as a file for scripts/test.mjs.
// A run that has ended and still holds something open is a failure: it is named, and the process ends.
const { writeFileSync } = require('node:fs');
const { reporters } = require('mocha');

const graceMs = 5000;

module.exports = class Reporter extends reporters.Dot {
  constructor(runner, options) {
    super(runner, options);
    const file = process.env.OBJECT_VERSIONS_TEST_RESULT;
    const slow = [];
    const failures = [];
    runner.on('fail', (test, error) => failures.push(`${test.fullTitle()}: ${String(error?.message ?? error)}`));
    runner.on('test end', (test) => slow.push([test.duration ?? 0, test.fullTitle()]));
    runner.once('end', () => {
      const { stats } = runner;
      const write = (leaked) =>
        file &&
        writeFileSync(
          file,
          JSON.stringify({
            passed: stats.passes,
            failed: stats.failures + leaked,
            skipped: stats.pending,
            failures,
            slowest: slow.sort((a, b) => b[0] - a[0]).slice(0, 5),
          }),
        );
      write(0);
      setTimeout(() => {
        console.error(`\nThe tests ended but something is still open: ${process.getActiveResourcesInfo().join(', ')}`);
        write(1);
        process.exit(1);
      }, graceMs).unref();
    });
  }
};
