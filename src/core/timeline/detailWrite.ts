import type { Incarnation, Version } from '../history.ts';
import type { WriteEvent } from '../traceEvent.ts';
import { actorName } from './classify.ts';
import { bounded, changeLines } from './detailChanges.ts';
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
import type { DetailEntry, DetailFact, DetailSection, EventDetails } from './detailTypes.ts';
import type { MarkKind } from './model.ts';
import type { Translate } from './translate.ts';

const TITLES: Readonly<Partial<Record<MarkKind, string>>> = {
  conflict: 'Conflict',
  'uid-mismatch': 'Another incarnation',
  'field-conflict': 'Field conflict',
  uncertain: 'Answer lost',
  refused: 'Refused',
};

/** The details of a write that was refused, or whose answer was lost. */
export function refusedDetails(context: DetailContext, event: WriteEvent, kind: MarkKind): EventDetails {
  const { translate } = context;
  const uid = event.basedOn?.uid ?? event.preconditions?.uid ?? latestUid(context, event);
  const incarnation = incarnationOf(context, event.cluster, uid);
  const token = event.basedOn?.token ?? event.preconditions?.token;
  const read = incarnation?.versions.find((version) => version.token === token);
  const current = currentAt(incarnation, event);
  const facts: DetailFact[] = [...requestFacts(context, event)];
  if (token !== undefined) {
    const remark = baseRemark(event, translate);
    facts.push({ label: translate('read version'), badge: badgeOf(incarnation, token), remark, tone: 'plain' });
  }
  if (token !== undefined && current !== undefined) facts.push(currentFact(incarnation, token, current, translate));
  facts.push(uidFact(context, event, uid));
  const between = read === undefined || incarnation === undefined ? [] : versionsAfter(incarnation, read, current);
  const progress = between.length > 0 ? progressEntries(between, incarnation, translate) : winners(event, translate);
  const sections: DetailSection[] = [];
  if (progress.length > 0) sections.push({ title: translate('Who made progress'), entries: progress });
  if (kind === 'conflict') sections.push(...overlapSection(event, between, translate));
  if (kind === 'field-conflict') sections.push(...causeSection(event, translate));
  else if (event.message !== undefined)
    sections.push({ title: translate('The server said'), entries: [{ lines: [event.message] }] });
  const settled = settledEntry(context, event);
  if (settled !== undefined) sections.push({ title: translate('What came of it'), entries: [settled] });
  const diff =
    read === undefined || current === undefined || read === current
      ? undefined
      : { object: objectRef(event, uid), before: { uid, token: read.token }, after: { uid, token: current.token } };
  const code = event.code === undefined ? '' : ` (${event.code})`;
  const title = event.outcome === 'accepted' ? translate('Accepted') : translate(TITLES[kind] ?? 'Refused');
  const related = [
    ...(read === undefined ? [] : [{ label: translate('the version that was read'), event: read.event }]),
    ...(between[0] === undefined ? [] : [{ label: translate('the write that won'), event: between[0].event }]),
  ];
  return context.finish({ event, kind, title: `${title}${code}`, uid, facts, sections, diff, related });
}

/** How the version that a write was based on is known, and how sure that is. */
function baseRemark({ basedOn, via }: WriteEvent, translate: Translate): string {
  switch (basedOn?.known) {
    case 'content':
      return translate('most likely: its content is nearest to it');
    case 'given':
      if (via === 'write') return translate('as the writer itself noted');
      return translate('most likely: the last that its client was given');
    case 'token':
    case undefined:
      return translate('as its token says');
  }
}

function latestUid(context: DetailContext, event: WriteEvent): string {
  return historyOf(context, event)?.incarnations.at(-1)?.uid ?? '';
}

function requestFacts({ translate }: DetailContext, event: WriteEvent): DetailFact[] {
  const facts = [actorFact(translate('writer'), event.actor, howAsked(event, translate), translate)];
  if (event.attempt !== undefined) facts.push({ label: translate('attempt'), value: String(event.attempt) });
  if (event.reason !== undefined) facts.push({ label: translate('reason'), value: event.reason });
  return facts;
}

/** The version that was current when the write was refused: the newest that had been seen by then, or that came right after. */
function currentAt(incarnation: Incarnation | undefined, event: WriteEvent): Version | undefined {
  if (incarnation === undefined) return undefined;
  const placed = incarnation.versions.filter((version) => version.placed);
  const seen = placed.findLast((version) => version.event < event.seq);
  const token = event.basedOn?.token ?? event.preconditions?.token;
  if (seen !== undefined && seen.token !== token) return seen;
  const after = placed.findIndex((version) => version.token === token);
  return after < 0 ? seen : (placed[after + 1] ?? seen);
}

function currentFact(
  incarnation: Incarnation | undefined,
  token: string,
  current: Version,
  translate: Translate,
): DetailFact {
  const same = current.token === token;
  return {
    label: translate('current was'),
    badge: badgeOf(incarnation, current.token),
    remark: same ? translate('the same') : translate('not the same'),
    tone: same ? 'same' : 'different',
  };
}

function uidFact(context: DetailContext, event: WriteEvent, uid: string): DetailFact {
  const { translate } = context;
  const fact = incarnationFact(context, event.cluster, event.name, uid);
  const newest = latestUid(context, event);
  if (event.outcome === 'uid-mismatch') return { ...fact, remark: translate('another incarnation'), tone: 'different' };
  if (uid !== '' && uid === newest) return { ...fact, remark: translate('same incarnation'), tone: 'same' };
  return fact;
}

function versionsAfter(incarnation: Incarnation, read: Version, current: Version | undefined): Version[] {
  const from = incarnation.versions.indexOf(read);
  const to = current === undefined ? from : incarnation.versions.indexOf(current);
  return incarnation.versions.slice(from + 1, to + 1).filter((version) => version.placed);
}

function winners(event: WriteEvent, translate: Translate): DetailEntry[] {
  return (event.wonBy ?? []).map((winner) => ({
    actor: winner.manager,
    how: `${winner.operation}${winner.subresource === undefined ? '' : ` /${winner.subresource}`}`,
    lines: bounded(winner.fields, translate),
  }));
}

/** Who made each of some versions, and what changed in it. */
export function progressEntries(
  between: readonly Version[],
  incarnation: Incarnation | undefined,
  translate: Translate,
): DetailEntry[] {
  return between.slice(0, 6).map((version) => {
    const before = incarnation?.versions[incarnation.versions.indexOf(version) - 1];
    const lines = changeLines(version, before);
    return {
      actor: actorName(version.actor) || translate('not known'),
      lines: lines === undefined ? [translate('what changed is not known')] : bounded(lines, translate),
      ...(version.changed?.spec === false && version.changed.status ? { how: '/status' } : {}),
    };
  });
}

/** Whether what the write wanted to change is what others changed meanwhile. Unknown stays unknown. */
function overlapSection(event: WriteEvent, between: readonly Version[], translate: Translate): DetailSection[] {
  const wanted = event.paths;
  const title = translate('Overlap with this write');
  if (wanted === undefined || wanted.length === 0 || between.length === 0) return [];
  if (between.some((version) => version.changed === undefined)) {
    return [{ title, entries: [{ lines: [translate('not known')], tone: 'muted' }] }];
  }
  const changed = between.flatMap((version) => version.changed?.paths ?? []);
  const both = wanted.filter((path) => changed.some((other) => touches(path, other)));
  if (both.length > 0) return [{ title, entries: [{ lines: bounded(both, translate), tone: 'bad' }] }];
  const untouched = wanted.slice(0, 3).join(', ');
  return [{ title, entries: [{ lines: [translate('none: {0} is untouched', untouched)], tone: 'good' }] }];
}

/** Whether one path lies within the other. */
function touches(a: string, b: string): boolean {
  const within = (inner: string, outer: string): boolean =>
    inner === outer || (inner.startsWith(outer) && (inner[outer.length] === '.' || inner[outer.length] === '['));
  return within(a, b) || within(b, a);
}

function causeSection(event: WriteEvent, translate: Translate): DetailSection[] {
  const entries = (event.causes ?? []).slice(0, 8).map((cause) => ({
    lines: [cause.field, cause.message].filter((part) => part !== undefined),
  }));
  return entries.length === 0 ? [] : [{ title: translate('Whose fields these are'), entries }];
}

/** What the later attempts of the same write came to. */
function settledEntry(context: DetailContext, event: WriteEvent): DetailEntry | undefined {
  const { translate } = context;
  if (event.write === undefined) return undefined;
  const attempts = historyOf(context, event)?.writes.filter(
    (write) => write.write === event.write && write.seq > event.seq,
  );
  const last = attempts?.at(-1);
  if (last === undefined) return undefined;
  const attempt = last.attempt ?? (attempts?.length ?? 0) + 1;
  if (last.outcome === 'accepted') {
    return { lines: [translate('Refetched, recomputed, written at attempt {0}.', attempt)], tone: 'good' };
  }
  return { lines: [translate('Attempt {0} ended with {1}.', attempt, last.outcome)], tone: 'bad' };
}
