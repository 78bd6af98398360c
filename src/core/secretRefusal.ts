import { message, type Message, type Words } from '../base/message.ts';

/** What a server says of a refusal, as far as its words may repeat what was sent. */
export interface RefusalWords {
  readonly code?: number;
  readonly message?: Words;
  readonly causes?: readonly { readonly reason?: string; readonly message?: Words; readonly field?: string }[];
}

/** Answers whose words name the object and its versions, never its content. */
const ABOUT_NO_CONTENT = [401, 404, 405, 406, 409, 410, 413, 415, 429, 503, 504];
/** The 403s of the server itself: of its authorizer, and of a quota. All others may be an admission's own words. */
const OWN_FORBIDDEN =
  /^\S+ (?:"[^"]*" )?is forbidden: (?:User "|exceeded quota: |unable to create new content in namespace )/;
/** Names managers and fields only. */
const FIELD_CONFLICT = /^conflict with "[^"]*"(?: with subresource "[^"]*")?(?: using [\w./-]+)?(?: at [\w:.+-]+)?$/;

/**
 * A refusal of a write to a Secret, without the server's words where they may repeat the Secret: a 400 and a 422 quote what
 * was sent, and an admission webhook may say anything. Where and why is kept; of field conflicts also who owns the field. What
 * stands in the place of such words is English, unless `say` keeps it for a reader.
 */
export function withoutSecretWords<T extends RefusalWords>(refusal: T, say: (untold: Message) => Words = String): T {
  if (refusal.causes !== undefined && refusal.causes.length > 0) {
    const { message: _message, ...rest } = refusal;
    const causes = refusal.causes.map(({ message: said, ...cause }) =>
      cause.reason === 'FieldManagerConflict' && said !== undefined && FIELD_CONFLICT.test(String(said))
        ? { ...cause, message: said }
        : cause,
    );
    return { ...rest, causes } as unknown as T;
  }
  if (refusal.message === undefined || isAboutNoContent(refusal.code, String(refusal.message))) return refusal;
  const untold =
    refusal.code === undefined
      ? message`The server refused it; its words may repeat values of the Secret.`
      : message`The server refused it (${refusal.code}); its words may repeat values of the Secret.`;
  return { ...refusal, message: say(untold) };
}

function isAboutNoContent(code: number | undefined, words: string): boolean {
  if (code === undefined || words.startsWith('admission webhook')) return false;
  return code === 403 ? OWN_FORBIDDEN.test(words) : ABOUT_NO_CONTENT.includes(code);
}
