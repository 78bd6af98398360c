import { isJsonObject } from '../codec/json.ts';
import { parseGoJson } from './goJson.ts';
import { badRequest } from './status.ts';

/** Where a page of a list begins: the revision shown (-1: whatever is newest) and the first key behind the namespace. */
export interface ContinueStart {
  readonly revision: number;
  readonly start: string;
}

/** Prints a continue token as the API server does. */
export function encodeContinue(revision: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start })).toString('base64url');
}

/** Reads a continue token. Throws 400 with the words of Go's decoders. */
export function decodeContinue(token: string): ContinueStart {
  const bad = (why: string): Error => badRequest(`invalid continue token: continue key is not valid${why}`);
  const wrongAt = token.search(/[^A-Za-z0-9_-]/);
  if (wrongAt >= 0) throw bad(`: illegal base64 data at input byte ${wrongAt}`);
  if (token.length % 4 === 1) throw bad(`: illegal base64 data at input byte ${token.length - 1}`);
  const text = Buffer.from(token, 'base64url').toString('utf8');
  const value = parseGoJson(text, (problem) => bad(`: ${problem}`));
  const fields = isJsonObject(value) ? value : {};
  if (fields['v'] !== 'meta.k8s.io/v1') throw bad(': server does not recognize this encoded version');
  const revision = Number(fields['rv'] ?? 0);
  if (revision === 0) throw bad(': incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  const start = typeof fields['start'] === 'string' ? fields['start'] : '';
  if (start === '') throw bad(': encoded start key empty (version meta.k8s.io/v1)');
  return { revision, start };
}
