import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createDetector } from '../../src/core/findings/detect.ts';
import { translateWith } from '../../src/core/timeline/translate.ts';
import { bothRead, configMap, data } from './scenario.ts';

const german = JSON.parse(readFileSync(new URL('../../l10n/bundle.l10n.de.json', import.meta.url), 'utf8')) as Record<
  string,
  string
>;
const name = configMap('settings');

describe('findings in German', () => {
  it('a lost update is told whole, with the request, the change and what it was based on', () => {
    const s = bothRead(name);
    s.get('A', name, 'U1', 'v2');
    s.write('A', name, 'replace', {
      preconditions: { token: 'v2' },
      basedOn: { uid: 'U1', token: 'v1', known: 'content' },
      body: data({ ann: '1', cyd: '1' }),
      result: { uid: 'U1', token: 'v3' },
      stored: data({ ann: '1', cyd: '1' }),
    });
    const detector = createDetector({ translate: translateWith(german) });
    for (const event of s.events) detector.add(event);
    detector.end();
    const loss = detector.findings().find(({ id }) => id === 'lost-update');
    assert.equal(
      loss?.explanation,
      'A hat einen älteren Inhalt mit einem neueren Token geschickt, so dass die Versionsprüfung ihn nicht ablehnen konnte (höchstwahrscheinlich). Die Anfrage, update (PUT), hat rückgängig gemacht, was B gesetzt hatte: .data.bob ("1" → fort). A war die Version "v2" gegeben worden, doch was geschickt wurde, gleicht der älteren Version "v1" in allem, was andere seither geändert haben, und es ist nicht bekannt, dass das gewollt war. Grundlage ist höchstwahrscheinlich die Version "v1": ihr ist der Inhalt am nächsten.',
    );
    assert.equal(loss.remedy.split(':')[0], 'Inhalt und Token aus einem Lesen nehmen');
  });
});
