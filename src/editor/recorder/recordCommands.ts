import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { commands, env, l10n, window, type Disposable } from 'vscode';
import { cancelled } from '../../base/clock.ts';
import { parseYaml } from '../../codec/yaml.ts';
import type { Recorder } from '../../recorder/recorder.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds, contextKeys } from '../app/ids.ts';
import { withProgress } from '../app/progress.ts';
import { settings } from '../app/settings.ts';
import { withoutSecretContent } from '../session/secretContent.ts';
import { registerRecordedPrograms, type RecordedEnvironment } from './recordedPrograms.ts';
import { writeNamedFile } from '../../storage/namedFile.ts';

/** Runs the recording proxy in front of a cluster; what passes it appears on the timeline and in the findings. */
export function registerRecorder(editor: Editor): Disposable[] {
  const recording = new Recording(editor);
  return [
    { dispose: () => void recording.stop().catch((error: unknown) => editor.log.error(String(error))) },
    editor.command(commandIds.recordController, () => recording.start()),
    editor.command(commandIds.stopRecording, () => recording.stop()),
    ...registerRecordedPrograms(editor, (client) => recording.environment(client)),
  ];
}

class Recording {
  private readonly editor: Editor;
  private recorder: Promise<Recorder> | undefined;
  private readonly files = new Set<string>();

  constructor(editor: Editor) {
    this.editor = editor;
  }

  /** Records a program that is to be started by hand; while a recording runs, one more of them. */
  async start(): Promise<void> {
    const key = this.recorder === undefined ? await askContext(this.editor) : undefined;
    const client = await window.showInputBox({
      title: l10n.t('Record a Controller'),
      prompt: l10n.t('What is it called? It is an actor by this name on the timeline.'),
      value: 'controller',
      validateInput: (text) => (/^[\w.-]{1,63}$/.test(text) ? undefined : l10n.t('Letters, digits, dots and dashes.')),
    });
    if (client === undefined) throw cancelled();
    await this.offer(client, await this.environment(client, key));
  }

  /** The environment of a program that is recorded under a name. Starts the recorder where none is running. */
  async environment(client: string, key?: string): Promise<RecordedEnvironment> {
    this.recorder ??= this.begin(key);
    const recorder = await this.recorder;
    const folder = this.editor.context.globalStorageUri.fsPath;
    const file = join(folder, `recorder-${process.pid}-${client}.kubeconfig`);
    await mkdir(folder, { recursive: true });
    await writeNamedFile({ path: file, what: l10n.t('The kubeconfig'), mayReplace: true }, recorder.kubeconfig(client));
    const envFile = file.replace(/kubeconfig$/, 'env');
    const variables = { KUBECONFIG: file, USE_EXISTING_CLUSTER: 'true' };
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
    await writeNamedFile({ path: envFile, what: l10n.t('The environment file'), mayReplace: true }, lines.join(''));
    this.files.add(file).add(envFile);
    return { variables, envFile };
  }

  async stop(): Promise<void> {
    const running = this.recorder;
    this.recorder = undefined;
    if (running === undefined) return;
    const recorder = await running;
    await recorder.settled();
    await recorder.stop();
    for (const file of this.files) await rm(file, { force: true });
    this.files.clear();
    await commands.executeCommand('setContext', contextKeys.recording, false);
    const { unreadable } = summary(recorder);
    if (unreadable > 0)
      window.showInformationMessage(
        l10n.t('{0} bodies that passed could not be analysed; nothing was concluded from them.', unreadable),
      );
  }

  /** A start that fails leaves no recording behind, so that the next one begins anew. */
  private async begin(key: string | undefined): Promise<Recorder> {
    try {
      const context = key ?? (await askContext(this.editor));
      const recorder = await withProgress(l10n.t('Starting the recorder'), (signal) => this.launch(context, signal));
      await commands.executeCommand('setContext', contextKeys.recording, true);
      return recorder;
    } catch (error) {
      this.recorder = undefined;
      throw error;
    }
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

  private async offer(client: string, { variables, envFile }: RecordedEnvironment): Promise<void> {
    const file = variables['KUBECONFIG'] ?? '';
    const terminal = l10n.t('Open Terminal');
    const copy = l10n.t('Copy Path');
    const debug = l10n.t('Copy for launch.json');
    this.editor.timeline.show({ preserveFocus: true });
    const chosen = await window.showInformationMessage(
      l10n.t('Recording {0}: run it with KUBECONFIG={1}', client, file),
      terminal,
      copy,
      debug,
    );
    if (chosen === terminal) window.createTerminal({ name: client, env: variables }).show();
    if (chosen === copy) await env.clipboard.writeText(file);
    if (chosen === debug) await env.clipboard.writeText(`"envFile": ${JSON.stringify(envFile)}`);
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
