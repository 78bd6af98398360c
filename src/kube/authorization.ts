import { message } from '../base/message.ts';
import { AppError } from '../base/appError.ts';
import type { UserEntry } from './kubeconfigFile.ts';
import type { ExecCredential } from './execCredential.ts';
import type { Impersonation } from './kubeconfig.ts';

/** What a header may carry. RFC 9110, section 5.5, without the bytes beyond ASCII, which no token has. */
const TOKEN_TEXT = /^[\x20-\x7e]+$/;
/** Control characters end a header or tear it: what is Unicode's class Cc, but for the tab. */
const TORN = /(?!\t)\p{Cc}/u;

/**
 * The user whose credentials a server is given. Plain http has none: client-go reads credentials "only if we are secure"
 * (clientcmd), for whoever listens on the way could keep them. Whom to act as is no secret and stays.
 */
export function userFor(server: string, user: UserEntry | undefined): UserEntry | undefined {
  if (user === undefined || !/^http:/i.test(server)) return user;
  const { name, at, impersonate } = user;
  return { name, at, ...(impersonate === undefined ? {} : { impersonate }) };
}

/** A server's address without the name and password that may stand in it: what may be shown and stored. */
export function withoutUserInfo(server: string): string {
  return server.replace(/^([a-z][\w+.-]*:)?\/\/[^/?#]*@/i, '$1//');
}

/** The header that the user's own entries make; a token file has been read before. In the order of client-go. */
export function authorizationOf(
  user: UserEntry | undefined,
  given: { readonly fileToken?: string | undefined; readonly plugin?: ExecCredential | undefined },
): string | undefined {
  const token = given.fileToken ?? user?.token;
  if (token !== undefined) return bearer(token, user);
  if (user?.username !== undefined) return basic(user.username, user.password ?? '');
  return given.plugin?.token === undefined ? undefined : bearer(given.plugin.token, user);
}

/** The header of a name and password in the server's address, as every HTTP client sends them. */
export function authorizationInAddress(server: string): string | undefined {
  const { username, password } = new URL(server);
  return username === '' && password === '' ? undefined : basic(decoded(username), decoded(password));
}

function bearer(token: string, user: UserEntry | undefined): string {
  if (TOKEN_TEXT.test(token)) return `Bearer ${token}`;
  throw new AppError(
    'credentials-failed',
    message`The token of user "${user?.name ?? ''}" of the kubeconfig holds a character that no request can carry, such as a line end.`,
    { advice: message`Copy the token again, without anything before or after it.` },
  );
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The headers of whom to act as; values in UTF-8, as client-go sends them.
 * Source: Kubernetes documentation, "User impersonation".
 * @throws AppError `kubeconfig-malformed`
 */
export function impersonationHeaders(as: Impersonation | undefined): Record<string, string | string[]> {
  if (as === undefined) return {};
  if (as.user === undefined) {
    throw new AppError(
      'kubeconfig-malformed',
      message`The kubeconfig asks to act as a uid, groups or extra without naming a user (as).`,
      {
        advice: message`Add "as", or remove the other members that begin with "as".`,
      },
    );
  }
  const headers: Record<string, string | string[]> = { 'impersonate-user': headerText(as.user) };
  if (as.uid !== undefined) headers['impersonate-uid'] = headerText(as.uid);
  if (as.groups !== undefined) headers['impersonate-group'] = as.groups.map(headerText);
  for (const [key, values] of Object.entries(as.extra ?? {}))
    headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = values.map(headerText);
  return headers;
}

/** Node takes each letter of a header for a byte. */
function headerText(text: string): string {
  if (!TORN.test(text)) return Buffer.from(text, 'utf8').toString('latin1');
  throw new AppError(
    'kubeconfig-malformed',
    message`The kubeconfig asks to act as somebody whose name holds a line end.`,
    {
      advice: message`Correct the members that begin with "as".`,
    },
  );
}
