import type { ServerResponse } from 'node:http';

const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  502: 'InternalError',
  503: 'ServiceUnavailable',
};

/** A Status object as an API server would answer it. */
export function statusBody(code: number, message: string): string {
  return `${JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason: REASONS[code] ?? '', code })}\n`;
}

/** Answers with a Status object; where an answer has begun already, breaks it off, so that nobody takes it for complete. */
export function replyStatus(response: ServerResponse, code: number, message: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = statusBody(code, message);
  response.writeHead(code, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
