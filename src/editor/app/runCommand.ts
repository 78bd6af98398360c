import { commands, l10n, window, type Disposable, type LogOutputChannel } from 'vscode';
import { isAppError, messageOf } from '../../base/appError.ts';

/** Decides what a person sees of a failure: nothing, one sentence with a next step, or a button to the log. */
export type ShowFailure = (error: unknown, what: string) => void;

/** Makes the one place that turns failures into messages. */
export function failurePresenter(log: LogOutputChannel): ShowFailure {
  return (error, what) => {
    if (isAppError(error, 'cancelled')) return;
    const known = isAppError(error) && error.code !== 'internal';
    if (known) log.warn(`${what}: ${error.code}: ${error.message}`, error.details);
    else log.error(`${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    const sentence = known ? [error.message, error.advice].filter((part) => part !== '').join(' ') : l10n.t('{0} failed: {1}', what, messageOf(error));
    const showLog = l10n.t('Show Log');
    window.showErrorMessage(sentence, showLog).then(
      (chosen) => {
        if (chosen === showLog) log.show();
      },
      (problem: unknown) => log.error(String(problem)),
    );
  };
}

/** Registers commands of which every failure goes through one presenter. */
export type RegisterCommand = (id: string, run: (...args: readonly unknown[]) => Promise<unknown> | unknown) => Disposable;

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
