import { l10n } from 'vscode';
import { sentenceOf as sentenceIn } from '../../base/appError.ts';
import { fillIn, type Translate } from '../../core/timeline/translate.ts';

/** Our words for an English sentence, from the extension's table of translations. */
export const translated: Translate = (sentence, ...values) => fillIn(l10n.bundle?.[sentence] ?? sentence, values);

/** What an error says, and advises where it does. */
export function sentenceOf(error: unknown): string {
  return sentenceIn(error, translated);
}
