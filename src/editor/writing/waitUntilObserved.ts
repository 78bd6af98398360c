import { l10n, window } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { cancelled } from '../../base/clock.ts';
import { describeGeneration, generationOf, type GenerationState } from '../../core/generation.ts';
import type { Incarnation } from '../../core/history.ts';
import type { Editor } from '../app/editor.ts';
import { withProgress } from '../app/progress.ts';
import { newestVersion } from '../tree/wording.ts';

/**
 * Waits until the generation that an object has now is observed and every condition that says so is computed for it. What
 * is waited for is the state that the object reports, never a token that looks greater. A person may give up at any time.
 * @throws AppError `usage` for a kind that reports no observed generation, `not-found` where the object goes, `cancelled`
 */
export async function waitUntilObserved(editor: Pick<Editor, 'session'>, incarnation: Incarnation): Promise<void> {
  const { name } = incarnation.name;
  const wanted = stateOf(incarnation);
  if (wanted?.generation === undefined || wanted.verdict === 'unreported') {
    throw new AppError('usage', l10n.t('This kind has no generation, or does not report which one was observed.'));
  }
  const { generation } = wanted;
  await withProgress(l10n.t('Waiting until {0} is observed', name), async (signal, progress) => {
    const news = (): Promise<void> => nextNews(editor, signal);
    for (let state = stateOf(incarnation); !isObserved(state, generation); state = stateOf(incarnation)) {
      if (incarnation.end !== undefined)
        throw new AppError('not-found', l10n.t('{0} is gone; nothing will be observed any more.', name));
      if (state !== undefined) progress.report({ message: l10n.t('now {0}', describeGeneration(state)) });
      await news();
    }
  });
  window.setStatusBarMessage(l10n.t('{0}: generation {1} is observed and current.', name, generation), 8000);
}

function stateOf(incarnation: Incarnation): GenerationState | undefined {
  const body = newestVersion(incarnation)?.body;
  return body === undefined ? undefined : generationOf(body);
}

function isObserved(state: GenerationState | undefined, generation: number): boolean {
  return state?.verdict === 'current' && (state.generation ?? 0) >= generation;
}

function nextNews({ session }: Pick<Editor, 'session'>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      subscription.dispose();
      reject(cancelled());
    };
    const subscription = session.onDidChange(() => {
      subscription.dispose();
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
