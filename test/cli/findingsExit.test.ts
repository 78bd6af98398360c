import assert from 'node:assert/strict';
import { findingsExit, readFailRules } from '../../src/cli/findingsOutput.ts';

describe('what --fail-on decides', () => {
  const report = { findings: [], allowed: [], events: 1, notes: [] };

  it('no finding is no success where events could not be kept', async () => {
    const [any, none] = [await readFailRules({ failOn: 'any' }), await readFailRules({})];
    const unkept = { ...report, notAnalysed: { reads: 0, eventsUnkept: 2 } };
    assert.deepEqual([findingsExit(unkept, any), findingsExit(unkept, none)], [1, 0]);
    assert.equal(findingsExit({ ...report, notAnalysed: { reads: 3, eventsUnkept: 0 } }, any), 0);
  });
});
