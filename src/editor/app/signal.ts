import type { CancellationToken } from 'vscode';
import { toDisposable, type Disposable } from '../../base/disposable.ts';

/** The one bridge from VS Code's cancellation to AbortSignal. Dispose it when the work is done. */
export function signalOf(token: CancellationToken): { signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  if (token.isCancellationRequested) controller.abort();
  const listening = token.onCancellationRequested(() => controller.abort());
  return { signal: controller.signal, ...toDisposable(() => listening.dispose()) };
}

/** A signal that aborts when any of the given ones does, or after a time. */
export function limited(timeoutMs: number, ...signals: AbortSignal[]): AbortSignal {
  return AbortSignal.any([AbortSignal.timeout(timeoutMs), ...signals]);
}
