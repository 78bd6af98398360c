import assert from 'node:assert/strict';
import { reportHtml } from '../../src/core/findings/report/html.ts';
import { reportText } from '../../src/core/findings/report/report.ts';
import { Marks } from '../../src/recorder/marks.ts';
import { Scenario, configMap, data, findingsOf } from '../findings/scenario.ts';

describe('what a report shows of events', () => {
  it('is bounded, and of a long log keeps what is about objects with findings, however old it is', () => {
    const s = new Scenario();
    s.stream(configMap('found'), 'uid-1', '1', data({ a: '1' }));
    s.stream(configMap('found'), 'uid-2', '2', data({ a: '1' }));
    for (let index = 0; index < 500; index += 1)
      s.stream(configMap(`other-${index}`), `uid-other-${index}`, String(10 + index), data({}));
    const findings = findingsOf(s.events);
    assert.deepEqual(
      findings.map((finding) => finding.id),
      ['recreated'],
    );
    const marks = new Marks(() => findings, 40);
    for (const event of s.events) marks.add(event);
    const kept = marks.all();
    assert.ok(kept.length <= 40, String(kept.length));
    assert.deepEqual(
      kept.map((item) => [item.object, item.text]),
      [
        ['configmaps lab/found', ['showed version ', { token: '1' }]],
        ['configmaps lab/found', ['showed version ', { token: '2' }]],
      ],
    );
  });

  it('names who wrote a version that was only seen, where its managed fields tell, and each event of a proof in the text', () => {
    const s = new Scenario();
    const by = (manager: string, a: string) => ({
      metadata: { managedFields: [{ manager, operation: 'Update', apiVersion: 'v1', time: `t${a}`, fieldsV1: {} }] },
      ...data({ a, own: '0' }),
    });
    s.stream(configMap(), 'uid-1', 'v1', by('other', '1'));
    s.get('A', configMap(), 'uid-1', 'v1');
    s.stream(configMap(), 'uid-1', 'v2', by('other', '2'));
    s.write('A', configMap(), 'replace', {
      body: data({ a: '1', own: '1' }),
      result: { uid: 'uid-1', token: 'v3' },
      stored: data({ a: '1', own: '1' }),
    });
    const findings = s.findings();
    const marks = new Marks(() => findings);
    for (const event of s.events) marks.add(event);
    const report = { findings, allowed: [], notAnalysed: {}, events: s.events.length, notes: [] };
    const text = reportText(report, undefined, marks.all());
    assert.match(text, /^error: lost-update \(unconditional-overwrite\)/m);
    assert.match(text, /^ {4}\S+ event 2: A get: was given "v1"$/m);
    assert.match(text, /^ {4}\S+ event 3: recorder showed version "v2", which other wrote$/m);
    assert.match(text, /^ {4}\S+ event 4: A replace: accepted, now "v3"$/m);
    const html = reportHtml(report, marks.all(), 'Findings', '');
    assert.match(html, /the last it was given has the token <span class="badge/);
    assert.match(/<figure>.*<\/figure>/s.exec(html)?.[0] ?? '', />other</, 'a row of its own on the timeline');
  });
});
