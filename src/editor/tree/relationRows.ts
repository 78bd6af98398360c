import { l10n } from 'vscode';
import { isJsonObject, type JsonObject } from '../../codec/json.ts';
import { formatPath } from '../../codec/path.ts';
import { uidKey, type Incarnation } from '../../core/history.ts';
import { referencesOf, type Reference } from '../../core/references.ts';
import { nameMeant, recreatedSince } from '../../core/referencesByName.ts';
import type { DetailInput } from './incarnationDetails.ts';
import type { DetailNode } from './nodes.ts';
import { currentIncarnation, newestVersion, shortUid } from './wording.ts';

const OWNED_SHOWN = 200;

/** What an object points at, and whether that still holds; undefined where it points at nothing. */
export function referencesRow(input: DetailInput, body: JsonObject | undefined): DetailNode | undefined {
  const references = body === undefined ? [] : referencesOf(body);
  if (references.length === 0) return undefined;
  const { nodeId } = input;
  const children = references.map((reference, index) => referenceRow(input, reference, index));
  const broken = children.filter((child) => child.colour !== undefined).length;
  return {
    type: 'detail',
    id: `${nodeId}/references`,
    label: l10n.t('References'),
    description:
      broken === 0
        ? `${references.length}`
        : l10n.t('{0}, of which {1} point at something gone', references.length, broken),
    icon: broken === 0 ? 'references' : 'warning',
    ...(broken === 0 ? {} : { colour: 'list.warningForeground' }),
    children,
  };
}

function referenceRow({ history, incarnation, nodeId }: DetailInput, reference: Reference, index: number): DetailNode {
  const namespace = reference.namespace === undefined ? '' : `${reference.namespace}/`;
  const target = reference.uid === undefined ? undefined : history.uids.get(uidKey(incarnation.cluster, reference.uid));
  const name = reference.uid === undefined ? nameMeant(history, incarnation, reference) : undefined;
  const holder = name === undefined ? undefined : currentIncarnation(name);
  const gone = (target ?? holder)?.end !== undefined;
  const verdict =
    reference.uid === undefined
      ? byNameWords(
          holder,
          name !== undefined && holder !== undefined && recreatedSince(name, holder, incarnation, reference),
        )
      : target === undefined
        ? l10n.t('UID {0} not observed', shortUid(reference.uid))
        : gone
          ? l10n.t('points at {0}, which is gone', shortUid(reference.uid))
          : l10n.t('holds: {0}', shortUid(reference.uid));
  return {
    type: 'detail',
    id: `${nodeId}/references/${index}`,
    label: `${reference.kind} ${namespace}${reference.name}`,
    description: verdict,
    tooltip: [formatPath(reference.path), reference.uid ?? holder?.uid].filter((part) => part !== undefined).join('\n'),
    icon: gone ? 'warning' : 'link',
    ...(gone ? { colour: 'list.warningForeground' } : {}),
  };
}

/** What a reference without a UID means at present, in words. */
function byNameWords(holder: Incarnation | undefined, recreated: boolean): string {
  if (holder === undefined) return l10n.t('by name only: means whatever holds the name');
  const uid = shortUid(holder.uid);
  if (holder.end !== undefined) return l10n.t('by name only: {0} held the name and is gone', uid);
  return recreated
    ? l10n.t('by name only: now {0}, recreated since this was written', uid)
    : l10n.t('by name only: now {0}', uid);
}

/** Living objects that name this incarnation as their owner, by UID, as far as they are watched. */
export function ownedRow({ history, incarnation, nodeId }: DetailInput): DetailNode | undefined {
  const owned = [...history.uids.values()].filter(
    (other) => other.end === undefined && other.cluster === incarnation.cluster && isOwnedBy(other, incarnation.uid),
  );
  if (owned.length === 0) return undefined;
  return {
    type: 'detail',
    id: `${nodeId}/owned`,
    label: l10n.t('Owns'),
    description: `${owned.length}`,
    icon: 'type-hierarchy-sub',
    children: owned.slice(0, OWNED_SHOWN).map((other) => ({
      type: 'detail',
      id: `${nodeId}/owned/${other.uid}`,
      label: `${other.kind} ${other.name.name}`,
      description: shortUid(other.uid),
      tooltip: other.uid,
      icon: 'symbol-object',
    })),
  };
}

function isOwnedBy(other: Incarnation, uid: string): boolean {
  const metadata = newestVersion(other)?.body?.['metadata'];
  const owners = isJsonObject(metadata) ? metadata['ownerReferences'] : undefined;
  return Array.isArray(owners) && owners.some((owner) => isJsonObject(owner) && owner['uid'] === uid);
}
