import { ProgressLocation, window } from 'vscode';
import { toDisposable } from '../../base/disposable.ts';
import { signalOf } from '../app/signal.ts';

/** A write that is done sooner shows no progress at all. */
const SHOW_AFTER_MS = 400;
/** The signal outlives the write's own limit a little, so that the write itself says that its time is up. */
const SLACK_MS = 5000;

/** Runs work; if it lasts, one notification shows how far it is and its cancel button aborts the signal. */
export async function lateProgress<T>(
  title: string,
  limitMs: number,
  work: (signal: AbortSignal, say: (message: string) => void) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let said = '';
  let report: ((message: string) => void) | undefined;
  const say = (message: string): void => {
    said = message;
    report?.(message);
  };
  const running = work(AbortSignal.any([controller.signal, AbortSignal.timeout(limitMs * 2 + SLACK_MS)]), say);
  const timer = setTimeout(() => {
    void window.withProgress(
      { location: ProgressLocation.Notification, title, cancellable: true },
      async (progress, token) => {
        const bridge = signalOf(token);
        bridge.signal.addEventListener('abort', () => controller.abort());
        report = (message) => progress.report({ message });
        report(said);
        await running.then(
          () => undefined,
          () => undefined,
        );
        bridge.dispose();
      },
    );
  }, SHOW_AFTER_MS);
  const shown = toDisposable(() => clearTimeout(timer));
  try {
    return await running;
  } finally {
    shown.dispose();
  }
}
