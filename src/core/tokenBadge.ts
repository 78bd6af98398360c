import { hashText } from './hash.ts';
import type { Token } from './traceEvent.ts';

/** How many colours a badge may have; the views map them to theme colours. */
export const BADGE_COLOURS = 8;

/** A sign for a token that shows equality and nothing else: two versions look the same exactly if their tokens are equal. */
export interface TokenBadge {
  /** Such as `ka·7f`; longer only where two tokens of the object would look the same. */
  readonly code: string;
  /** 0 to BADGE_COLOURS - 1. */
  readonly colour: number;
}

const CONSONANTS = 'bdfghjklmnprstvz';
const VOWELS = 'aeiou';

/** The badge of a token among the other tokens that are known of the same object (which may include the token itself). */
export function tokenBadge(uid: string, token: Token, others: Iterable<Token>): TokenBadge {
  return badge(uid, token, [...others]);
}

/** The badges of all tokens of one object; the same as asking for each, but in one pass. */
export function tokenBadges(uid: string, tokens: Iterable<Token>): ReadonlyMap<Token, TokenBadge> {
  const all = [...new Set(tokens)];
  const byStart = Map.groupBy(all, (token) => code(uid, token, 1));
  return new Map(all.map((token) => [token, badge(uid, token, byStart.get(code(uid, token, 1)) ?? [])]));
}

function badge(uid: string, token: Token, others: readonly Token[]): TokenBadge {
  let rivals = others.filter((other) => other !== token);
  let length = 1;
  let own = code(uid, token, length);
  rivals = rivals.filter((other) => code(uid, other, length) === own);
  while (rivals.length > 0 && length < 64) {
    length += 1;
    own = code(uid, token, length);
    const longer = length;
    rivals = rivals.filter((other) => code(uid, other, longer) === own);
  }
  return { code: own, colour: Number.parseInt(hashText(`${uid}\0${token}`, 7).slice(-4), 16) % BADGE_COLOURS };
}

/** A syllable and `length` pairs of hexadecimal digits, all from hashes of the token within its object. */
function code(uid: string, token: Token, length: number): string {
  const text = `${uid}\0${token}`;
  const first = Number.parseInt(hashText(text).slice(-8), 16);
  const syllable = (CONSONANTS[first % CONSONANTS.length] ?? '') + (VOWELS[(first >>> 8) % VOWELS.length] ?? '');
  let digits = '';
  for (let seed = 1; digits.length < length * 2; seed += 1) digits += hashText(text, seed);
  return `${syllable}·${digits.slice(0, length * 2)}`;
}
