import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commands, env, l10n, window, type Disposable } from 'vscode';
import { cancelled } from '../../base/clock.ts';
import { parseYaml } from '../../codec/yaml.ts';
import { AppError } from '../../base/appError.ts';
import type { Recorder } from '../../recorder/recorder.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds, contextKeys } from '../app/ids.ts';
import { withProgress } from '../app/progress.ts';
import { settings } from '../app/settings.ts';
import { withoutSecretContent } from '../session/secretContent.ts';

/** Runs the recording proxy in front of a cluster; what passes it appears on the timeline and in the findings. */
export function registerRecorder(editor: Editor): Disposable[] {
  const recording = new Recording(editor);
  return [
    { dispose: () => void recording.stop().catch((error: unknown) => editor.log.error(String(error))) },
    editor.command(commandIds.recordController, () => recording.start()),
    editor.command(commandIds.stopRecording, () => recording.stop()),
  ];
}

class Recording {
  private readonly editor: Editor;
  private recorder: Recorder | undefined;
  private file: string | undefined;

  constructor(editor: Editor) {
    this.editor = editor;
  }

  async start(): Promise<void> {
    if (this.recorder !== undefined)
      throw new AppError('usage', l10n.t('A recording is running already.'), { advice: l10n.t('Stop it first.') });
    const key = await askContext(this.editor);
    const client = await window.showInputBox({
      title: l10n.t('Record a Controller'),
      prompt: l10n.t('What is it called? It is an actor by this name on the timeline.'),
      value: 'controller',
      validateInput: (text) => (/^[\w.-]{1,63}$/.test(text) ? undefined : l10n.t('Letters, digits, dots and dashes.')),
    });
    if (client === undefined) throw cancelled();
    const recorder = await withProgress(l10n.t('Starting the recorder'), (signal) => this.launch(key, signal));
    this.recorder = recorder;
    this.file = await this.writeKubeconfig(recorder, client);
    await commands.executeCommand('setContext', contextKeys.recording, true);
    await this.offer(client, this.file);
  }

  async stop(): Promise<void> {
    const { recorder, file } = this;
    this.recorder = undefined;
    this.file = undefined;
    if (recorder === undefined) return;
    await recorder.settled();
    await recorder.stop();
    if (file !== undefined) await rm(file, { force: true });
    await commands.executeCommand('setContext', contextKeys.recording, false);
    const { unreadable } = summary(recorder);
    if (unreadable > 0)
      window.showInformationMessage(
        l10n.t('{0} bodies that passed could not be analysed; nothing was concluded from them.', unreadable),
      );
  }

  private async launch(key: string, signal: AbortSignal): Promise<Recorder> {
    const { clusters, clock, session, userAgent, log } = this.editor;
    const { startRecorder } = await import('../../recorder/recorder.ts');
    const recorder = await startRecorder(
      {
        ...(await clusters.configOf(key)),
        userAgent,
        env: process.env,
        clock,
        keepBodies: settings.keepBodies(),
        sink: (event) => session.append([withoutSecretContent(event)]),
        parseYaml: (text) => parseYaml(text).value ?? null,
        onProblem: (message) => log.warn(`recorder: ${message}`),
      },
      signal,
    );
    session.nameCluster(recorder.cluster.id, recorder.cluster.label, recorder.cluster.server);
    return recorder;
  }

  private async writeKubeconfig(recorder: Recorder, client: string): Promise<string> {
    const folder = this.editor.context.globalStorageUri.fsPath;
    const file = join(folder, `recorder-${process.pid}.kubeconfig`);
    await mkdir(folder, { recursive: true });
    await writeFile(file, recorder.kubeconfig(client), { mode: 0o600 });
    return file;
  }

  private async offer(client: string, file: string): Promise<void> {
    const terminal = l10n.t('Open Terminal');
    const copy = l10n.t('Copy Path');
    this.editor.timeline.show({ preserveFocus: true });
    const chosen = await window.showInformationMessage(
      l10n.t('Recording {0}: run it with KUBECONFIG={1}', client, file),
      terminal,
      copy,
    );
    if (chosen === terminal) window.createTerminal({ name: client, env: { KUBECONFIG: file } }).show();
    if (chosen === copy) await env.clipboard.writeText(file);
  }
}

function summary(recorder: Recorder): { readonly unreadable: number } {
  const counts: unknown[] = Object.values(recorder.notAnalysed());
  return { unreadable: counts.reduce<number>((sum, item) => sum + (typeof item === 'number' ? item : 0), 0) };
}

async function askContext({ clusters }: Editor): Promise<string> {
  const contexts = await clusters.contexts();
  const [only] = contexts;
  if (contexts.length === 1 && only !== undefined) return only.key;
  const chosen = await window.showQuickPick(
    contexts.map(({ label, key, isCurrent }) => ({
      label,
      description: isCurrent ? l10n.t('current context') : '',
      key,
    })),
    { title: l10n.t('Record a Controller'), placeHolder: l10n.t('Against which cluster?') },
  );
  if (chosen === undefined) throw cancelled();
  return chosen.key;
}
