import { commands, l10n, window, type Disposable, type LogOutputChannel } from 'vscode';
import { isAppError, messageOf } from '../../base/appError.ts';
import { sentenceOf } from './translated.ts';

/** Decides what a person sees of a failure: nothing, one sentence with a next step, or a button to the log. */
export type ShowFailure = (error: unknown, what: string) => void;

/** Makes the one place that turns failures into messages. */
export function failurePresenter(log: LogOutputChannel): ShowFailure {
  const show = (sentence: string): void => {
    const showLog = l10n.t('Show Log');
    offer(sentence, showLog, () => log.show()).catch((problem: unknown) => log.error(String(problem)));
  };
  return (error, what) => {
    if (isAppError(error, 'cancelled')) return;
    const known = isAppError(error) && error.code !== 'internal';
    if (known) log.warn(`${what}: ${error.code}: ${error.message}`, error.details);
    else log.error(`${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    show(known ? sentenceOf(error) : l10n.t('{0} failed: {1}', what, messageOf(error)));
  };
}

/** Shows an error with one button; what it does runs when it is pressed. */
async function offer(sentence: string, button: string, run: () => void): Promise<void> {
  if ((await window.showErrorMessage(sentence, button)) === button) run();
}

/** Registers commands of which every failure goes through one presenter. */
export type RegisterCommand = (id: string, run: (...args: readonly unknown[]) => unknown) => Disposable;

/** Makes `RegisterCommand`. What a command returns goes to its caller; a failure is shown, and the caller gets undefined. */
export function commandRegistrar(showFailure: ShowFailure): RegisterCommand {
  return (id, run) =>
    commands.registerCommand(id, async (...args: unknown[]) => {
      try {
        return await run(...args);
      } catch (error) {
        showFailure(error, id.replace('objectVersions.', ''));
        return undefined;
      }
    });
}
