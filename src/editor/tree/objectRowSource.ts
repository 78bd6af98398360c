import { l10n, window } from 'vscode';
import { cancelled } from '../../base/clock.ts';
import { nameKey, type Incarnation, type NameHistory, type Version } from '../../core/history.ts';
import type { Editor } from '../app/editor.ts';
import type { RowItem, RowSource } from '../app/rowCommand.ts';
import { limited } from '../app/signal.ts';
import { abilitiesOf, type Ability } from './abilities.ts';
import { isTreeNode, type TreeNode } from './nodes.ts';
import { ago, badgesOf, currentIncarnation, describeActor, describeChange, shortUid } from './wording.ts';

/** How long a question waits for the first lists of the watches. */
const LISTS_LIMIT_MS = 5000;

type Parts = Pick<Editor, 'session' | 'watches' | 'tree' | 'treeView' | 'clusters' | 'start'>;

/** Which incarnations a command can be about. */
export type Accepts = (incarnation: Incarnation, history: NameHistory) => boolean;

/** Those that live, and have what a command needs. */
export function living(...needed: readonly Ability[]): Accepts {
  return ({ end, name, versions }) => {
    if (end !== undefined) return false;
    const abilities = abilitiesOf(name, versions.findLast(({ body }) => body !== undefined)?.body);
    return needed.every((ability) => abilities.includes(ability));
  };
}

/** Those of which so many versions were seen. */
export function withVersions(least: number): Accepts {
  return ({ versions }) => versions.length >= least;
}

/** The incarnation that a row is about: of an object's row the one that holds the name. */
export function findIncarnation({ session }: Pick<Editor, 'session'>, node: unknown): Incarnation | undefined {
  if (!isTreeNode(node)) return undefined;
  const isObjectLike = node.type === 'object' || node.type === 'incarnation';
  const version = node.type === 'detail' ? node.version : undefined;
  const history = session.history.names.get((isObjectLike ? node.key : version?.key) ?? '');
  if (history === undefined) return undefined;
  const uid = node.type === 'incarnation' ? node.uid : version?.uid;
  return uid === undefined
    ? currentIncarnation(history)
    : history.incarnations.find((incarnation) => incarnation.uid === uid);
}

/** Incarnations of watched objects that a command accepts, the living first. */
export function objectRows(editor: Parts, accepts: Accepts): RowSource {
  return {
    question: l10n.t('Which object?'),
    selected: () => (editor.treeView.visible ? editor.treeView.selection : []),
    fits: (row) => {
      const found = findIncarnation(editor, row);
      if (found === undefined) return false;
      const history = editor.session.history.names.get(nameKey(found.cluster, found.name));
      return history !== undefined && accepts(found, history);
    },
    items: async () => {
      editor.start();
      const clusters = new Set(editor.watches.definitions().map(({ cluster }) => cluster));
      const signal = limited(LISTS_LIMIT_MS);
      await Promise.all([...clusters].map((cluster) => editor.watches.settled(cluster, LISTS_LIMIT_MS, signal)));
      const histories = [...editor.tree.watchedKeys()].flatMap((key) => editor.session.history.names.get(key) ?? []);
      const found = histories.flatMap((history) =>
        history.incarnations.toReversed().filter((incarnation) => accepts(incarnation, history)),
      );
      const [alive, old] = [found.filter(isAlive), found.filter((incarnation) => !isAlive(incarnation))];
      return [...alive, ...old].map((incarnation) => itemOf(editor, incarnation));
    },
  };
}

/** Versions of watched objects; `versionsOf` gives those of an incarnation that a command can be about. */
export function versionRows(editor: Parts, versionsOf: (incarnation: Incarnation) => readonly Version[]): RowSource {
  return {
    ...objectRows(editor, (incarnation) => versionsOf(incarnation).length > 0),
    refine: async (row) => {
      const incarnation = findIncarnation(editor, row);
      if (incarnation === undefined || (isTreeNode(row) && row.type === 'detail')) return row;
      const { uid, cluster, name } = incarnation;
      const token = await pickVersion(incarnation, l10n.t('Which version?'), versionsOf(incarnation));
      const version = { key: nameKey(cluster, name), uid, token };
      return { type: 'detail', id: `asked/${uid}/${token}`, label: '', version } satisfies TreeNode;
    },
  };
}

/**
 * Asks for one of the versions of an incarnation; gives its token.
 * @throws AppError `cancelled`
 */
export async function pickVersion(
  incarnation: Incarnation,
  title: string,
  versions: readonly Version[] = incarnation.versions,
): Promise<string> {
  const badges = badgesOf(incarnation);
  const items = versions.toReversed().map((version) => ({
    label: badges.get(version.token)?.code ?? '',
    description: l10n.t(
      '{0}, {1}, by {2}',
      describeChange(incarnation, version),
      ago(version.at, Date.now()),
      describeActor(version.actor),
    ),
    token: version.token,
  }));
  const chosen = await window.showQuickPick(items, { title, matchOnDescription: true });
  if (chosen === undefined) throw cancelled();
  return chosen.token;
}

function isAlive({ end }: Incarnation): boolean {
  return end === undefined;
}

function itemOf({ clusters }: Parts, incarnation: Incarnation): RowItem {
  const { kind, uid, cluster, terminatingAt } = incarnation;
  const { namespace, name } = incarnation.name;
  const label = clusters.byId(cluster)?.label ?? '';
  const alive = terminatingAt === undefined ? l10n.t('lives') : l10n.t('terminating');
  const key = nameKey(cluster, incarnation.name);
  return {
    label: name,
    description: [kind, namespace, label].filter((part) => part !== '').join(' · '),
    detail: `${l10n.t('UID')} ${shortUid(uid)} · ${isAlive(incarnation) ? alive : l10n.t('old')}`,
    row: { type: 'incarnation', id: `asked/${key}/${uid}`, watch: '', key, uid } satisfies TreeNode,
  };
}
