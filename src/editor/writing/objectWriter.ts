import { l10n, window, type LogOutputChannel } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { cancelled, type Clock } from '../../base/clock.ts';
import { stringifyJson, type JsonObject } from '../../codec/json.ts';
import { diffObjects } from '../../core/diff.ts';
import { noListSchema, type ListSchema } from '../../core/listSchema.ts';
import type { ApiResource } from '../../kube/discovery.ts';
import type { Intent } from '../../write/intent.ts';
import type { ModifyOptions } from '../../write/options.ts';
import type { Report, StoredOtherwise } from '../../write/report.ts';
import { describeTarget, type Target } from '../../write/target.ts';
import { isProtected, type Responsibility, type WriteSettings } from '../app/settings.ts';
import type { ConnectedCluster } from '../clusters/clusters.ts';
import type { Session } from '../session/session.ts';
import { lateProgress } from './lateProgress.ts';
import { outcomeSentence } from './outcomeWords.ts';
import { trespasses, type Trespass } from './responsibility.ts';
import type { Reports } from './reports.ts';

/** A person may take this long to answer a question. */
const ASKING_LIMIT_MS = 30 * 60_000;

/** One write that a person asked for. */
export interface WriteRequest {
  readonly connected: ConnectedCluster;
  readonly resource: ApiResource;
  readonly target: Target;
  readonly intent: Intent;
}

/** What writes need of the rest. */
export interface ObjectWriterParts {
  readonly session: Session;
  readonly reports: Reports;
  readonly clock: Clock;
  readonly log: LogOutputChannel;
  readonly userAgent: string;
  settings(): WriteSettings;
  isReadOnly(): boolean;
  readonly keepBodies: () => boolean;
  protectedContexts(): readonly string[];
  responsibilities(): readonly Responsibility[];
  /** Shows what a write would store beside what is stored. */
  showPreview(target: Target, before: JsonObject, after: JsonObject): Promise<void>;
}

/**
 * The one way by which the editor changes an object: the switch and the protected contexts first, a preview where something
 * deserves a question, then the safe write with its progress; every request goes into the log and every end into a report.
 */
export class ObjectWriter {
  private readonly parts: ObjectWriterParts;

  constructor(parts: ObjectWriterParts) {
    this.parts = parts;
  }

  /**
   * Writes, and gives the report.
   * @throws AppError `forbidden` where writing is switched off, `cancelled` where the person says no
   */
  async write(request: WriteRequest): Promise<Report> {
    const { parts } = this;
    if (parts.isReadOnly()) {
      throw new AppError('forbidden', l10n.t('Writing is switched off.'), {
        advice: l10n.t('Run "Object Versions: Toggle Read Only" to switch it on.'),
      });
    }
    const name = describeTarget(request.target);
    const { timeoutMs } = parts.settings();
    const title = l10n.t('Writing {0}', name);
    const options = await lateProgress(title, timeoutMs, (signal) => this.options(request, signal));
    await lateProgress(title, ASKING_LIMIT_MS, (signal) => this.ask(request, { ...options, signal }));
    const { modify } = await import('../../write/modify.ts');
    const report = await lateProgress(title, timeoutMs, (signal, say) =>
      modify(request.connected.cluster, request.target, request.intent, {
        ...options,
        signal,
        onEvent: (event) => parts.session.append([event]),
        onAttempt: (attempt) => say(l10n.t('attempt {0}: {1}', attempt.attempt, attempt.outcome)),
      }),
    );
    parts.log.info(`${name}: ${report.outcome} after ${report.attempts.length} attempt(s)`);
    parts.reports.add(report, { name, cluster: request.connected.label, at: parts.clock.now() });
    window.setStatusBarMessage(outcomeSentence(report, name), 8000);
    return report;
  }

  private async options(request: WriteRequest, signal: AbortSignal): Promise<ModifyOptions> {
    const { session, clock, userAgent, keepBodies } = this.parts;
    const { connected, resource } = request;
    const settings = this.parts.settings();
    return {
      clock,
      strategy: settings.strategy,
      fieldManager: settings.fieldManager,
      maxAttempts: settings.maxAttempts,
      timeoutMs: settings.timeoutMs,
      schema: await connected.schema(resource, signal),
      subresources: resource.subresources,
      cluster: connected.id,
      agent: userAgent,
      keepBodies: keepBodies(),
      secretKey: session.secretKey,
    };
  }

  /** Asks before a protected context or somebody else's field is written to, and before a removed line becomes a default. */
  private async ask(request: WriteRequest, options: ModifyOptions): Promise<void> {
    const { connected, target, intent } = request;
    const { schema = noListSchema, fieldManager = '' } = options;
    const against = trespasses(intent, target.kind, schema, this.parts.responsibilities(), fieldManager);
    if (against.length > 0) await confirmTrespass(describeTarget(target), against);
    const guarded = isProtected(connected.label, this.parts.protectedContexts());
    if (!guarded && !removesSomething(intent, options.schema)) return;
    const { modify } = await import('../../write/modify.ts');
    const preview = await modify(connected.cluster, target, intent, { ...options, dryRun: true });
    if (preview.outcome !== 'written') return;
    const defaults = (preview.storedOtherwise ?? []).filter(becameDefault);
    if (!guarded && defaults.length === 0) return;
    if (preview.object !== undefined && intent.kind === 'edits')
      await this.parts.showPreview(target, intent.base, preview.object);
    await confirm(describeTarget(target), connected.label, guarded, defaults);
  }
}

function removesSomething(intent: Intent, schema: ListSchema | undefined): boolean {
  if (intent.kind === 'function' || schema === undefined) return false;
  if (intent.kind === 'changes') return intent.remove.length > 0;
  return diffObjects(intent.base, intent.desired, schema).some((change) => change.kind === 'removed');
}

function becameDefault(item: StoredOtherwise): boolean {
  return item.asked === undefined && item.stored !== undefined && item.was !== undefined;
}

async function confirm(
  name: string,
  context: string,
  guarded: boolean,
  defaults: readonly StoredOtherwise[],
): Promise<void> {
  const write = l10n.t('Write');
  const lines = defaults.map((item) =>
    l10n.t(
      '{0}: the removed value {1} becomes the default {2}',
      item.path,
      stringifyJson(item.was ?? null),
      stringifyJson(item.stored ?? null),
    ),
  );
  const question = guarded
    ? l10n.t('Write {0} in the protected context {1}?', name, context)
    : l10n.t('Write {0}? A removed line becomes a default.', name);
  const detail = [
    ...lines,
    ...(guarded ? [l10n.t('The open comparison shows what the server would store.')] : []),
  ].join('\n');
  const chosen = await window.showWarningMessage(question, { modal: true, detail }, write);
  if (chosen !== write) throw cancelled();
}

async function confirmTrespass(name: string, against: readonly Trespass[]): Promise<void> {
  const write = l10n.t('Write');
  const lines = against.map(({ path, responsibility: { manager, reason } }) =>
    l10n.t('{0} is the responsibility of {1}: {2}', path, manager, reason),
  );
  const question = l10n.t('Change fields of {0} that others are responsible for?', name);
  const chosen = await window.showWarningMessage(question, { modal: true, detail: lines.join('\n') }, write);
  if (chosen !== write) throw cancelled();
}
