import type { Incarnation, Version } from '../history.ts';
import type { ReadEvent } from '../traceEvent.ts';
import { actorFact, badgeOf, howAsked, incarnationFact, incarnationOf, type DetailContext } from './detailParts.ts';
import type { DetailEntry, DetailFact, EventDetails, ObjectRef } from './detailTypes.ts';
import { progressEntries } from './detailWrite.ts';

type Given = ReadEvent['given'][number];

const MAX_OBJECTS = 12;

/** The details of a read: who, how, and of the object that is looked at which version it was given, and whether that was the newest. */
export function readDetails(
  context: DetailContext,
  event: ReadEvent,
  of: Pick<ObjectRef, 'namespace' | 'name'> | undefined,
): EventDetails {
  const { translate } = context;
  const { given } = event;
  const one =
    of === undefined
      ? given.length === 1
        ? given[0]
        : undefined
      : given.find(({ namespace, name }) => namespace === of.namespace && name === of.name);
  const facts: DetailFact[] = [
    actorFact(translate('reader'), event.actor, howAsked({ ...event.scope, verb: event.verb }, translate), translate),
    {
      label: translate('cache'),
      value: event.cacheAllowed ? translate('a cache was allowed to answer') : translate('the newest was asked for'),
    },
  ];
  if (one !== undefined) return givenDetails(context, event, one, facts);
  if (given.length === 0) {
    const nothing = event.code === 404 ? translate('it was not there') : translate('no object');
    const value = event.code === undefined ? nothing : `${nothing} (${event.code})`;
    facts.push({ label: translate('was given'), value, tone: 'muted' });
  }
  const entries = given.slice(0, MAX_OBJECTS).map((item) => listEntry(context, event, item));
  const more = given.length - entries.length;
  if (more > 0) entries.push({ lines: [translate('… and {0} more', more)] });
  const sections = entries.length === 0 ? [] : [{ title: translate('What it was given'), entries }];
  return context.finish({
    event,
    kind: 'note',
    title: translate('Read'),
    uid: '',
    facts,
    sections,
    diff: undefined,
    related: [],
  });
}

/** The read of one object. */
function givenDetails(context: DetailContext, event: ReadEvent, given: Given, facts: DetailFact[]): EventDetails {
  const { translate } = context;
  const { cluster } = event;
  const { uid, token } = given;
  const name = {
    group: event.scope.group,
    resource: event.scope.resource,
    namespace: given.namespace,
    name: given.name,
  };
  const incarnation = incarnationOf(context, cluster, uid);
  const { version, newest, newer } = placeOf(incarnation, event, token);
  facts.push({
    label: translate('was given'),
    badge: badgeOf(incarnation, token),
    ...freshness(context, event, given),
  });
  if (newest !== undefined && newer.length > 0)
    facts.push({ label: translate('newest was'), badge: badgeOf(incarnation, newest.token) });
  facts.push(incarnationFact(context, cluster, name, uid));
  const missed = progressEntries(newer, incarnation, translate);
  const ref = { cluster, ...name, uid };
  return context.finish({
    event,
    object: ref,
    kind: 'note',
    title: translate('Read'),
    uid,
    facts,
    sections: missed.length === 0 ? [] : [{ title: translate('What it did not see'), entries: missed }],
    diff:
      version === undefined || newest === undefined || newer.length === 0
        ? undefined
        : { object: ref, before: { uid, token }, after: { uid, token: newest.token } },
    related: [
      ...(version === undefined ? [] : [{ label: translate('the version that was read'), event: version.event }]),
      ...(newest === undefined || newer.length === 0
        ? []
        : [{ label: translate('the newest version then'), event: newest.event }]),
    ],
  });
}

/** Whether what was given was the newest that was known then. */
function freshness(context: DetailContext, event: ReadEvent, given: Given): Pick<DetailFact, 'remark' | 'tone'> {
  const { translate } = context;
  if (given.deleted === true) return { remark: translate('its deletion'), tone: 'muted' };
  const incarnation = incarnationOf(context, event.cluster, given.uid);
  const end = incarnation?.end;
  if (end !== undefined && end.seq < event.seq) return { remark: translate('it was gone already'), tone: 'different' };
  const { version, newer } = placeOf(incarnation, event, given.token);
  if (version === undefined) return { remark: translate('this version was not seen otherwise'), tone: 'muted' };
  if (!version.placed) return { remark: translate('its place is not known yet'), tone: 'muted' };
  if (newer.length === 0) return { remark: translate('the newest that was known then'), tone: 'same' };
  return {
    remark:
      newer.length === 1
        ? translate('not the newest: 1 newer version was known then')
        : translate('not the newest: {0} newer versions were known then', newer.length),
    tone: 'different',
  };
}

/** Where a version stands among those that had been seen when it was given. */
function placeOf(
  incarnation: Incarnation | undefined,
  event: ReadEvent,
  token: string,
): { readonly version?: Version; readonly newest?: Version; readonly newer: readonly Version[] } {
  const versions = incarnation?.versions ?? [];
  const at = versions.findLastIndex((version) => version.token === token);
  const version = versions[at];
  if (version?.placed !== true) return version === undefined ? { newer: [] } : { version, newer: [] };
  const newer = versions.slice(at + 1).filter(({ placed, event: seen }) => placed && seen < event.seq);
  return { version, newest: newer.at(-1) ?? version, newer };
}

function listEntry(context: DetailContext, event: ReadEvent, given: Given): DetailEntry {
  const { remark, tone } = freshness(context, event, given);
  const badge = badgeOf(incarnationOf(context, event.cluster, given.uid), given.token);
  const name = `${given.namespace === '' ? '' : `${given.namespace}/`}${given.name}`;
  return {
    actor: name,
    how: badge.code,
    lines: remark === undefined ? [] : [remark],
    ...(tone === 'different' ? { tone: 'bad' } : { tone: 'muted' }),
  };
}
