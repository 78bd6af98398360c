import { commands, l10n, window, type Disposable } from 'vscode';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningScenario } from '../../sandbox/scenario.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds, contextKeys } from '../app/ids.ts';
import { withProgress } from '../app/progress.ts';
import { limited } from '../app/signal.ts';
import { sandboxKey } from '../clusters/clusters.ts';
import { declaredDefinition } from '../watches/addWatch.ts';

const START_LIMIT_MS = 60_000;

/** What a fresh sandbox shows: where its actors are at work. */
const firstWatches = ['deployments', 'configmaps in shop', 'secrets in shop', 'replicasets'] as const;

/** Starts and stops the embedded API server; its cluster appears in the tree, its own feed in the log. */
export function registerSandbox(editor: Editor): Disposable[] {
  const runner = new SandboxRunner(editor);
  return [
    { dispose: () => void runner.stop().catch((error: unknown) => editor.log.error(String(error))) },
    editor.command(commandIds.startSandbox, () => runner.start()),
    editor.command(commandIds.stopSandbox, () => runner.stop()),
  ];
}

class SandboxRunner {
  private readonly editor: Editor;
  private running: RunningScenario | undefined;
  private starting: Promise<void> | undefined;

  constructor(editor: Editor) {
    this.editor = editor;
  }

  start(): Promise<void> {
    this.starting ??= withProgress(l10n.t('Starting the sandbox'), () => this.launch()).catch((error: unknown) => {
      this.starting = undefined;
      throw error;
    });
    return this.starting;
  }

  async stop(): Promise<void> {
    const { running, editor } = this;
    this.running = undefined;
    this.starting = undefined;
    if (running === undefined) return;
    await editor.watches.removeCluster(sandboxKey);
    editor.clusters.setSandbox(undefined);
    await running.stop();
    await rm(this.kubeconfigPath(), { force: true });
    await commands.executeCommand('setContext', contextKeys.sandboxRuns, false);
  }

  private kubeconfigPath(): string {
    return join(this.editor.context.globalStorageUri.fsPath, `sandbox-${process.pid}.kubeconfig`);
  }

  private async launch(): Promise<void> {
    const { editor } = this;
    const { startScenario } = await import('../../sandbox/scenario.ts');
    const running = await startScenario({ scenario: 'lively', onError: (error) => editor.log.error(String(error)) });
    this.running = running;
    const { sandbox } = running;
    await mkdir(editor.context.globalStorageUri.fsPath, { recursive: true });
    await writeFile(this.kubeconfigPath(), sandbox.kubeconfig, { mode: 0o600 });
    editor.clusters.setSandbox(this.kubeconfigPath());
    const signal = limited(START_LIMIT_MS);
    const connected = await editor.clusters.connect(sandboxKey, signal);
    editor.session.nameCluster(connected.id, connected.label, connected.cluster.url);
    editor.start();
    for (const resource of firstWatches)
      await editor.watches.add(await declaredDefinition(connected, resource, signal), false);
    await commands.executeCommand('setContext', contextKeys.sandboxRuns, true);
    window.setStatusBarMessage(l10n.t('The sandbox runs at {0}.', sandbox.url), 8000);
  }
}
