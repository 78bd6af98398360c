import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as vscode from 'vscode';

/** A question that was put: its sentence, and what stands below it. */
export interface Question {
  readonly sentence: string;
  readonly detail: string;
}

/**
 * Answers the modal questions of our extension, which a window under test does not show: each by the button that `answer`
 * names, or not at all. Everything else that is said goes its way. Gives the questions that were put.
 */
export async function answering(
  answer: (question: Question, buttons: readonly string[]) => string | undefined | Promise<string | undefined>,
  during: () => Promise<unknown>,
): Promise<Question[]> {
  const asked: Question[] = [];
  await standingIn(
    'showWarningMessage',
    async (real, given) => {
      const [sentence, options, ...buttons] = given as [string, vscode.MessageOptions | string, ...string[]];
      if (typeof options !== 'object' || options.modal !== true) return real(...given);
      const question = { sentence, detail: options.detail ?? '' };
      asked.push(question);
      return answer(question, buttons);
    },
    during,
  );
  return asked;
}

/** The warnings of our extension that are no questions, while something is done; nobody presses their buttons. */
export async function warnings(during: (said: readonly string[]) => Promise<unknown>): Promise<void> {
  const said: string[] = [];
  await standingIn(
    'showWarningMessage',
    async (_real, given) => void said.push(String(given[0])),
    () => during(said),
  );
}

type Show = (...given: unknown[]) => Thenable<unknown>;

/** Does in the place of a dialog of our extension what a person would, while something is done. */
export async function standingIn(
  dialog:
    | 'showWarningMessage'
    | 'showInformationMessage'
    | 'showSaveDialog'
    | 'showQuickPick'
    | 'showInputBox'
    | 'withProgress',
  show: (real: Show, given: unknown[]) => Promise<unknown>,
  during: () => Promise<unknown>,
): Promise<void> {
  const { window } = await apiOfExtension();
  const real = (window[dialog] as Show).bind(window);
  const put = (value: Show): void =>
    void Object.defineProperty(window, dialog, { value, configurable: true, writable: true });
  put((...given) => show(real, given));
  try {
    await during();
  } finally {
    put(real);
  }
}

/** Hides a command of VS Code from our extension, while something is done: as in a VS Code that has none of that name. */
export async function withoutCommand(name: string, during: () => Promise<unknown>): Promise<void> {
  const { commands } = await apiOfExtension();
  const real = commands.getCommands.bind(commands);
  const put = (value: typeof real): void =>
    void Object.defineProperty(commands, 'getCommands', { value, configurable: true, writable: true });
  put(async (internal) => (await real(internal)).filter((command) => command !== name));
  try {
    await during();
  } finally {
    put(real);
  }
}

/** VS Code gives each extension an API of its own, by the file that asks for it: this one lies among the extension's. */
async function apiOfExtension(): Promise<typeof vscode> {
  const extension = vscode.extensions.getExtension('object-versions.object-versions');
  const file = join(extension?.extensionPath ?? '', 'dist', 'node', 'apiForTests.js');
  const text = "export { commands, window } from 'vscode';\n";
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
  return (await import(pathToFileURL(file).href)) as typeof vscode;
}
