import type { Incarnation, Version } from '../history.ts';
import type { NoteEvent, ObservedEvent, ReadEvent, TraceEvent, WriteEvent } from '../traceEvent.ts';
import { absentDetails } from './detailAbsent.ts';
import { isRenewal, versionKind, writeKind } from './classify.ts';
import type { DetailFact, DetailSection, EventDetails, ObjectRef } from './detailTypes.ts';
import { changeSections, generationText, ownerSection } from './detailChanges.ts';
import { withFinding } from './detailFinding.ts';
import {
  actorFact,
  badgeOf,
  historyOf,
  howAsked,
  incarnationFact,
  incarnationOf,
  objectRef,
  type DetailContext,
} from './detailParts.ts';
import { readDetails } from './detailRead.ts';
import { refusedDetails } from './detailWrite.ts';
import type { MarkKind, TimelineFinding } from './model.ts';

/**
 * All that the panel says about one event; a finding that the person came from is said first. `of`: which of the objects
 * that a read gave is looked at. Pure.
 */
export function describeEvent(
  context: DetailContext,
  event: TraceEvent,
  finding: TimelineFinding | undefined,
  of?: Pick<ObjectRef, 'namespace' | 'name'>,
): EventDetails | undefined {
  const details = event.type === 'read' ? readDetails(context, event, of) : detailsOf(context, event);
  if (details === undefined || finding === undefined) return details;
  return withFinding(context, details, finding, (seq) => {
    const proof = context.eventAt(seq);
    return proof === undefined ? undefined : describeEvent(context, proof, undefined, finding.object);
  });
}

function detailsOf(context: DetailContext, event: Exclude<TraceEvent, ReadEvent>): EventDetails | undefined {
  if (event.type === 'observed') return versionDetails(context, event, event.uid, event.token);
  if (event.type === 'absent') return absentDetails(context, event);
  if (event.type === 'note') return noteDetails(context, event);
  if (event.type === 'gap') return undefined;
  const kind = writeKind(event);
  if (kind !== undefined) return refusedDetails(context, event, kind);
  return event.result === undefined
    ? refusedDetails(context, event, 'refused')
    : versionDetails(context, event, event.result.uid, event.result.token);
}

const TITLES: Readonly<Partial<Record<MarkKind, string>>> = {
  renewal: 'Renewed',
  metadata: 'Metadata changed',
  status: 'Status changed',
  spec: 'Spec changed',
  unknown: 'A version was seen',
  created: 'Created',
  terminating: 'Deletion began',
};

function versionDetails(
  context: DetailContext,
  event: ObservedEvent | WriteEvent,
  uid: string,
  token: string,
): EventDetails {
  const { translate } = context;
  const incarnation = incarnationOf(context, event.cluster, uid);
  const index = incarnation?.versions.findLastIndex((one) => one.token === token) ?? -1;
  const version = incarnation?.versions[index];
  const before = incarnation?.versions[index - 1];
  const kind = kindOf(incarnation, version, before, index);
  const write = event.type === 'write' ? event : writeOf(context, event, uid, token);
  const facts: DetailFact[] = [...actorFacts(context, version, write)];
  if (before !== undefined) facts.push({ label: translate('before'), badge: badgeOf(incarnation, before.token) });
  facts.push({
    label: translate('version'),
    badge: badgeOf(incarnation, token),
    ...(version?.placed === false ? { remark: translate('its place is not known yet'), tone: 'muted' } : {}),
  });
  const generation = generationText(incarnation, index, translate);
  if (generation !== undefined) facts.push(generation);
  facts.push(incarnationFact(context, event.cluster, event.name, uid));
  const sections = [
    ...changeSections(version, before, translate),
    ...ownerSection(version, event.type === 'observed' ? event.managedFields : undefined, translate),
  ];
  const diff =
    before === undefined
      ? undefined
      : {
          object: objectRef(event, uid),
          before: { uid, token: before.token },
          after: { uid, token },
        };
  return finished(context, event, kind, translate(TITLES[kind] ?? 'A version was seen'), uid, facts, sections, diff);
}

function kindOf(
  incarnation: Incarnation | undefined,
  version: Version | undefined,
  before: Version | undefined,
  index: number,
): MarkKind {
  if (incarnation === undefined || version === undefined) return 'unknown';
  const terminates =
    version.deletionTimestamp !== undefined && before !== undefined && before.deletionTimestamp === undefined;
  if (terminates) return 'terminating';
  const kind = versionKind(version, index === 0, incarnation.began);
  return isRenewal(incarnation.name, kind, version) ? 'renewal' : kind;
}

function writeOf(context: DetailContext, event: ObservedEvent, uid: string, token: string): WriteEvent | undefined {
  return historyOf(context, event)?.writes.findLast(
    (write) => write.result?.uid === uid && write.result.token === token,
  );
}

function actorFacts(
  { translate }: DetailContext,
  version: Version | undefined,
  write: WriteEvent | undefined,
): DetailFact[] {
  const how = write === undefined ? version?.actor && translate('by its field ownership') : howAsked(write, translate);
  return [actorFact(translate('writer'), write?.actor ?? version?.actor, how, translate)];
}

function noteDetails(context: DetailContext, event: NoteEvent): EventDetails {
  const facts: DetailFact[] = [{ label: context.translate('note'), value: event.text }];
  return finished(context, event, 'note', context.translate('Note'), '', facts, [], undefined);
}

function finished(
  context: DetailContext,
  event: ObservedEvent | WriteEvent | NoteEvent,
  kind: MarkKind,
  title: string,
  uid: string,
  facts: readonly DetailFact[],
  sections: readonly DetailSection[],
  diff: EventDetails['diff'],
): EventDetails {
  return context.finish({ event, kind, title, uid, facts, sections, diff, related: [] });
}
