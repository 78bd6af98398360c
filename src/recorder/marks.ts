import type { Json } from '../codec/json.ts';
import type { Finding } from '../core/findings/finding.ts';
import { actorName } from '../core/findings/knowledge.ts';
import type { Mark } from '../core/findings/report/mark.ts';
import { nameText, objectText } from '../core/findings/report/report.ts';
import { unambiguousManager } from '../core/managerChange.ts';
import { askedKind, writeKind } from '../core/timeline/classify.ts';
import type { Actor, ObjectName, ObservedEvent, Token, TraceEvent } from '../core/traceEvent.ts';
import { keepLast } from '../core/keepLast.ts';

/** So many events are kept for one report. */
const MAX_MARKS = 20_000;
const MAX_OWNERS = 500;

/**
 * Keeps what a report shows of events, bounded: what is about objects with findings, or proves one, stays; of the rest the
 * latest, as long as findings may come.
 */
export class Marks {
  private marks: Mark[] = [];
  private readonly max: number;
  private readonly findings: () => readonly Finding[];
  /** By stream and UID, the managed fields that were seen last, of the objects that changed last. */
  private readonly owners = new Map<string, readonly Json[] | undefined>();

  constructor(findings: () => readonly Finding[], max = MAX_MARKS) {
    this.max = max;
    this.findings = findings;
  }

  add(event: TraceEvent): void {
    this.marks.push(...(event.type === 'observed' ? [seenMark(event, this.writerOf(event))] : marksOf(event)));
    if (this.marks.length > 2 * this.max) this.marks = this.bounded();
  }

  /** What the report shows, now that all findings are there. */
  all(): Mark[] {
    return this.bounded(0);
  }

  /** The field manager that made a version of the one that its stream had shown before, where that tells. */
  private writerOf({ stream, uid, managedFields }: ObservedEvent): string | undefined {
    if (stream === undefined) return undefined;
    const key = `${stream}\0${uid}`;
    const before = this.owners.get(key);
    keepLast(this.owners, key, managedFields, MAX_OWNERS);
    return before === undefined ? undefined : unambiguousManager(before, managedFields);
  }

  private bounded(recent = this.max / 2): Mark[] {
    const findings = this.findings();
    const found = new Set(findings.map(objectText));
    const proof = new Set(findings.flatMap((finding) => finding.events));
    const from = this.marks.length - recent;
    return this.marks
      .filter((item, at) => found.has(item.object) || proof.has(item.seq) || at >= from)
      .slice(-this.max);
  }
}

/** The marks of the shards of one analysis, in the order of its log, as many as one analysis keeps. */
export function mergeMarks(shards: readonly (readonly Mark[])[]): Mark[] {
  const marks = new Map(shards.flat().map((mark) => [JSON.stringify([mark.seq, mark.kind, mark.object]), mark]));
  return [...marks.values()].sort((a, b) => a.seq - b.seq).slice(-MAX_MARKS);
}

/** How a report shows an event: a write, or what a read gave of one object. */
function marksOf(event: TraceEvent): Mark[] {
  if (event.type === 'write') {
    const accepted = event.outcome === 'accepted' || event.outcome === 'unchanged';
    const { verb, subresource, preconditions, result, outcome } = event;
    const how = [verb, ...(subresource === undefined ? [] : [subresource]), ...(event.force === true ? ['force'] : [])];
    const text = [
      how.join(' '),
      ...tokenPart(' of version ', preconditions?.token),
      `: ${outcome}`,
      ...tokenPart(', now ', result?.token),
    ];
    const uid = result?.uid ?? preconditions?.uid ?? event.basedOn?.uid ?? '';
    const drawn = accepted ? askedKind(event) : writeKind(event);
    const basedOn = preconditions?.token ?? event.basedOn?.token;
    return [
      {
        ...mark(event, event.name, uid, accepted ? 'accepted' : 'refused', text),
        ...(drawn === undefined ? {} : { drawn }),
        ...(basedOn === undefined ? {} : { basedOn }),
        ...(result === undefined ? {} : { token: result.token }),
      },
    ];
  }
  if (event.type !== 'read' || event.given.length !== 1) return [];
  return event.given.map((item) =>
    mark(event, { ...event.scope, namespace: item.namespace, name: item.name }, item.uid, 'read', [
      ...tokenPart(`${event.verb}: was given `, item.token),
    ]),
  );
}

function seenMark(event: ObservedEvent, writer: string | undefined): Mark {
  const text = [
    ...tokenPart('showed version ', event.token),
    ...(writer === undefined ? [] : [`, which ${writer} wrote`]),
  ];
  return {
    ...mark({ ...event, actor: event.via }, event.name, event.uid, 'read', text),
    token: event.token,
    ...(writer === undefined ? {} : { writer }),
  };
}

function tokenPart(before: string, token: Token | undefined): Mark['text'] {
  return token === undefined || token === '' ? [] : [before, { token }];
}

function mark(
  event: { seq: number; at: number; actor: Actor | string },
  name: ObjectName,
  uid: string,
  kind: Mark['kind'],
  text: Mark['text'],
): Mark {
  return {
    seq: event.seq,
    at: event.at,
    object: nameText(name),
    uid,
    actor: typeof event.actor === 'string' ? event.actor : actorName(event.actor),
    kind,
    text,
  };
}
