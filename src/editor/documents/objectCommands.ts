import { commands, env, l10n, window, type Disposable, type Uri } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { nameKey, type Incarnation, type NameHistory } from '../../core/history.ts';
import type { ObjectRef } from '../../core/timeline/detailTypes.ts';
import type { Editor } from '../app/editor.ts';
import { commandIds } from '../app/ids.ts';
import { rowCommand } from '../app/rowCommand.ts';
import { isTreeNode } from '../tree/nodes.ts';
import {
  findIncarnation,
  living,
  objectRows,
  pickVersion,
  versionRows,
  withVersions,
  type Accepts,
} from '../tree/objectRowSource.ts';
import { badgesOf, newestVersion, shortUid } from '../tree/wording.ts';
import { liveUri, versionUri } from './address.ts';
import { addressOfIncarnation } from './locate.ts';

/** A version, as a command is about it. */
interface VersionRef {
  readonly incarnation: Incarnation;
  readonly token: string;
}

/** The incarnation that a row of the tree is about: of an object's row the one that holds the name. */
export function incarnationOf(editor: Pick<Editor, 'session'>, node: unknown): Incarnation {
  const found = findIncarnation(editor, node);
  if (found !== undefined) return found;
  throw new AppError('usage', l10n.t('Choose an object in the tree "Watched Objects" first.'));
}

/** The living incarnation that a row is about; an old one is refused, because its name belongs to another now. */
export function livingIncarnationOf(editor: Pick<Editor, 'session'>, node: unknown): Incarnation {
  const incarnation = incarnationOf(editor, node);
  if (incarnation.end === undefined) return incarnation;
  throw new AppError(
    'usage',
    l10n.t('{0} is an old incarnation: nothing can be done to it any more.', shortUid(incarnation.uid)),
    {
      advice: l10n.t('Choose the incarnation that lives.'),
    },
  );
}

/** The cluster key of an incarnation: its connected cluster, or its id where there is none. */
export function clusterKeyOf({ clusters }: Pick<Editor, 'clusters'>, incarnation: Incarnation): string {
  return clusters.byId(incarnation.cluster)?.key ?? incarnation.cluster;
}

/** The document of one version. */
export function versionDocument({ incarnation, token }: VersionRef): Uri {
  const badge = badgesOf(incarnation).get(token)?.code ?? '';
  return versionUri(addressOfIncarnation(incarnation, incarnation.cluster), token, badge);
}

/** Opens the comparison of two versions. */
export async function openDiff(before: VersionRef, after: VersionRef): Promise<void> {
  const badge = ({ incarnation, token }: VersionRef): string => badgesOf(incarnation).get(token)?.code ?? '';
  const { name } = after.incarnation.name;
  const title =
    before.incarnation.uid === after.incarnation.uid
      ? `${name} ${badge(before)} ↔ ${badge(after)}`
      : l10n.t(
          '{0}: incarnation {1} ↔ incarnation {2}',
          name,
          shortUid(before.incarnation.uid),
          shortUid(after.incarnation.uid),
        );
  await commands.executeCommand('vscode.diff', versionDocument(before), versionDocument(after), title, {
    preview: true,
  });
}

/** The object of an incarnation, as the timeline names it. */
export function refOf(incarnation: Incarnation): ObjectRef {
  return { cluster: incarnation.cluster, ...incarnation.name, uid: incarnation.uid };
}

/** Opens an incarnation for a safe edit. */
export async function openLive(editor: Pick<Editor, 'clusters'>, incarnation: Incarnation): Promise<void> {
  await commands.executeCommand(
    'vscode.open',
    liveUri(addressOfIncarnation(incarnation, clusterKeyOf(editor, incarnation))),
  );
}

/** Commands that show objects and versions, and copy what identifies them. */
export function registerObjectCommands(editor: Editor): Disposable[] {
  const { command, session } = editor;
  const aboutObject = (id: string, accepts: Accepts, run: (node: unknown, selected?: unknown) => unknown): Disposable =>
    rowCommand(editor, id, objectRows(editor, accepts), run);
  return [
    aboutObject(commandIds.openObject, living(), (node) => openLive(editor, livingIncarnationOf(editor, node))),
    rowCommand(
      editor,
      commandIds.openVersion,
      versionRows(editor, ({ versions }) => versions),
      async (node) => {
        await commands.executeCommand('vscode.open', versionDocument(versionOf(editor, node)));
      },
    ),
    rowCommand(
      editor,
      commandIds.compareWithPrevious,
      versionRows(editor, ({ versions }) => versions.slice(1)),
      (node) => compareWithPrevious(versionOf(editor, node)),
    ),
    rowCommand(
      editor,
      commandIds.compareVersions,
      objectRows(editor, withVersions(2)),
      (node, selected) => compareVersions(editor, node, selected),
      true,
    ),
    aboutObject(commandIds.compareIncarnations, isRecreated, async (node) => {
      const incarnation = incarnationOf(editor, node);
      const history = session.history.names.get(nameKey(incarnation.cluster, incarnation.name));
      await openDiff(...(await pickIncarnations(history, incarnation)));
    }),
    aboutObject(commandIds.compareActor, withVersions(2), async (node) => {
      const { compareActor } = await import('./actorChanges.ts');
      await compareActor(incarnationOf(editor, node));
    }),
    command(commandIds.showSecretValues, async () => {
      const uri = window.activeTextEditor?.document.uri;
      const document = uri === undefined ? undefined : editor.live.find(uri);
      if (document === undefined) throw new AppError('usage', l10n.t('Open a Secret from the tree first.'));
      if (editor.live.isDirty(document))
        throw new AppError('usage', l10n.t('The document has unsaved changes.'), {
          advice: l10n.t('Save or revert them first.'),
        });
      editor.live.setHidden(document, document.hideKey === undefined ? session.secretKey : undefined);
    }),
    aboutObject(commandIds.copyName, withVersions(0), (node) => {
      const { namespace, name } = incarnationOf(editor, node).name;
      return copy(namespace === '' ? name : `${namespace}/${name}`);
    }),
    aboutObject(commandIds.copyUid, withVersions(0), (node) => copy(incarnationOf(editor, node).uid)),
    aboutObject(commandIds.copyToken, withVersions(1), (node) => copy(versionOf(editor, node).token)),
    aboutObject(commandIds.showToken, withVersions(1), async (node) => {
      const { incarnation, token } = versionOf(editor, node);
      const copyIt = l10n.t('Copy');
      const text = l10n.t(
        'The version token of {0} is "{1}". It is the same as another token of this object or it is not; nothing else follows from it.',
        incarnation.name.name,
        token,
      );
      if ((await window.showInformationMessage(text, copyIt)) === copyIt) await copy(token);
    }),
    aboutObject(commandIds.showOnTimeline, withVersions(0), (node) =>
      editor.timeline.revealObject(refOf(incarnationOf(editor, node))),
    ),
  ];
}

const isRecreated: Accepts = (_, { incarnations }) => incarnations.length > 1;

async function compareVersions(editor: Editor, node: unknown, selected: unknown): Promise<void> {
  const nodes = (Array.isArray(selected) ? (selected as unknown[]) : []).filter(
    (item) => isTreeNode(item) && item.type === 'detail' && item.version !== undefined,
  );
  if (nodes.length === 2) {
    const [a, b] = nodes.map((item) => versionOf(editor, item));
    if (a !== undefined && b !== undefined) await openDiff(...inOrder(a, b));
    return;
  }
  const incarnation = incarnationOf(editor, node);
  const after = await pickVersion(incarnation, l10n.t('Compare which version …'));
  const before = await pickVersion(incarnation, l10n.t('… with which?'));
  await openDiff(...inOrder({ incarnation, token: before }, { incarnation, token: after }));
}

async function copy(text: string): Promise<void> {
  await env.clipboard.writeText(text);
  window.setStatusBarMessage(l10n.t('Copied.'), 3000);
}

function versionOf(editor: Editor, node: unknown): VersionRef {
  const incarnation = incarnationOf(editor, node);
  const token = isTreeNode(node) && node.type === 'detail' ? node.version?.token : newestVersion(incarnation)?.token;
  if (token === undefined) throw new AppError('usage', l10n.t('No version of this object was seen.'));
  return { incarnation, token };
}

async function compareWithPrevious(version: VersionRef): Promise<void> {
  const { incarnation, token } = version;
  const index = incarnation.versions.findIndex((item) => item.token === token);
  const previous = incarnation.versions[index - 1];
  if (previous === undefined) throw new AppError('usage', l10n.t('No version before this one was seen.'));
  await openDiff({ incarnation, token: previous.token }, version);
}

function inOrder(a: VersionRef, b: VersionRef): [VersionRef, VersionRef] {
  const place = ({ incarnation, token }: VersionRef): number =>
    incarnation.versions.findIndex((version) => version.token === token);
  if (a.incarnation.uid !== b.incarnation.uid) return a.incarnation.firstSeq < b.incarnation.firstSeq ? [a, b] : [b, a];
  return place(a) <= place(b) ? [a, b] : [b, a];
}

async function pickIncarnations(
  history: NameHistory | undefined,
  incarnation: Incarnation,
): Promise<[VersionRef, VersionRef]> {
  const others = (history?.incarnations ?? []).filter(({ uid }) => uid !== incarnation.uid);
  if (others.length === 0) throw new AppError('usage', l10n.t('Only one incarnation of this name was seen.'));
  const items = others.map((other) => ({
    label: shortUid(other.uid),
    description: other.end === undefined ? l10n.t('lives') : l10n.t('old'),
    other,
  }));
  const chosen =
    items.length === 1
      ? items[0]
      : await window.showQuickPick(items, { title: l10n.t('Compare with which incarnation?') });
  if (chosen === undefined) throw new AppError('cancelled', l10n.t('Nothing was compared.'));
  const newest = (one: Incarnation): VersionRef => ({ incarnation: one, token: newestVersion(one)?.token ?? '' });
  return inOrder(newest(chosen.other), newest(incarnation));
}
