import type { User } from './auth.ts';
import type { RequestInfo } from './requestInfo.ts';

/** The body limit of the real API server. */
export const MAX_BODY_BYTES = 3_145_728;

/** A request, authenticated, its body read. */
export interface ApiRequest {
  readonly method: string;
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  readonly accept: string | undefined;
  readonly contentType: string | undefined;
  readonly userAgent: string;
  readonly user: User;
  readonly body: Buffer;
  /** The body was above the limit and was not read. */
  readonly tooLarge: boolean;
}

/** A complete answer. */
export interface ApiAnswer {
  readonly status: number;
  readonly contentType: string;
  /** Text, or the bytes of a long list in pieces, which are sent as they are. */
  readonly body: string | readonly Buffer[];
  /** Texts for Warning headers. */
  readonly warnings: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** The body of an answer as text. */
export function answerText({ body }: ApiAnswer): string {
  return typeof body === 'string' ? body : Buffer.concat(body).toString('utf8');
}

/** The media type of a Content-Type header, without parameters; the whole header where it is malformed. Source: mime.ParseMediaType. */
export function mediaTypeOf(contentType: string | undefined): string {
  const [type = '', ...parameters] = (contentType ?? '').split(';');
  const isWellFormed = parameters.every((text) => /^\s*([^\s=]+=([^\s"]+|"[^"]*")\s*)?$/.test(text));
  return isWellFormed ? type.trim().toLowerCase() : (contentType ?? '');
}
