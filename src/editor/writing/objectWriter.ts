import { l10n, window, type LogOutputChannel } from 'vscode';
import { inGroup } from '../../core/inGroup.ts';
import { AppError } from '../../base/appError.ts';
import type { Clock } from '../../base/clock.ts';
import type { JsonObject } from '../../codec/json.ts';
import { diffObjects } from '../../core/diff.ts';
import { noListSchema, type ListSchema } from '../../core/listSchema.ts';
import type { ApiResource } from '../../kube/discovery.ts';
import type { Intent } from '../../write/intent.ts';
import type { ModifyOptions } from '../../write/options.ts';
import type { Preview } from '../../write/preview.ts';
import { isProtected } from '../../write/protect.ts';
import type { Report } from '../../write/report.ts';
import { breachesOf, type Responsibility } from '../../core/responsibility.ts';
import { describeTarget, type Target } from '../../write/target.ts';
import type { WriteSettings } from '../app/settings.ts';
import type { ConnectedCluster } from '../clusters/clusters.ts';
import type { Session } from '../session/session.ts';
import { changedPaths } from './changedPaths.ts';
import { askFieldChoices } from './fieldChoices.ts';
import { lateProgress } from './lateProgress.ts';
import { outcomeSentence } from './outcomeWords.ts';
import { confirmBreaches, confirmPreview } from './questions.ts';
import type { Reports } from './reports.ts';

/** A person may take this long to answer a question. */
const ASKING_LIMIT_MS = 30 * 60_000;

/** One write that a person asked for. */
export interface WriteRequest {
  readonly connected: ConnectedCluster;
  readonly resource: ApiResource;
  readonly target: Target;
  readonly intent: Intent;
  /** The object that the person saw, where the intent itself does not hold it: tells who owns the fields in question. */
  readonly seen?: JsonObject;
}

/** What writes need of the rest. */
interface ObjectWriterParts {
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
    await this.askAboutOthers(request, options);
    let report = await this.askAndSend(request, options);
    for (;;) {
      const resolve = await askFieldChoices(name, report);
      if (resolve === undefined) break;
      report = await this.askAndSend(request, { ...options, resolve });
    }
    parts.log.info(`${name}: ${report.outcome} after ${report.attempts.length} attempt(s)`);
    parts.reports.add(report, { name, cluster: request.connected.label, at: parts.clock.now() });
    window.setStatusBarMessage(outcomeSentence(report, name), 8000);
    return report;
  }

  /** What has to be asked is asked about exactly what is sent then. */
  private async askAndSend(request: WriteRequest, options: ModifyOptions): Promise<Report> {
    const { connected, target, intent } = request;
    const guarded = isProtected(connected.label, this.parts.protectedContexts());
    if (!guarded && !removesSomething(intent, options.schema)) return this.send(request, options);
    const { confirmedWrite } = await import('../../write/confirmed.ts');
    return lateProgress(l10n.t('Writing {0}', describeTarget(target)), ASKING_LIMIT_MS, (signal) =>
      confirmedWrite(
        connected.cluster,
        target,
        intent,
        { ...options, signal },
        {
          ask: (preview, again) => this.ask(request, guarded, preview, again),
          send: (meant, { onPlan }) =>
            this.send({ ...request, target: meant }, { ...options, ...(onPlan === undefined ? {} : { onPlan }) }),
        },
      ),
    );
  }

  private async send({ connected, target, intent }: WriteRequest, options: ModifyOptions): Promise<Report> {
    const { session } = this.parts;
    const { timeoutMs } = this.parts.settings();
    const { modify } = await import('../../write/modify.ts');
    return lateProgress(l10n.t('Writing {0}', describeTarget(target)), timeoutMs, (signal, say) =>
      modify(connected.cluster, target, intent, {
        ...options,
        signal,
        onEvent: (event) => session.append([event]),
        onAttempt: (attempt) => say(l10n.t('attempt {0}: {1}', attempt.attempt, attempt.outcome)),
      }),
    );
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

  /** Asks before fields are changed that somebody else is responsible for. */
  private async askAboutOthers({ target, intent, seen }: WriteRequest, options: ModifyOptions): Promise<void> {
    const { schema = noListSchema, fieldManager = '' } = options;
    const shown = intent.kind === 'edits' ? intent.base : seen;
    if (shown === undefined) return;
    const kind = inGroup(target.kind, target.group);
    const paths = changedPaths(intent, schema);
    const breaches = breachesOf(this.parts.responsibilities(), kind, shown, paths, fieldManager);
    if (breaches.length > 0) await confirmBreaches(describeTarget(target), breaches);
  }

  /**
   * Asks before a protected context is written to, and before a removed line becomes a default, with what the server would
   * store.
   */
  private async ask(
    request: WriteRequest,
    guarded: boolean,
    preview: Preview,
    again: boolean,
  ): Promise<'agreed' | 'unasked' | Report> {
    const { connected, target, intent } = request;
    const { foresight } = await import('../../write/preview.ts');
    const told = foresight(preview.report);
    if (!guarded && (told !== 'known' || preview.resets.length === 0)) return 'unasked';
    if (told === 'nothing' || told === 'ended') return withoutDryRun(preview.report);
    const seen = intent.kind === 'edits' ? intent.base : request.seen;
    const after = preview.report.object;
    if (told === 'known' && after !== undefined && seen !== undefined)
      await this.parts.showPreview(target, seen, after);
    await confirmPreview(describeTarget(target), connected.label, { guarded, again }, preview);
    return 'agreed';
  }
}

/** A dry run that ended as the write would have. */
function withoutDryRun({ dryRun: _dryRun, ...report }: Report): Report {
  return report;
}

function removesSomething(intent: Intent, schema: ListSchema | undefined): boolean {
  if (intent.kind === 'function' || schema === undefined) return false;
  if (intent.kind === 'changes') return intent.remove.length > 0;
  return diffObjects(intent.base, intent.desired, schema).some((change) => change.kind === 'removed');
}
