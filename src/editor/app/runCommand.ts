import { commands, l10n, window, type Disposable, type LogOutputChannel } from 'vscode';
import { isAppError, messageOf } from '../../base/appError.ts';
import { commandIds } from './ids.ts';
import { sentenceOf } from './translated.ts';

/** Decides what a person sees of a failure: nothing, one sentence with a next step, or a button to the log. */
export type ShowFailure = (error: unknown, what: string) => void;

/** A button below a message, and what it does when it is pressed. */
interface NextStep {
  readonly title: string;
  run(): unknown;
}

/** Makes the one place that turns failures into messages. */
export function failurePresenter(log: LogOutputChannel): ShowFailure {
  const showLog = (): NextStep => ({ title: l10n.t('Show Log'), run: () => log.show() });
  const show = (shown: Promise<unknown>): void => void shown.catch((problem: unknown) => log.error(String(problem)));
  return (error, what) => {
    if (isAppError(error, 'cancelled')) return;
    const known = isAppError(error) && error.code !== 'internal';
    if (known) log.warn(`${what}: ${error.code}: ${error.message}`, error.details);
    else log.error(`${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    if (isAppError(error, 'kubeconfig-missing', 'kubeconfig-malformed', 'kubeconfig-unknown-name'))
      show(offer(window.showWarningMessage, sentenceOf(error), waysToCluster()));
    else {
      const sentence = known ? sentenceOf(error) : l10n.t('{0} failed: {1}', what, messageOf(error));
      show(offer(window.showErrorMessage, sentence, [showLog()]));
    }
  };
}

/** What a person without a cluster, or with a kubeconfig that does not lead to one, can do next. */
function waysToCluster(): NextStep[] {
  return [
    { title: l10n.t('Start Sandbox'), run: () => commands.executeCommand(commandIds.startSandbox) },
    { title: l10n.t('Choose Kubeconfig'), run: () => commands.executeCommand(commandIds.chooseKubeconfig) },
  ];
}

/** Shows a message with buttons. */
async function offer(
  show: (sentence: string, ...buttons: string[]) => Thenable<string | undefined>,
  sentence: string,
  steps: readonly NextStep[],
): Promise<void> {
  const chosen = await show(sentence, ...steps.map(({ title }) => title));
  await steps.find(({ title }) => title === chosen)?.run();
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
