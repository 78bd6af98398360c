import { commands, l10n, window, type QuickPickItem } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { cancelled } from '../../base/clock.ts';
import { Emitter } from '../../base/emitter.ts';
import type { ObjectRef } from '../../core/timeline/detailTypes.ts';
import type { NewTraceEvent } from '../../core/traceEvent.ts';
import { exchangeEvents } from '../../lab/exchangeEvents.ts';
import type { Lesson } from '../../lab/lesson.ts';
import type { LabPlaceState } from '../../protocol/labStates.ts';
import { isProtected } from '../../write/protect.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds } from '../app/ids.ts';
import { settings } from '../app/settings.ts';
import { limited } from '../app/signal.ts';
import { sandboxKey, sandboxLabel, type ConnectedCluster } from '../clusters/clusters.ts';
import type { LabGround, LabPlaces } from './labPlaces.ts';

const CONNECT_LIMIT_MS = 60_000;
const DEFAULT_NAMESPACE = 'default';

interface Chosen {
  readonly key: string;
  readonly label: string;
  readonly namespace: string;
}

function onSandbox(): Chosen {
  return { key: sandboxKey, label: sandboxLabel(), namespace: DEFAULT_NAMESPACE };
}

/** Where the labs of this window run: the sandbox, until the person chooses a context and a namespace. */
export class EditorPlaces implements LabPlaces {
  private readonly editor: Editor;
  private readonly changed: Emitter<void>;
  private chosen = onSandbox();
  private touched: ObjectRef | undefined;

  constructor(editor: Editor) {
    this.editor = editor;
    this.changed = new Emitter((error) => editor.log.error(String(error)));
  }

  get onDidChange(): Emitter<void>['event'] {
    return this.changed.event;
  }

  current(): LabPlaceState {
    const { key, label, namespace } = this.chosen;
    return { label, namespace, isSandbox: key === sandboxKey };
  }

  async choose(signal: AbortSignal): Promise<void> {
    const { clusters } = this.editor;
    const title = l10n.t('Where Labs Run');
    const contexts = (await clusters.contexts().catch(() => [])).filter(({ key }) => key !== sandboxKey);
    const items: (QuickPickItem & { key: string })[] = [
      { label: sandboxLabel(), key: sandboxKey },
      ...contexts.map(({ key, label }) => ({ label, key })),
    ];
    const item = await window.showQuickPick(items, { title });
    if (item === undefined) throw cancelled();
    if (item.key === sandboxKey) this.chosen = onSandbox();
    else {
      const connected = await clusters.connect(item.key, limited(CONNECT_LIMIT_MS, signal));
      this.chosen = { key: item.key, label: item.label, namespace: await this.namespace(title, connected, signal) };
    }
    this.changed.fire();
  }

  async open(signal: AbortSignal, sandbox: Lesson['sandbox'] = 'bare'): Promise<LabGround> {
    const { clusters, session } = this.editor;
    const { key, label, namespace } = this.chosen;
    if (settings.readOnly()) {
      throw new AppError('forbidden', l10n.t('Writing is switched off.'), {
        advice: l10n.t('Run "Object Versions: Toggle Read Only" to switch it on.'),
      });
    }
    if (key === sandboxKey) await commands.executeCommand(commandIds.startSandbox, sandbox);
    else if (isProtected(label, settings.protectedContexts())) await confirm(label, namespace);
    const connected = await clusters.connect(key, limited(CONNECT_LIMIT_MS, signal));
    session.nameCluster(connected.id, connected.label, connected.cluster.url);
    this.editor.start();
    return this.ground(connected, namespace);
  }

  /** The object that a lab wrote or read last. */
  lastObject(): ObjectRef | undefined {
    return this.touched;
  }

  /** The connection behind the place; there once it was opened. */
  connected(): ConnectedCluster | undefined {
    return this.editor.clusters.get(this.chosen.key);
  }

  dispose(): void {
    this.changed.dispose();
  }

  private ground(connected: ConnectedCluster, namespace: string): LabGround {
    const { cluster, id } = connected;
    const { session, userAgent } = this.editor;
    const append = (events: readonly NewTraceEvent[]): void => {
      session.append(events);
      for (const event of events)
        if (event.type === 'write' || event.type === 'observed') this.touched = { cluster: id, uid: '', ...event.name };
    };
    return {
      server: cluster,
      namespace,
      closing: connected.closing,
      resources: (signal) => connected.discovery(signal),
      onExchange: (exchange) => append(exchangeEvents(exchange, { cluster: id, secretKey: session.secretKey })),
      safeWriteLog: {
        onEvent: (event) => append([event]),
        cluster: id,
        agent: userAgent,
        keepBodies: true,
        secretKey: session.secretKey,
      },
    };
  }

  private async namespace(title: string, { cluster }: ConnectedCluster, signal: AbortSignal): Promise<string> {
    const limit = limited(CONNECT_LIMIT_MS, signal);
    const { listNames } = await import('../clusters/listNames.ts');
    const names = await listNames(cluster, '/api/v1/namespaces', limit).catch(() => []);
    const placeHolder = l10n.t('The namespace; the lab removes what it creates there.');
    const chosen =
      names.length === 0
        ? await window.showInputBox({ title, prompt: placeHolder, value: cluster.namespace })
        : await window.showQuickPick(names, { title, placeHolder });
    if (chosen === undefined || chosen.trim() === '') throw cancelled();
    return chosen.trim();
  }
}

async function confirm(context: string, namespace: string): Promise<void> {
  const run = l10n.t('Run');
  const question = l10n.t('Run the lab in the protected context {0}, in the namespace {1}?', context, namespace);
  const detail = l10n.t('It creates objects of its own there, writes to them, and removes them afterwards.');
  if ((await window.showWarningMessage(question, { modal: true, detail }, run)) !== run) throw cancelled();
}
