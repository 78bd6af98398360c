import { createInterface } from 'node:readline';
import { cancelled } from '../base/clock.ts';
import type { CliIo } from './io.ts';

/** Asks a person at a terminal, on stderr, so that stdout stays the result's. */
export interface Asking {
  /** One line of text. */
  line(question: string): Promise<string>;
  /** What `read` makes of a line; where that is undefined, says what is missing and asks again. */
  answer<T>(question: string, read: (typed: string) => T | undefined, missing: string): Promise<T>;
  /** One of the choices, by number or in words. */
  choice(question: string, choices: readonly string[]): Promise<string>;
  close(): void;
}

/** Whether somebody sits at the other end of stdin. */
export function isInteractive(io: CliIo): boolean {
  return (io.stdin as Partial<NodeJS.ReadStream>).isTTY === true;
}

/** Opens the conversation; close it, or the command does not end. Where the input ends, asking ends with `cancelled`. */
export function startAsking(io: CliIo): Asking {
  const reader = createInterface({ input: io.stdin, output: process.stderr });
  const lines = reader[Symbol.asyncIterator]();
  io.signal.addEventListener('abort', () => reader.close(), { once: true });
  const line = async (question: string): Promise<string> => {
    io.stderr(question);
    const next = await lines.next();
    if (next.done === true) {
      // The shell's prompt does not stand behind the question.
      io.stderr('\n');
      throw cancelled();
    }
    return next.value;
  };
  const answer: Asking['answer'] = async (question, read, missing) => {
    for (let asked = question; ; asked = `${missing}\n> `) {
      const found = read((await line(asked)).trim());
      if (found !== undefined) return found;
    }
  };
  return {
    line,
    answer,
    choice: (question, choices) => {
      const list = choices.map((choice, index) => `  ${index + 1}. ${choice}\n`).join('');
      const chosen = (typed: string): string | undefined =>
        choices.find((choice) => choice === typed) ?? choices[Number(typed) - 1];
      return answer(`${question}\n${list}> `, chosen, `Answer with a number from 1 to ${choices.length}.`);
    },
    close: () => reader.close(),
  };
}
