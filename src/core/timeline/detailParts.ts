import { nameKey, uidKey, type History, type Incarnation, type NameHistory } from '../history.ts';
import { tokenBadge } from '../tokenBadge.ts';
import type {
  AbsentEvent,
  Actor,
  NoteEvent,
  ObjectName,
  ObservedEvent,
  ReadEvent,
  TraceEvent,
  WriteEvent,
} from '../traceEvent.ts';
import { preciseTimeText } from './axis.ts';
import { actorName } from './classify.ts';
import type { BadgeInfo, DetailFact, DetailSection, EventDetails, ObjectRef } from './detailTypes.ts';
import type { MarkKind } from './model.ts';
import type { Translate } from './translate.ts';

/** What details are worked out from. */
export interface DetailSource {
  readonly history: History;
  readonly clusterLabel: (cluster: string) => string;
  readonly translate: Translate;
  readonly timeZoneOffsetMin: number;
  /** The evidence of findings. */
  readonly eventAt: (seq: number) => TraceEvent | undefined;
}

/** The parts of details before they are finished. */
export interface DetailDraft {
  readonly event: ObservedEvent | WriteEvent | AbsentEvent | NoteEvent | ReadEvent;
  /** What it is about, where the event is about several. */
  readonly object?: ObjectRef;
  readonly kind: MarkKind;
  readonly title: string;
  readonly uid: string;
  readonly facts: readonly DetailFact[];
  readonly sections: readonly DetailSection[];
  readonly diff: EventDetails['diff'];
  readonly related: EventDetails['related'];
}

/** The source, and how a draft is finished. */
export interface DetailContext extends DetailSource {
  readonly finish: (draft: DetailDraft) => EventDetails;
}

/** A context for `describeEvent`. */
export function detailContext(source: DetailSource): DetailContext {
  return { ...source, finish: (draft) => finish(source, draft) };
}

/** What is known of the name that an event is about. */
export function historyOf(
  { history }: DetailSource,
  { cluster, name }: { readonly cluster: string; readonly name: ObjectName },
): NameHistory | undefined {
  return history.names.get(nameKey(cluster, name));
}

/** The incarnation of a UID, if it is known. */
export function incarnationOf(source: DetailSource, cluster: string, uid: string): Incarnation | undefined {
  return source.history.uids.get(uidKey(cluster, uid));
}

/** The equality badge of a token among the versions of its incarnation. */
export function badgeOf(incarnation: Incarnation | undefined, token: string): BadgeInfo {
  const others = incarnation?.versions.map((version) => version.token) ?? [];
  return { ...tokenBadge(incarnation?.uid ?? '', token, others), token };
}

/** The object that an event is about. */
export function objectRef(event: { cluster: string; name: ObjectName }, uid: string): ObjectRef {
  return { cluster: event.cluster, ...event.name, uid };
}

/** Who did it, and how, where that is known. */
export function actorFact(
  label: string,
  actor: Actor | undefined,
  how: string | undefined,
  translate: Translate,
): DetailFact {
  const value = actorName(actor);
  const remark = how === undefined ? {} : { remark: how };
  if (value === '') return { label, value: translate('not known'), ...remark, tone: 'muted' };
  return { label, value, ...remark, isActor: true, tone: 'plain' };
}

/** How something was asked for: `patch (merge) /status`. */
export function howAsked(
  {
    verb,
    patchType,
    subresource,
    force,
    dryRun,
  }: Partial<Pick<WriteEvent, 'patchType' | 'subresource' | 'force' | 'dryRun'>> & { readonly verb: string },
  translate: Translate,
): string {
  const parts = [
    verb,
    patchType === undefined || patchType === verb ? '' : `(${patchType})`,
    subresource === undefined ? '' : `/${subresource}`,
    force === true ? '--force' : '',
    dryRun === true ? translate('dry run') : '',
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** Which incarnation of its name a UID is. */
export function incarnationFact(source: DetailSource, cluster: string, name: ObjectName, uid: string): DetailFact {
  const { translate } = source;
  const incarnations = historyOf(source, { cluster, name })?.incarnations ?? [];
  const place = incarnations.findIndex((incarnation) => incarnation.uid === uid);
  const label = translate('uid');
  if (place < 0) return { label, value: uid === '' ? translate('not known') : uid, tone: 'muted' };
  if (incarnations.length === 1) return { label, value: uid };
  return { label, value: uid, remark: translate('incarnation {0} of {1}', place + 1, incarnations.length) };
}

function finish(source: DetailSource, draft: DetailDraft): EventDetails {
  const { event, uid } = draft;
  const name = draft.object ?? nameOf(event);
  const incarnation = incarnationOf(source, event.cluster, uid);
  const kindName = incarnation === undefined || incarnation.kind === '' ? name.resource : incarnation.kind;
  const clusterLabel = source.clusterLabel(event.cluster);
  const actor = draft.facts.find(({ isActor }) => isActor === true)?.value;
  const details = {
    event: event.seq,
    kind: draft.kind,
    title: draft.title,
    at: event.at,
    kindName,
    ...(actor === undefined ? {} : { actor }),
    clusterLabel,
    object: draft.object ?? { cluster: event.cluster, ...name, uid },
    facts: draft.facts,
    sections: draft.sections,
    related: draft.related,
    canEdit: incarnation !== undefined && incarnation.end === undefined && name.name !== '',
    ...(draft.diff === undefined ? {} : { diff: draft.diff }),
  };
  return { ...details, text: textOf(source, details) };
}

function nameOf(event: DetailDraft['event']): ObjectName {
  if (event.type === 'read') {
    const { group, resource } = event.scope;
    return { group, resource, namespace: event.scope.namespace ?? '', name: event.scope.name ?? '' };
  }
  return event.name ?? { group: '', resource: '', namespace: '', name: '' };
}

/** The details as plain text, to be pasted somewhere. */
function textOf(source: DetailSource, details: Omit<EventDetails, 'text'>): string {
  const { object } = details;
  const place = object.namespace === '' ? object.name : `${object.namespace}/${object.name}`;
  const lines = [
    details.title,
    `${details.kindName} ${place} (${details.clusterLabel})`,
    `${preciseTimeText(details.at, source.timeZoneOffsetMin)} · event ${details.event}`,
  ];
  for (const fact of details.facts) {
    const value = [fact.badge?.code ?? fact.value, fact.remark].filter((part) => part !== undefined).join(' · ');
    lines.push(`${fact.label}: ${value}`);
  }
  for (const section of details.sections) {
    lines.push('', section.title);
    for (const entry of section.entries) {
      const head = [entry.actor, entry.how].filter((part) => part !== undefined).join(' ');
      if (head !== '') lines.push(head);
      lines.push(...entry.lines.map((line) => `  ${line}`));
    }
  }
  return lines.join('\n');
}
