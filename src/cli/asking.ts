import { createInterface } from 'node:readline';
import { cancelled } from '../base/clock.ts';
import type { CliIo } from './io.ts';

/** Asks a person at a terminal, on stderr, so that stdout stays the result's. */
export interface Asking {
  /** One line of text. */
  line(question: string): Promise<string>;
  /** One of the choices, by number or in words; anything else as it was typed. */
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
    if (next.done === true) throw cancelled();
    return next.value;
  };
  return {
    line,
    choice: async (question, choices) => {
      const list = choices.map((choice, index) => `  ${index + 1}. ${choice}\n`).join('');
      const typed = (await line(`${question}\n${list}> `)).trim();
      return choices[Number(typed) - 1] ?? typed;
    },
    close: () => reader.close(),
  };
}
