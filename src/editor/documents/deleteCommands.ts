import { l10n, window, type Disposable } from 'vscode';
import { inWords } from '../../base/message.ts';
import { translated } from '../app/translated.ts';
import { AppError } from '../../base/appError.ts';
import { cancelled } from '../../base/clock.ts';
import { plannedDeletion, type Deletion } from '../../core/deletion.ts';
import type { Incarnation, Version } from '../../core/history.ts';
import type { Report } from '../../write/report.ts';
import { describeTarget, identityOf, isSecret, type Target } from '../../write/target.ts';
import type { JsonObject } from '../../codec/json.ts';
import { isProtected } from '../../write/protect.ts';
import { contentForNewLife, restoreIntent } from '../../write/restore.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds } from '../app/ids.ts';
import { showPreview } from '../app/preview.ts';
import { rowCommand } from '../app/rowCommand.ts';
import { settings } from '../app/settings.ts';
import { limited } from '../app/signal.ts';
import { isTreeNode } from '../tree/nodes.ts';
import { living, objectRows, versionRows } from '../tree/objectRowSource.ts';
import { newestVersion, shortUid } from '../tree/wording.ts';
import { finish } from '../writing/editCommands.ts';
import { deleteSentence, outcomeSentence } from '../writing/outcomeWords.ts';
import { confirmNewest, shortList } from '../writing/questions.ts';
import { lateProgress } from '../writing/lateProgress.ts';
import { addressOfIncarnation, locate } from './locate.ts';
import { clusterKeyOf, incarnationOf, livingIncarnationOf, openDiff } from './objectCommands.ts';
import type { Located } from './objectSaver.ts';
import { pointingAt } from './pointingAt.ts';
import { readObject } from './readObject.ts';

const READ_LIMIT_MS = 20_000;

/** Deleting with the incarnation and version as preconditions, and writing an older version back. */
export function registerDeleteCommands(editor: Editor): Disposable[] {
  return [
    rowCommand(
      editor,
      commandIds.deleteObject,
      objectRows(editor, living()),
      async (node, selected) => {
        const nodes =
          Array.isArray(selected) && selected.length > 1 ? (selected as unknown[]).filter(isTreeNode) : [node];
        const deletions = nodes.map((item) => {
          const incarnation = livingIncarnationOf(editor, item);
          return plannedDeletion(incarnation, newestVersion(incarnation), labelOf(editor, incarnation));
        });
        await confirmDelete(editor, deletions);
        for (const deletion of deletions) await deleteIncarnation(editor, deletion);
      },
      true,
    ),
    rowCommand(editor, commandIds.restoreVersion, versionRows(editor, restorable), (node) => restore(editor, node)),
  ];
}

/** The versions that can be written back: their content was kept, whole. */
function restorable({ name, versions }: Incarnation): readonly Version[] {
  return isSecret(name) ? [] : versions.filter(({ body }) => body !== undefined);
}

function labelOf(editor: Editor, { cluster }: Incarnation): string {
  return editor.clusters.byId(cluster)?.label ?? '';
}

async function confirmDelete(editor: Editor, deletions: readonly Deletion[]): Promise<void> {
  refuseReadOnly();
  const labels = new Set(deletions.map(({ incarnation }) => labelOf(editor, incarnation)));
  const guarded = [...labels].some((label) => isProtected(label, settings.protectedContexts()));
  const remove = l10n.t('Delete');
  const foreseen = guarded ? await Promise.all(deletions.map(async (one) => foresee(editor, one))) : [];
  const detail = [
    ...deletions.map(({ line }) => line),
    ...foreseen.map((message) => l10n.t('A dry run says: {0}', message)),
    '',
    l10n.t(
      'Only this incarnation, at the version that you see, is deleted: if it changed or was replaced meanwhile, nothing is.',
    ),
    ...(guarded ? [l10n.t('This context is protected: {0}.', [...labels].join(', '))] : []),
  ].join('\n');
  const chosen = await window.showWarningMessage(
    deletions.length === 1 ? l10n.t('Delete this object?') : l10n.t('Delete {0} objects?', deletions.length),
    { modal: true, detail },
    remove,
  );
  if (chosen !== remove) throw cancelled();
}

/** What the server would do with a delete. */
async function foresee(editor: Editor, { incarnation, token }: Deletion): Promise<string> {
  const located = await locate(editor.clusters, addressOfIncarnation(incarnation, clusterKeyOf(editor, incarnation)));
  const { message, outcome } = await sendDelete(editor, located, incarnation.uid, token, true);
  return inWords(message ?? outcome, translated);
}

async function sendDelete(
  editor: Editor,
  { connected, resource, target }: Located,
  uid: string,
  token: string | undefined,
  dryRun: boolean,
): Promise<Report> {
  const { deleteObject } = await import('../../write/deleteObject.ts');
  return lateProgress(l10n.t('Deleting {0}', describeTarget(target)), settings.write().timeoutMs, async (signal) =>
    deleteObject(
      connected.cluster,
      { ...target, uid },
      {
        clock: editor.clock,
        signal,
        ...(token === undefined ? {} : { token }),
        dryRun,
        schema: await connected.schema(resource, signal),
        cluster: connected.id,
        agent: editor.userAgent,
        onEvent: (event) => editor.session.append([event]),
      },
    ),
  );
}

async function deleteIncarnation(editor: Editor, { incarnation, token }: Deletion): Promise<void> {
  const located = await locate(editor.clusters, addressOfIncarnation(incarnation, clusterKeyOf(editor, incarnation)));
  const name = describeTarget(located.target);
  let report = await sendDelete(editor, located, incarnation.uid, token, false);
  // A yes is to one version: each further change is another question.
  while (report.outcome === 'needs-decision' && report.token !== undefined && (await confirmNewest(name, report)))
    report = await sendDelete(editor, located, incarnation.uid, report.token, false);
  editor.reports.add(report, { name, cluster: located.connected.label, at: editor.clock.now() });
  const sentence = deleteSentence(report, name);
  if (report.outcome === 'written' || report.outcome === 'cancelled') {
    window.setStatusBarMessage(sentence, 8000);
    return;
  }
  const show = l10n.t('Show Report');
  if ((await window.showWarningMessage(sentence, show)) === show) await editor.reports.show();
}

function refuseReadOnly(): void {
  if (!settings.readOnly()) return;
  throw new AppError('forbidden', l10n.t('Writing is switched off.'), {
    advice: l10n.t('Run "Object Versions: Toggle Read Only" to switch it on.'),
  });
}

/** Writes a version that was seen before back: onto the living incarnation as edits, or as a new incarnation of its name. */
async function restore(editor: Editor, node: unknown): Promise<void> {
  refuseReadOnly();
  const incarnation = incarnationOf(editor, node);
  const version = versionOf(incarnation, node);
  const located = await locate(editor.clusters, addressOfIncarnation(incarnation, clusterKeyOf(editor, incarnation)));
  const current = await readObject(located.connected.cluster, located.target, limited(READ_LIMIT_MS));
  if (current === undefined) {
    await recreate(editor, incarnation, version, located);
    return;
  }
  if (identityOf(current).uid !== incarnation.uid) {
    throw new AppError(
      'not-found',
      l10n.t('Another incarnation holds the name {0} now.', describeTarget(located.target)),
      { advice: l10n.t('An old incarnation is not written over a new one.') },
    );
  }
  const token = newestVersion(incarnation)?.token;
  if (token !== undefined) await openDiff({ incarnation, token }, { incarnation, token: version.token });
  const write = l10n.t('Write Back');
  const question = l10n.t(
    'Write this version of {0} back? The comparison shows what changes.',
    describeTarget(located.target),
  );
  if ((await window.showWarningMessage(question, { modal: true }, write)) !== write) throw cancelled();
  await finish(
    editor,
    located,
    await editor.writer.write({
      ...located,
      intent: restoreIntent(version.body, current),
    }),
  );
}

/** The target of a new life: the UID of the old one is not meant. */
function withoutUid(target: Target): Target {
  const { uid: _uid, ...rest } = target;
  return rest;
}

async function recreate(
  editor: Editor,
  incarnation: Incarnation,
  version: BodiedVersion,
  located: Located,
): Promise<void> {
  const create = l10n.t('Create');
  const { connected, target } = located;
  const name = describeTarget(target);
  const { createObject } = await import('../../write/createObject.ts');
  const { timeoutMs, fieldManager } = settings.write();
  const send = async (dryRun: boolean): Promise<Report> =>
    lateProgress(l10n.t('Creating {0}', name), timeoutMs, (signal) =>
      createObject(connected.cluster, withoutUid(target), contentForNewLife(version.body), {
        clock: editor.clock,
        signal,
        timeoutMs,
        fieldManager,
        dryRun,
        cluster: connected.id,
        agent: editor.userAgent,
        onEvent: (event) => editor.session.append([event]),
      }),
    );
  const guarded = isProtected(connected.label, settings.protectedContexts());
  const associations = editor.associations.known().map(({ association }) => association);
  const pointing = pointingAt(editor.session.history, associations, incarnation);
  const detail = [
    l10n.t(
      'It will be a new incarnation with a new UID. What pointed at {0} by UID will not point at it.',
      shortUid(incarnation.uid),
    ),
    ...(pointing.length === 0 ? [] : [l10n.t('Known to point at it:'), ...shortList(pointing)]),
    ...(guarded ? await foreseeCreate(editor, located, version.body, await send(true)) : []),
  ].join('\n');
  if (
    (await window.showWarningMessage(
      l10n.t('{0} is gone. Create it again?', name),
      { modal: true, detail },
      create,
    )) !== create
  )
    throw cancelled();
  const report = await send(false);
  editor.reports.add(report, { name, cluster: connected.label, at: editor.clock.now() });
  if (report.outcome === 'written')
    window.setStatusBarMessage(l10n.t('{0} is created as a new incarnation.', name), 8000);
  else await finish(editor, located, report);
}

/** What a dry run of the creation says, with the comparison of what would be stored. */
async function foreseeCreate(
  editor: Editor,
  { connected, target }: Located,
  body: JsonObject,
  report: Report,
): Promise<string[]> {
  const { object, outcome } = report;
  if (outcome === 'written' && object !== undefined)
    await showPreview(editor.shelf, editor.session.secretKey, target, body, object);
  return [
    l10n.t('This context is protected: {0}.', connected.label),
    l10n.t('A dry run says: {0}', outcomeSentence(report, describeTarget(target))),
  ];
}

type BodiedVersion = Version & { readonly body: JsonObject };

function versionOf(incarnation: Incarnation, node: unknown): BodiedVersion {
  const token = isTreeNode(node) && node.type === 'detail' ? node.version?.token : incarnation.versions.at(-1)?.token;
  const version = incarnation.versions.find((item) => item.token === token);
  if (version?.body === undefined) throw new AppError('not-found', l10n.t('The content of this version was not kept.'));
  if (isSecret(incarnation.name)) {
    throw new AppError(
      'usage',
      l10n.t('The values of a Secret are not kept, so that an older version cannot be written back.'),
    );
  }
  return version as BodiedVersion;
}
