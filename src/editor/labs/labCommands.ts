import { commands, l10n, window, type Disposable } from 'vscode';
import { cancelled } from '../../base/clock.ts';
import { stringifyJson } from '../../codec/json.ts';
import type { ContentionResult, ContentionStrategy } from '../../lab/contention.ts';
import type { StepResult } from '../../lab/replay.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds } from '../app/ids.ts';
import { withProgress } from '../app/progress.ts';
import { limited } from '../app/signal.ts';
import { sandboxKey, type ConnectedCluster } from '../clusters/clusters.ts';
import { otherUri } from '../documents/address.ts';

const START_LIMIT_MS = 60_000;
const DEFAULTS = { actors: 6, updates: 5, thinkMs: 20, seed: 1, maxAttempts: 20 } as const;

/** The two-writer replay and the contention lab, on the sandbox, with the timeline beside them and a report at the end. */
export function registerLabs(editor: Editor): Disposable[] {
  return [
    editor.command(commandIds.labReplay, (options) => replay(editor, options !== 'without-questions')),
    editor.command(commandIds.labContention, (strategy) => contention(editor, strategy)),
  ];
}

async function sandbox(editor: Editor): Promise<ConnectedCluster> {
  await commands.executeCommand(commandIds.startSandbox);
  editor.timeline.show({ preserveFocus: true });
  return editor.clusters.connect(sandboxKey, limited(START_LIMIT_MS));
}

async function replay(editor: Editor, asks: boolean): Promise<boolean> {
  const { cluster } = await sandbox(editor);
  const { runReplay, randomSuffix } = await import('../../lab/replay.ts');
  const lines: string[] = [];
  const result = await withProgress(l10n.t('Two writers, one object'), (signal, progress) =>
    runReplay({
      server: cluster,
      clock: editor.clock,
      signal,
      namespace: cluster.namespace,
      suffix: randomSuffix(() => editor.clock.random()),
      predict: async (step) => {
        progress.report({ message: step.title });
        if (!asks) return undefined;
        const choice = await window.showQuickPick([...step.choices], {
          title: step.title,
          placeHolder: step.question,
          ignoreFocusOut: true,
        });
        if (choice === undefined) throw cancelled();
        return choice;
      },
      onStep: (done, step, prediction) => lines.push(stepText(done, step.answer, prediction)),
    }),
  );
  const verdict = result.holds
    ? l10n.t('The server behaved as the contract says in every step.')
    : l10n.t('The server did not behave as the contract says.');
  await show(editor, 'replay', [`# ${l10n.t('Two writers, one object')}`, verdict, ...lines]);
  return result.holds;
}

function stepText(done: StepResult, answer: string, prediction: string | undefined): string {
  const predicted =
    prediction === undefined
      ? []
      : [
          prediction === answer
            ? l10n.t('You predicted: {0}. That is right.', prediction)
            : l10n.t('You predicted: {0}. The contract says: {1}.', prediction, answer),
        ];
  const observed = l10n.t(
    'Expected {0}, observed {1}.',
    `\`${stringifyJson(done.expected)}\``,
    `\`${stringifyJson(done.observed)}\``,
  );
  return [`## ${done.holds ? '✓' : '✗'} ${done.title}`, ...predicted, observed, `> ${done.lesson}`].join('\n\n');
}

async function contention(editor: Editor, given: unknown): Promise<ContentionResult> {
  const { contentionStrategies, runContention } = await import('../../lab/contention.ts');
  const strategy = contentionStrategies.find((item) => item === given) ?? (await askStrategy(contentionStrategies));
  const { cluster } = await sandbox(editor);
  const { randomSuffix } = await import('../../lab/replay.ts');
  const result = await withProgress(l10n.t('{0} writers at once: {1}', DEFAULTS.actors, strategy), (signal, progress) =>
    runContention({
      ...DEFAULTS,
      server: cluster,
      clock: editor.clock,
      signal,
      namespace: cluster.namespace,
      suffix: randomSuffix(() => editor.clock.random()),
      strategy,
      onProgress: ({ accepted, refused }) =>
        progress.report({ message: l10n.t('{0} accepted, {1} refused', accepted, refused) }),
    }),
  );
  await show(editor, 'contention', contentionText(result));
  return result;
}

function contentionText(result: ContentionResult): string[] {
  const rows: [string, number][] = [
    [l10n.t('accepted'), result.accepted],
    [l10n.t('refused'), result.refused],
    [l10n.t('sent again'), result.retried],
    [l10n.t('given up at the bound'), result.gaveUp],
    [l10n.t('lost, counted on the server afterwards'), result.lost],
  ];
  const verdict =
    result.lost > 0
      ? l10n.t('{0} accepted updates are gone: each was overwritten by somebody who had not read it.', result.lost)
      : l10n.t('Every accepted update is still there.');
  return [
    `# ${l10n.t('{0} writers at once: {1}', result.actors, result.strategy)}`,
    verdict,
    ['| | |', '| --- | ---: |', ...rows.map(([label, count]) => `| ${label} | ${count} |`)].join('\n'),
  ];
}

async function askStrategy(all: readonly ContentionStrategy[]): Promise<ContentionStrategy> {
  const words: Readonly<Record<ContentionStrategy, string>> = {
    naive: l10n.t('write what was read, without a version'),
    'token-swap': l10n.t('on a conflict replace only the token'),
    'read-modify-write': l10n.t('on a conflict read again and compute anew'),
    apply: l10n.t('server-side apply, each its own field'),
  };
  const chosen = await window.showQuickPick(
    all.map((strategy) => ({ label: strategy, description: words[strategy], strategy })),
    { title: l10n.t('How do the writers write?') },
  );
  if (chosen === undefined) throw cancelled();
  return chosen.strategy;
}

async function show(editor: Editor, id: string, parts: readonly string[]): Promise<void> {
  const uri = otherUri('report', `lab-${id}`, `${id}.md`);
  editor.shelf.put(uri, `${parts.join('\n\n')}\n`);
  await commands.executeCommand('markdown.showPreview', uri);
}
