/** What a server says of a refusal, as far as its words may repeat what was sent. */
export interface RefusalWords {
  readonly code?: number;
  readonly message?: string;
  readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[];
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
 * was sent, and an admission webhook may say anything. Where and why is kept; of field conflicts also who owns the field.
 */
export function withoutSecretWords<T extends RefusalWords>(refusal: T): T {
  if (refusal.causes !== undefined && refusal.causes.length > 0) {
    const { message: _message, ...rest } = refusal;
    const causes = refusal.causes.map(({ message, ...cause }) =>
      cause.reason === 'FieldManagerConflict' && message !== undefined && FIELD_CONFLICT.test(message)
        ? { ...cause, message }
        : cause,
    );
    return { ...rest, causes } as unknown as T;
  }
  if (refusal.message === undefined || isAboutNoContent(refusal.code, refusal.message)) return refusal;
  const message = `The server refused it (${refusal.code ?? 'no code'}); its words may repeat values of the Secret.`;
  return { ...refusal, message };
}

function isAboutNoContent(code: number | undefined, message: string): boolean {
  if (code === undefined || message.startsWith('admission webhook')) return false;
  return code === 403 ? OWN_FORBIDDEN.test(message) : ABOUT_NO_CONTENT.includes(code);
}
