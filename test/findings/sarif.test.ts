import assert from 'node:assert/strict';
import fc from 'fast-check';
import { findingIds, type Finding } from '../../src/core/findings/finding.ts';
import type { FindingsReport } from '../../src/core/findings/report/report.ts';
import { reportSarif } from '../../src/core/findings/report/sarif.ts';
import { sarifErrors } from './sarif/sarifErrors.ts';
import { configMap, data, Scenario } from './scenario.ts';

interface Log {
  runs: [
    {
      tool: { driver: { name?: string } };
      results: {
        level: string;
        occurrenceCount: number;
        locations: [{ physicalLocation: { artifactLocation: { uri: string } } }];
      }[];
    },
  ];
}

function logOf(report: Partial<FindingsReport>, input = 'audit.log'): Log {
  const whole = { findings: [], allowed: [], notAnalysed: {}, events: 0, notes: [], ...report };
  return JSON.parse(reportSarif(whole, { version: '0.1.0' }, input)) as Log;
}

function recreation(): Finding {
  const s = new Scenario();
  for (const [uid, token] of Object.entries({ 'uid-a': 'a', 'uid-b': 'b' }))
    s.stream(configMap('demo'), uid, token, data({}));
  const [finding] = s.findings();
  assert.ok(finding !== undefined);
  return finding;
}

const text = fc.string({ unit: 'binary', maxLength: 12 });
const texts = fc.array(text, { maxLength: 8 });
const time = fc.nat();

/** Any finding, of any rule, about an object with any name: what a person's log says is not ours to choose. */
const anyFinding: fc.Arbitrary<Finding> = fc
  .record({
    id: fc.constantFrom(...findingIds),
    severity: fc.constantFrom('error' as const, 'warning' as const, 'info' as const),
    cluster: text,
    object: fc.record({ group: text, resource: text, namespace: text, name: text, uid: text }),
    actors: texts,
    fields: texts,
    count: fc.integer({ min: 1 }),
    firstAt: time,
    lastAt: time,
    events: fc.array(fc.nat(), { maxLength: 64 }),
    explanation: text,
    remedy: text,
    sureness: fc.constantFrom('certain' as const, 'likely' as const),
    kind: fc.option(text, { nil: undefined }),
  })
  .map(({ kind, ...rest }) => (kind === undefined ? rest : { ...rest, kind }));

const anyReport = fc.record({
  findings: fc.array(anyFinding, { maxLength: 5 }),
  allowed: fc.array(
    anyFinding.chain((finding) =>
      text.map((reason) => ({ finding, allowance: { id: finding.id, reason, expires: 0 } })),
    ),
    { maxLength: 3 },
  ),
});

describe('a report as SARIF', () => {
  it('is valid by the schema of SARIF 2.1.0, whatever was found, allowed, and called so', () => {
    fc.assert(
      fc.property(
        anyReport,
        fc.array(text).map((parts) => parts.join('/')),
        (report, input) => {
          assert.deepEqual(sarifErrors(logOf(report, input)), []);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('is valid where nothing was found, and of files that are called as no URI is', () => {
    for (const input of ['', 'stdin', '/var/log/a b.log', 'C:\\logs\\ä.log', '//x:y/[z]', '%zz', 'a?b#c', '😀.log'])
      for (const findings of [[], [recreation()]]) assert.deepEqual(sarifErrors(logOf({ findings }, input)), [], input);
  });

  it('would not be valid with another level, a place that is no URI, half an occurrence or a tool without a name', () => {
    const log = logOf({ findings: [recreation()] });
    const [run] = log.runs;
    const [result] = run.results;
    assert.ok(result !== undefined);
    result.level = 'info';
    result.occurrenceCount = 1.5;
    result.locations[0].physicalLocation.artifactLocation.uri = 'a b.log';
    delete run.tool.driver.name;
    assert.deepEqual(sarifErrors(log).sort(), [
      '#/runs/0/results/0/level enum',
      '#/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri format',
      '#/runs/0/results/0/occurrenceCount type',
      '#/runs/0/tool/driver/name required',
    ]);
    assert.deepEqual(sarifErrors({ ...logOf({}), more: 1 }), ['#/more additionalProperties']);
  });
});
