/**
 * Gives the reader's words for an English sentence, its `{0}`, `{1}` … filled in. The sentence itself is the key of the
 * translation, as in VS Code's l10n.
 */
export type Translate = (sentence: string, ...values: (string | number)[]) => string;

/** Fills in the places of a sentence; a place without a value stays. */
export function fillIn(sentence: string, values: readonly (string | number)[]): string {
  return sentence.replaceAll(/\{(\d+)\}/g, (place, number: string) => {
    const value = values[Number(number)];
    return value === undefined ? place : String(value);
  });
}

/** The English words themselves. */
export const english: Translate = (sentence, ...values) => fillIn(sentence, values);

/** Words from a table of translations, English where it has none. */
export function translateWith(translations: Readonly<Record<string, string>>): Translate {
  return (sentence, ...values) =>
    fillIn(Object.hasOwn(translations, sentence) ? (translations[sentence] ?? sentence) : sentence, values);
}
