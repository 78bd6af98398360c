import { ProgressLocation, window, type Progress } from 'vscode';
import { signalOf } from './signal.ts';

/** Runs work while a notification says what it does and offers to cancel it. */
export function withProgress<T>(
  title: string,
  work: (signal: AbortSignal, progress: Progress<{ message?: string }>) => Promise<T>,
): Promise<T> {
  return Promise.resolve(
    window.withProgress(
      { location: ProgressLocation.Notification, title, cancellable: true },
      async (progress, token) => {
        const bridge = signalOf(token);
        try {
          return await work(bridge.signal, progress);
        } finally {
          bridge.dispose();
        }
      },
    ),
  );
}
