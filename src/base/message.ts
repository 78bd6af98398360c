/** What stands in a place of a message. A message in it is in the reader's language too. */
export type Words = Message | string | number;

/** Gives the reader's words for an English sentence with places `{0}`, `{1}` … and what stands there. */
export type Translation = (sentence: string, ...values: string[]) => string;

/**
 * A sentence, or a part of one, as data: what was written in the code, and what stands in its places. As text it is English;
 * `inWords` gives it in the reader's language.
 */
export class Message {
  private readonly parts: readonly string[];
  private readonly values: readonly Words[];

  constructor(parts: readonly string[], values: readonly Words[] = []) {
    this.parts = parts;
    this.values = values;
  }

  /** The key of its translation: what was written in the code, with `{0}`, `{1}` … for the places. */
  get sentence(): string {
    return this.with(this.values.map((_value, index) => `{${index}}`));
  }

  /** In the words of `translate`; what has no letter of its own needs none. */
  inWords(translate: Translation): string {
    const values = this.values.map((value) => inWords(value, translate));
    return /\p{L}/u.test(this.parts.join('')) ? translate(this.sentence, ...values) : this.with(values);
  }

  /** In JSON it is its English. */
  toJSON(): string {
    return this.toString();
  }

  toString(): string {
    return this.with(this.values.map(String));
  }

  private with(values: readonly string[]): string {
    return this.parts.map((part, index) => part + (values[index] ?? '')).join('');
  }
}

/** The tag of a template that is a message. It stands before the template, so that a test finds its sentence in the source. */
export function message(parts: TemplateStringsArray, ...values: Words[]): Message {
  return new Message(parts, values);
}

/** These, one after the other, with a sign and no word between them. */
export function listed(items: readonly Words[], between = ', '): Words {
  if (items.length < 2) return items[0] ?? '';
  return new Message(['', ...items.slice(1).map(() => between), ''], items);
}

/** All of these: `a and b and c`. */
export function allOf([first = '', ...others]: readonly Words[]): Words {
  return others.reduce((before, item) => message`${before} and ${item}`, first);
}

/** Words in the reader's language. */
export function inWords(words: Words, translate: Translation): string {
  return words instanceof Message ? words.inWords(translate) : String(words);
}
