import { l10n } from 'vscode';
import { inGroup } from '../../core/inGroup.ts';
import { isJsonObject, type JsonObject } from '../../codec/json.ts';
import type { Finding } from '../../core/findings/finding.ts';
import { groupOccurrences } from '../findings/occurrences.ts';
import { endingWrite } from '../../core/endingWrite.ts';
import { ENDED_BY } from '../../core/timeline/detailAbsent.ts';
import { describeGeneration, generationOf, generationState } from '../../core/generation.ts';
import type { History, Incarnation, NameHistory, Version } from '../../core/history.ts';
import { describeOwner, ownersOf } from '../../core/ownership.ts';
import { formatPath, parsePath } from '../../codec/path.ts';
import { breachesOf, type Responsibility } from '../../core/responsibility.ts';
import type { AssociationState } from '../../core/associations.ts';
import type { KnownAssociation } from '../associations/associations.ts';
import type { DetailNode } from './nodes.ts';
import { ownedRow, referencesRow } from './relationRows.ts';
import {
  ago,
  badgeColours,
  badgesOf,
  describeActor,
  describeBeginning,
  describeChange,
  describeEnd,
  newestVersion,
  shortUid,
} from './wording.ts';
import { inWords } from '../../base/message.ts';
import { translated } from '../app/translated.ts';

const VERSIONS_SHOWN = 50;
const FIELDS_SHOWN = 200;

/** What the details of an incarnation are made from. */
export interface DetailInput {
  readonly history: History;
  readonly incarnation: Incarnation;
  readonly nodeId: string;
  readonly key: string;
  readonly now: number;
  readonly findings: readonly Finding[];
  /** What was declared to belong to whatever holds or held this name. */
  readonly associations: readonly KnownAssociation[];
  /** Who is responsible for which field, as declared. */
  readonly responsibilities: readonly Responsibility[];
}

/** The rows below an incarnation: identity, version, generation, last change, owners, references, findings, versions. */
export function incarnationDetails(input: DetailInput): DetailNode[] {
  const { incarnation, nodeId } = input;
  const version = newestVersion(incarnation);
  const at = input.history.names.get(input.key);
  const end = at === undefined ? undefined : describeEnd(at, incarnation);
  const rows: (DetailNode | undefined)[] = [
    {
      type: 'detail',
      id: `${nodeId}/uid`,
      label: l10n.t('UID'),
      description: shortUid(incarnation.uid),
      tooltip: `${incarnation.uid}\n${[describeBeginning(incarnation), end].filter((part) => part !== undefined).join('; ')}`,
      icon: 'key',
      context: 'uid',
    },
    at === undefined ? undefined : endRow(input, at),
    ...(version === undefined ? [] : versionFacts(input, version)),
    associationsRow(input),
    findingsRow(input),
    versionsRow(input),
  ];
  return rows.filter((row) => row !== undefined);
}

/** Who ended what is gone, and by what that is known. */
function endRow({ incarnation, nodeId }: DetailInput, at: NameHistory): DetailNode | undefined {
  if (incarnation.end === undefined) return undefined;
  const ending = endingWrite(at, incarnation);
  return {
    type: 'detail',
    id: `${nodeId}/end`,
    label: l10n.t('Ended by'),
    description:
      ending === undefined ? l10n.t('not known') : `${describeActor(ending.write.actor)} · ${ending.write.verb}`,
    tooltip: [
      describeEnd(at, incarnation),
      ...(ending === undefined ? [] : [`${translated('known by')}: ${translated(ENDED_BY[ending.known])}`]),
    ].join('\n'),
    icon: 'circle-slash',
  };
}

function versionFacts(input: DetailInput, version: Version): (DetailNode | undefined)[] {
  const { incarnation, nodeId, key, now } = input;
  const badge = badgesOf(incarnation).get(version.token);
  return [
    {
      type: 'detail',
      id: `${nodeId}/token`,
      label: l10n.t('Version'),
      description: badge?.code ?? '',
      tooltip: l10n.t(
        'The version token as a badge: equal badges are the same version of this object, different ones are not, and nothing else follows. The raw token can be shown or copied from the menu.',
      ),
      icon: 'circle-filled',
      colour: badgeColours[badge?.colour ?? 0] ?? 'charts.foreground',
      context: 'token',
      version: { key, uid: incarnation.uid, token: version.token },
    },
    generationRow(nodeId, version),
    {
      type: 'detail',
      id: `${nodeId}/change`,
      label: l10n.t('Last change'),
      description: l10n.t(
        '{0}, {1}, by {2}',
        describeChange(incarnation, version),
        ago(version.at, now),
        describeActor(version.actor),
      ),
      tooltip: changeTooltip(version),
      icon: 'edit',
      context: 'change',
      version: { key, uid: incarnation.uid, token: version.token },
    },
    ownersRow(input, version.body),
    referencesRow(input, version.body),
    ownedRow(input),
  ];
}

function generationRow(nodeId: string, version: Version): DetailNode {
  const state =
    version.body === undefined
      ? generationState(version.generation, version.observedGeneration, [])
      : generationOf(version.body);
  const generation = state.generation ?? version.generation;
  const observed = state.observedGeneration ?? version.observedGeneration;
  const numbers =
    generation === undefined
      ? l10n.t('none')
      : observed === undefined
        ? `${generation}`
        : `${generation} · ${l10n.t('observed {0}', observed)}`;
  return {
    type: 'detail',
    id: `${nodeId}/generation`,
    label: l10n.t('Generation'),
    description: generation === undefined ? numbers : `${numbers} · ${inWords(describeGeneration(state), translated)}`,
    tooltip: l10n.t(
      'Counts changes of the desired state as this resource defines it, and is compared with observedGeneration only. An unchanged generation does not mean that nothing changed.',
    ),
    icon: state.verdict === 'not-yet-seen' || state.verdict === 'seen' ? 'watch' : 'checklist',
  };
}

function changeTooltip(version: Version): string {
  const who =
    version.actorKnown === undefined
      ? l10n.t('Nothing observed tells who made this version.')
      : version.actorKnown === 'write'
        ? l10n.t('Known from the write itself.')
        : l10n.t('Known from managedFields: a field manager is a name that a client chose, not an identity.');
  const paths = (version.changed?.paths ?? []).slice(0, 20);
  return [new Date(version.at).toISOString(), who, ...paths].join('\n');
}

/** The owners of fields by manager; absent where no managed fields were read. */
function ownersRow({ nodeId, incarnation, responsibilities }: DetailInput, body: JsonObject | undefined): DetailNode {
  const metadata = body?.['metadata'];
  const managed = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
  if (body === undefined || !Array.isArray(managed))
    return {
      type: 'detail',
      id: `${nodeId}/owners`,
      label: l10n.t('Owners of fields'),
      description: l10n.t('not read'),
      icon: 'organization',
    };
  const owners = ownersOf(managed);
  return {
    type: 'detail',
    id: `${nodeId}/owners`,
    label: l10n.t('Owners of fields'),
    description: [...new Set(owners.map((owner) => owner.manager))].join(', '),
    icon: 'organization',
    children: [
      ...responsibleRows(nodeId, incarnation, body, responsibilities),
      ...owners.map((owner, index): DetailNode => ({
        type: 'detail',
        id: `${nodeId}/owners/${index}`,
        label: describeOwner(owner, translated),
        description: l10n.t('{0} fields', owner.paths.length),
        ...(owner.time === undefined ? {} : { tooltip: owner.time }),
        icon: 'account',
        children: owner.paths.slice(0, FIELDS_SHOWN).map((path, at) => ({
          type: 'detail',
          id: `${nodeId}/owners/${index}/${at}`,
          label: formatPath(path),
          icon: 'symbol-field',
        })),
      })),
    ],
  };
}

/** The declared responsibilities that hold for an object as it is. */
function responsibleRows(
  nodeId: string,
  { kind, name }: Incarnation,
  body: JsonObject,
  rules: readonly Responsibility[],
): DetailNode[] {
  const holding = rules.filter((rule) => {
    const parsed = parsePath(rule.path);
    return 'path' in parsed && breachesOf([rule], inGroup(kind, name.group), body, [parsed.path], '').length > 0;
  });
  return holding.map(({ path, manager, reason }, index) => ({
    type: 'detail',
    id: `${nodeId}/owners/responsible/${index}`,
    label: l10n.t('{0} is responsible', manager),
    description: path,
    tooltip: `${path}\n${inWords(reason, translated)}`,
    icon: 'shield',
  }));
}

/** Things outside the cluster that belong to this incarnation; below the one that lives, also those of its forerunners. */
function associationsRow({ associations, incarnation, nodeId }: DetailInput): DetailNode | undefined {
  const shown = associations.filter(
    ({ association, state }) =>
      association.uid === incarnation.uid || (state === 'stale' && incarnation.end === undefined),
  );
  if (shown.length === 0) return undefined;
  const open = shown.some(({ state }) => state === 'stale' || state === 'orphaned');
  return {
    type: 'detail',
    id: `${nodeId}/associations`,
    label: l10n.t('External associations'),
    description: `${shown.length}`,
    icon: open ? 'warning' : 'link-external',
    ...(open ? { colour: 'list.warningForeground' } : {}),
    children: shown.map(({ association, state }, index) => {
      const undecided = state === 'stale' || state === 'orphaned';
      return {
        type: 'detail',
        id: `${nodeId}/associations/${index}`,
        label: `${association.what} ${association.id}`,
        description: associationWords(state, association.uid),
        tooltip: association.uid,
        icon: undecided ? 'warning' : 'link-external',
        ...(undecided ? { colour: 'list.warningForeground' } : {}),
        context: `association ${state}`,
        association,
      };
    }),
  };
}

/** What an association is, in words. */
export function associationWords(state: AssociationState, uid: string): string {
  switch (state) {
    case 'holds':
      return l10n.t('belongs to this incarnation');
    case 'stale':
      return l10n.t('stale: declared for {0}, which is gone; clean up or adopt', shortUid(uid));
    case 'orphaned':
      return l10n.t('orphaned: declared for {0}, and nothing has the name; clean up', shortUid(uid));
    case 'unknown':
      return l10n.t('not observed since');
  }
}

function findingsRow({ findings, incarnation, nodeId }: DetailInput): DetailNode | undefined {
  const own = findings.filter((finding) => finding.object.uid === incarnation.uid);
  if (own.length === 0) return undefined;
  const groups = groupOccurrences(own);
  return {
    type: 'detail',
    id: `${nodeId}/findings`,
    label: l10n.t('Findings'),
    description: `${groups.length}`,
    icon: 'lightbulb',
    children: groups.map(({ newest, count }, index) => ({
      type: 'detail',
      id: `${nodeId}/findings/${index}`,
      label: newest.id,
      description: `${count > 1 ? `×${count} · ` : ''}${newest.explanation}`,
      tooltip: `${newest.explanation}\n${newest.remedy}`,
      icon: newest.severity,
      context: 'finding',
      evidence: newest,
    })),
  };
}

function versionsRow({ incarnation, nodeId, key, now }: DetailInput): DetailNode {
  const badges = badgesOf(incarnation);
  const shown = incarnation.versions.slice(-VERSIONS_SHOWN).reverse();
  const hidden = incarnation.versions.length - shown.length;
  return {
    type: 'detail',
    id: `${nodeId}/versions`,
    label: l10n.t('Versions'),
    description:
      hidden === 0
        ? `${incarnation.versions.length}`
        : l10n.t('{0}, the newest {1} shown', incarnation.versions.length, shown.length),
    icon: 'history',
    children: shown.map((version) => {
      const badge = badges.get(version.token);
      return {
        type: 'detail',
        id: `${nodeId}/versions/${version.token}`,
        label: badge?.code ?? '',
        description: l10n.t(
          '{0}, {1}, by {2}',
          describeChange(incarnation, version),
          ago(version.at, now),
          describeActor(version.actor),
        ),
        tooltip: version.placed
          ? changeTooltip(version)
          : `${l10n.t('No watch has placed this version among the others yet.')}\n${changeTooltip(version)}`,
        icon: version.placed ? 'circle-filled' : 'circle-outline',
        colour: badgeColours[badge?.colour ?? 0] ?? 'charts.foreground',
        context: 'version',
        version: { key, uid: incarnation.uid, token: version.token },
      };
    }),
  };
}
