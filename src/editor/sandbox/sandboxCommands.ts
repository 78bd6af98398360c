import { commands, l10n, window, type Disposable } from 'vscode';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningScenario, ScenarioName } from '../../sandbox/scenario.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds, contextKeys } from '../app/ids.ts';
import { withProgress } from '../app/progress.ts';
import { limited } from '../app/signal.ts';
import { sandboxKey } from '../clusters/clusters.ts';
import { declaredDefinition } from '../watches/addWatch.ts';
import { writeNamedFile } from '../../storage/namedFile.ts';

const START_LIMIT_MS = 60_000;

/** The scenarios that the editor starts: the lively one for a person, the others for labs, which bring their own watches. */
const scenarios = ['lively', 'bare', 'quiet'] as const satisfies readonly ScenarioName[];
type Scenario = (typeof scenarios)[number];

/** What a lively sandbox shows: where its actors are at work. */
const firstWatches = ['deployments', 'configmaps in shop', 'secrets in shop', 'replicasets'] as const;

/** Starts and stops the embedded API server; its cluster appears in the tree, its own feed in the log. */
export function registerSandbox(editor: Editor): Disposable[] {
  const runner = new SandboxRunner(editor);
  return [
    { dispose: () => void runner.stop().catch((error: unknown) => editor.log.error(String(error))) },
    editor.command(commandIds.startSandbox, (named) => {
      const scenario = scenarios.find((name) => name === named);
      return scenario === undefined ? runner.startLively() : runner.start(scenario);
    }),
    editor.command(commandIds.stopSandbox, () => runner.stop()),
  ];
}

class SandboxRunner {
  private readonly editor: Editor;
  private running: RunningScenario | undefined;
  private starting: { readonly scenario: Scenario; readonly done: Promise<void> } | undefined;

  constructor(editor: Editor) {
    this.editor = editor;
  }

  /** Starts a sandbox, unless one runs: whose actors are at work then is left as it is. */
  start(scenario: Scenario): Promise<void> {
    this.starting ??= {
      scenario,
      done: withProgress(l10n.t('Starting the sandbox'), () => this.launch(scenario)).catch((error: unknown) => {
        this.starting = undefined;
        throw error;
      }),
    };
    return this.starting.done;
  }

  /** What a person asks for: a sandbox with actors. One that a lab started without them is stopped first. */
  async startLively(): Promise<void> {
    const before = this.starting;
    if (before !== undefined && before.scenario !== 'lively') {
      await before.done;
      await this.stop();
    }
    await this.start('lively');
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

  private async launch(scenario: Scenario): Promise<void> {
    const { editor } = this;
    const { startScenario } = await import('../../sandbox/scenario.ts');
    const running = await startScenario({ scenario, onError: (error) => editor.log.error(String(error)) });
    this.running = running;
    const { sandbox } = running;
    await mkdir(editor.context.globalStorageUri.fsPath, { recursive: true });
    await removeLeftBehind(editor.context.globalStorageUri.fsPath);
    await writeNamedFile(
      { path: this.kubeconfigPath(), what: l10n.t('The kubeconfig'), mayReplace: true },
      sandbox.kubeconfig,
    );
    editor.clusters.setSandbox(this.kubeconfigPath());
    const signal = limited(START_LIMIT_MS);
    const connected = await editor.clusters.connect(sandboxKey, signal);
    editor.session.nameCluster(connected.id, connected.label, connected.cluster.url);
    editor.start();
    for (const resource of scenario === 'lively' ? firstWatches : [])
      await editor.watches.add(await declaredDefinition(connected, resource, signal), false);
    await commands.executeCommand('setContext', contextKeys.sandboxRuns, true);
    window.setStatusBarMessage(l10n.t('The sandbox runs at {0}.', sandbox.url), 8000);
  }
}

/** Removes the kubeconfigs that windows left behind which did not end by themselves: their servers are no more. */
async function removeLeftBehind(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, id] = /^(?:sandbox|recorder)-(\d+)[-.].*kubeconfig$/.exec(name) ?? [];
    if (id !== undefined && !isRunning(Number(id))) await rm(join(folder, name), { force: true });
  }
}

function isRunning(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch (error) {
    // It runs and is another user's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
