import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** How the store prints its revisions as tokens. A server makes and reads its own tokens; no client may. */
export interface TokenCodec {
  print(revision: number): string;
  /** The revision, or the words of the error that the real server's parser would answer. */
  parse(token: string): { revision: number } | { problem: string };
}

/** So many digits are exact in a number. */
const SAFE_DIGITS = 15;
const MAX_UINT64 = 18446744073709551615n;

/** Tokens that look like the real ones: decimal numbers. */
export const numericTokens: TokenCodec = {
  print: (revision) => String(revision),
  parse(token) {
    const problem = (what: string): { problem: string } => ({
      problem: `strconv.ParseUint: parsing ${JSON.stringify(token)}: ${what}`,
    });
    if (!/^\d+$/.test(token)) return problem('invalid syntax');
    if (token.length <= SAFE_DIGITS) return { revision: Number(token) };
    const value = BigInt(token);
    return value > MAX_UINT64 ? problem('value out of range') : { revision: Number(value) };
  },
};

/**
 * Tokens without any visible order: each revision enciphered with a key of this process, so that nothing but equality
 * can be read from them. Leading zeros and other spellings of one token do not exist.
 */
export function randomTokens(): TokenCodec {
  const key = randomBytes(16);
  return {
    print(revision) {
      if (revision === 0) return '0';
      const block = Buffer.alloc(16);
      block.writeBigUInt64BE(BigInt(revision), 8);
      const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
      return Buffer.concat([cipher.update(block), cipher.final()]).toString('base64url');
    },
    parse(token) {
      if (token === '0') return { revision: 0 };
      const bytes = Buffer.from(token, 'base64url');
      if (bytes.length === 16 && bytes.toString('base64url') === token) {
        const decipher = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false);
        const block = Buffer.concat([decipher.update(bytes), decipher.final()]);
        const revision = block.readBigUInt64BE(8);
        if (block.readBigUInt64BE(0) === 0n && revision <= BigInt(Number.MAX_SAFE_INTEGER))
          return { revision: Number(revision) };
      }
      return { problem: `parsing ${JSON.stringify(token)}: not a version of this server` };
    },
  };
}
