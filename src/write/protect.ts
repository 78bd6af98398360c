import { message } from '../base/message.ts';
import { AppError } from '../base/appError.ts';
import type { Server } from '../base/server.ts';
import { matchesPattern } from '../core/pattern.ts';

/** Whether a context is protected: its name fits one of the patterns, in which `*` stands for anything. */
export function isProtected(context: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, context));
}

/**
 * A server that is only read, whatever is asked: everything but a GET is refused before it is sent.
 * `isReadOnly` is asked at every request, so that the switch works at once.
 * @throws AppError `forbidden` from `send`
 */
export function readOnly(server: Server, isReadOnly: () => boolean): Server {
  return {
    send: async (request, signal) => {
      if (request.method !== 'GET' && isReadOnly()) {
        throw new AppError('forbidden', message`Nothing is written: this is switched to read only.`, {
          advice: message`Switch read only off to write.`,
        });
      }
      return server.send(request, signal);
    },
  };
}
