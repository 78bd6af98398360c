import { FILTER_KEYS, IS_VALUES } from '../../src/core/timeline/filter.ts';
import { MARK_KINDS } from '../../src/core/timeline/model.ts';
import type { Translate } from '../../src/core/timeline/translate.ts';
import { element } from '../common/dom.ts';
import { KEY_HELP } from './keyboard.ts';
import { glyphImage } from './glyphImage.ts';
import { KIND_WORDS } from './words.ts';

/** Makes the dialog with the keys, the marks and the words of the filter. */
export function helpDialog(translate: Translate): HTMLDialogElement {
  const dialog = element('dialog', { class: 'help', attributes: { 'aria-labelledby': 'help-title' } });
  const keys = element('dl', { class: 'keys' });
  for (const { keys: names, does } of KEY_HELP) {
    const term = element('dt');
    for (const name of names.split(' ')) term.append(element('kbd', { text: name }));
    keys.append(term, element('dd', { text: translate(does) }));
  }
  const marks = element('ul', { class: 'marks' });
  for (const kind of MARK_KINDS) {
    marks.append(
      element(
        'li',
        { class: `ink-${kind}` },
        glyphImage(kind),
        element('span', { class: 'word', text: translate(KIND_WORDS[kind]) }),
      ),
    );
  }
  const words = element(
    'div',
    {},
    element('p', {}, element('code', { text: FILTER_KEYS.map((key) => `${key}:`).join(' ') })),
    element('p', {
      text: translate('A minus before a word negates it; * stands for any text; quotes hold words together.'),
    }),
    element('p', {}, element('code', { text: IS_VALUES.map((value) => `is:${value}`).join(' ') })),
    element('p', {
      class: 'muted',
      text: translate('kind:, ns: and name: choose lanes; the others dim what does not match.'),
    }),
  );
  const close = element('button', {
    text: translate('Close'),
    attributes: { type: 'button' },
    onClick: () => dialog.close(),
  });
  dialog.append(
    element(
      'div',
      { class: 'help-head' },
      element('h1', { text: translate('Keys and filter words'), attributes: { id: 'help-title' } }),
      close,
    ),
    element(
      'div',
      { class: 'help-columns' },
      element('section', {}, element('h2', { text: translate('Keys') }), keys),
      element(
        'section',
        {},
        element('h2', { text: translate('Marks') }),
        marks,
        element('h2', { text: translate('Filter') }),
        words,
      ),
    ),
    element('p', {
      class: 'muted',
      text: translate(
        'The wheel scrolls lanes; with Ctrl it zooms at the pointer, with Shift it pans. Dragging measures, with Alt it pans. A double click opens a block.',
      ),
    }),
  );
  return dialog;
}
