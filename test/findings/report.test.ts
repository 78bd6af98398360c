import assert from 'node:assert/strict';
import { reportHtml } from '../../src/core/findings/report/html.ts';
import type { Mark } from '../../src/core/findings/report/mark.ts';
import { reportJunit } from '../../src/core/findings/report/junit.ts';
import { reportText, type FindingsReport } from '../../src/core/findings/report/report.ts';
import { tokenBadge } from '../../src/core/tokenBadge.ts';
import type { Finding } from '../../src/core/findings/finding.ts';
import { Marks } from '../../src/recorder/marks.ts';
import { configMap, data, Scenario } from './scenario.ts';

function reportOf(findings: readonly Finding[]): FindingsReport {
  return { findings, allowed: [], notAnalysed: {}, events: 99, notes: [] };
}

/** One name that is recreated so often, and another one that is once. */
function recreations(times: number): Scenario {
  const s = new Scenario();
  for (let index = 0; index <= times; index += 1)
    s.stream(configMap('often'), `uid-${index}`, `v${index}`, data({ n: String(index) }));
  s.stream(configMap('once'), 'uid-a', 'a', data({}));
  s.stream(configMap('once'), 'uid-b', 'b', data({}));
  return s;
}

function count(text: string, part: string | RegExp): number {
  return text.split(part).length - 1;
}

describe('a report', () => {
  const findings = recreations(10).findings();

  it('tells repetitions on one object in one section with its occurrences, whatever the incarnation', () => {
    assert.equal(findings.length, 11);
    const text = reportText(reportOf(findings));
    assert.equal(count(text, /^info: recreated on /m), 2);
    assert.match(text, /^info: recreated on configmaps lab\/often, 10 times$/m);
    assert.equal(count(text, /^ {2}- 1970-01-01 [\d:.]+ UTC: The name often/m), 5);
    assert.match(text, /^ {2}and 5 more$/m);
    assert.equal(count(text, 'remedy: '), 2);
    const html = reportHtml(reportOf(findings), [], 'Findings', '');
    assert.equal(count(html, '<section '), 2);
    assert.equal(count(html, 'The name often belongs'), 10);
    assert.match(html, /<summary>7 more<\/summary>/);
    for (const [, target = ''] of html.matchAll(/href="#([\w-]+)"/g))
      assert.ok(html.includes(`id="${target}"`), target);
  });

  it('keeps findings of different kinds, severities or objects apart, the gravest first', () => {
    const [one, two] = findings;
    assert.ok(one !== undefined && two !== undefined);
    const mixed = [one, { ...two, kind: 'other' }, { ...two, severity: 'error' as const }, { ...two, cluster: 'c2' }];
    const heads = reportText(reportOf(mixed)).match(/^(error|info): .*/gm);
    assert.deepEqual(heads, [
      'error: recreated on configmaps lab/often',
      'info: recreated on configmaps lab/often',
      'info: recreated (other) on configmaps lab/often',
      'info: recreated on configmaps lab/often',
    ]);
  });

  it('has the evidence in the order of events', () => {
    const [one] = findings;
    assert.ok(one !== undefined);
    const report = reportOf([{ ...one, events: [99, 8, 100, 98] }]);
    assert.match(reportText(report), /proof: events 8, 98, 99, 100$/m);
    assert.match(
      reportJunit(report, () => true),
      /proof: events 8, 98, 99, 100$/m,
    );
    const order = [...reportHtml(report, [], 'Findings', '').matchAll(/<li>event (\d+)/g)].map(([, seq]) => seq);
    assert.deepEqual(order, ['8', '98', '99', '100']);
  });

  it('says where the pages are and what its number of events counts', () => {
    const text = reportText(reportOf(findings), '/somewhere/docs/findings/');
    assert.match(text, /"Explain Finding" in the editor, or \/somewhere\/docs\/findings\/recreated\.md\.$/m);
    assert.match(text, /in 99 events\. Each read, write and observation of the log counts as an event/);
    assert.ok(!reportText(reportOf([])).includes('Explain Finding'));
    const html = reportHtml(reportOf(findings), [], 'Findings', '');
    assert.match(html, /Explain Finding/);
    assert.match(html, /counts as an event; a timeline shows each version once/);
  });

  it('names versions by the equality badges of the product, also of a write that does not say of which incarnation', () => {
    const s = new Scenario();
    s.stream(configMap(), 'uid-1', '54', data({ a: '1' }));
    s.get('A', configMap(), 'uid-1', '54');
    s.write('B', configMap(), 'replace', {
      preconditions: { token: '54' },
      body: data({ a: '2' }),
      result: { uid: 'uid-1', token: '61' },
    });
    s.write('A', configMap(), 'replace', {
      preconditions: { token: '54' },
      body: data({ a: '3' }),
      outcome: 'version-conflict',
      code: 409,
    });
    s.write('C', configMap('never-seen'), 'replace', { preconditions: { token: '7' }, outcome: 'version-conflict' });
    const found = s.findings();
    const marks = new Marks(() => found, 100);
    for (const event of s.events) marks.add(event);
    const html = reportHtml(reportOf(found), marks.all(), 'Findings', '');
    const code = (token: string): string => tokenBadge('uid-1', token, ['54', '61']).code;
    const shown = (token: string): string =>
      `<span class="badge c\\d" title="token &quot;${token}&quot;">${code(token)}</span>`;
    assert.match(html, new RegExp(`<b>B</b> replace of version ${shown('54')}: accepted, now ${shown('61')}`));
    assert.match(html, new RegExp(`<b>A</b> replace of version ${shown('54')}: version-conflict`));
    assert.match(html, /<b>C<\/b> replace of version <span class="badge" title="[^"]*">“7”<\/span>: version-conflict/);
    const visible = html.replaceAll(/<title>.*?<\/title>|<style>.*?<\/style>|title="[^"]*"/gs, '');
    assert.ok(!/version (54|61)|now (54|61)/.test(html));
    assert.ok(!/>(54|61)</.test(visible));
  });

  it('has the timeline of the editor: a row for each actor, and a curve from a refused write to the one that won', () => {
    const s = new Scenario();
    s.stream(configMap(), 'uid-1', 'v1', data({ a: '1' }));
    s.get('A', configMap(), 'uid-1', 'v1');
    s.write('B', configMap(), 'replace', {
      preconditions: { token: 'v1' },
      body: data({ a: '2' }),
      result: { uid: 'uid-1', token: 'v2' },
    });
    s.write('A', configMap(), 'replace', { preconditions: { token: 'v1' }, outcome: 'version-conflict', code: 409 });
    const found = s.findings();
    const marks = new Marks(() => found, 100);
    for (const event of s.events) marks.add(event);
    const figure = (kept: readonly Mark[]): string =>
      /<figure>.*<\/figure>/s.exec(reportHtml(reportOf(found), kept, 'Findings', ''))?.[0] ?? '';
    const html = figure(marks.all());
    const rows = ['A', 'B'].map((name) => new RegExp(`<text x="40" y="([\\d.]+)"[^>]*>${name}</text>`).exec(html)?.[1]);
    assert.ok(rows.every((y) => y !== undefined));
    assert.match(
      html,
      /<a href="#f0"><g><title>event \d+: A replace of version [^<]*: version-conflict, [\d:.]+<\/title><use href="#g-conflict"/,
    );
    const solid = /<path d="M[^"]*" fill="none" stroke="[^"]*"\/>/g;
    assert.equal(html.match(solid)?.length, 2, 'on the lane, and from row to row');
    const unknown = marks.all().filter(({ seq, kind }) => kind !== 'accepted' || seq === 0);
    assert.equal(figure(unknown).match(solid), null, 'who won is not made up');
  });

  it('takes what objects are called, and tokens, as text', () => {
    const evil = '<img src=x onerror="1">';
    const [one] = findings;
    assert.ok(one !== undefined);
    const mark: Mark = {
      seq: one.events[0] ?? 0,
      at: one.firstAt,
      object: `configmaps lab/${evil}`,
      uid: evil,
      actor: evil,
      kind: 'accepted',
      text: [evil, { token: evil }],
    };
    const finding = { ...one, object: { ...one.object, name: evil }, explanation: evil };
    assert.ok(!reportHtml(reportOf([finding, finding]), [mark], 'Findings', '').includes('<img'));
  });

  it('holds as many findings of one object as there are', () => {
    const [first] = findings;
    assert.ok(first !== undefined);
    const many = Array.from({ length: 200_000 }, (_, at) => ({ ...first, firstAt: at, lastAt: at }));
    assert.match(reportText(reportOf(many)), /, 200000 times$/m);
    assert.match(reportHtml(reportOf(many), [], 'Findings', ''), /200000, from 00:00:00\.000 to 00:03:19\.999/);
  });

  it('shows a value that talks of a version as it is, and names only tokens by badges, whatever characters they have', () => {
    const s = new Scenario();
    const said = 'version "<v&1>"';
    s.stream(configMap(), 'uid-1', '<v&1>', data({ a: said }));
    s.get('A', configMap(), 'uid-1', '<v&1>');
    s.write('B', configMap(), 'patch', { result: { uid: 'uid-1', token: '<v&2>' }, stored: data({ a: '2' }) });
    s.write('A', configMap(), 'replace', {
      body: data({ a: said }),
      result: { uid: 'uid-1', token: '<v&3>' },
      stored: data({ a: said }),
    });
    const found = s.findings();
    const marks = new Marks(() => found);
    for (const event of s.events) marks.add(event);
    const [, told] = /<p>(A sent no token.*?)<\/p>/.exec(reportHtml(reportOf(found), marks.all(), 'F', '')) ?? [];
    assert.ok(
      told?.includes(String.raw`.data.a (&quot;2&quot; → &quot;version \&quot;&lt;v&amp;1&gt;\&quot;&quot;)`),
      told,
    );
    assert.match(told ?? '', /has the token <span class="badge c\d" title="token &quot;&lt;v&amp;1&gt;&quot;">/);
    assert.equal(count(told ?? '', '<span'), 1);
  });

  it('does not let a name steer the terminal', () => {
    const [first] = findings;
    assert.ok(first !== undefined);
    const text = reportText(reportOf([{ ...first, actors: ['\u001b[2Jm\n\u202Ex'] }]));
    assert.match(text, /^ {2}actors: �\[2Jm��x$/m);
  });
});
