import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { contentionStrategies } from '../../src/lab/contention.ts';
import { MODULAR_DISCLAIMER, resetModular } from '../../src/lab/modular.ts';
import { english } from '../../src/core/timeline/translate.ts';
import { ModularSession } from '../../src/editor/labs/modularSession.ts';
import { isHostToLab, isLabToHost, LAB_PROTOCOL, LAB_REQUESTS } from '../../src/protocol/lab.ts';
import { CONTENTION_STRATEGIES, isLabState } from '../../src/protocol/labStates.ts';

describe('the messages between host and labs’ pages', () => {
  const session = new ModularSession({ translate: english, onError: (error) => assert.fail(String(error)) });
  const state = session.state();
  const init = { type: 'init', protocol: LAB_PROTOCOL, page: 'modular', translations: {} };

  it('are accepted as they are sent', () => {
    assert.equal(isHostToLab(init, 'm'), undefined);
    assert.equal(isHostToLab({ type: 'state', sequence: 1, state }, 'm'), undefined);
    assert.equal(isLabToHost({ type: 'ready', protocol: LAB_PROTOCOL }, 'm'), undefined);
  });

  it('are refused with the place of what is wrong', () => {
    assert.match(isHostToLab({ ...init, page: 'other' }, 'm') ?? '', /^m\.page is not one of/);
    assert.match(isHostToLab({ type: 'other' }, 'm') ?? '', /^m\.type is unknown/);
    assert.match(isLabState({ ...state, page: 'replay' }, 's') ?? '', /^s\.place is not an object/);
    assert.match(isLabState({ ...state, steps: -1 }, 's') ?? '', /^s\.steps is not a whole number/);
    assert.match(isLabState({ ...state, ring: [{ label: 0 }] }, 's') ?? '', /^s\.ring\[0\]\.label/);
    assert.match(isLabState('modular', 's') ?? '', /^s is not an object/);
    assert.match(LAB_REQUESTS.modularStep.params({ predicted: 1 }, 'p') ?? '', /^p\.predicted is not a string/);
    assert.match(LAB_REQUESTS.modularAnswer.params({ id: '0-8', choice: 'greater' }, 'p') ?? '', /one of newer, older/);
  });

  it('name the strategies that the lab has, in its order', () => {
    assert.deepEqual([...CONTENTION_STRATEGIES], [...contentionStrategies]);
  });

  it('carry sentences that are translated, where the lab itself makes them', () => {
    const german = JSON.parse(
      readFileSync(new URL('../../l10n/bundle.l10n.de.json', import.meta.url), 'utf8'),
    ) as object;
    const bad = resetModular('0', '1');
    assert.ok(Object.hasOwn(german, MODULAR_DISCLAIMER));
    assert.ok('sentence' in bad && Object.hasOwn(german, bad.sentence));
  });
});
