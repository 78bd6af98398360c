import type { Json } from '../codec/json.ts';
import type { Finding } from '../core/findings/finding.ts';
import { actorName } from '../core/findings/knowledge.ts';
import type { Mark } from '../core/findings/report/mark.ts';
import { nameText, objectText } from '../core/findings/report/report.ts';
import { unambiguousManager } from '../core/managerChange.ts';
import { askedKind, writeKind } from '../core/timeline/classify.ts';
import type { Actor, ObjectName, ObservedEvent, Token, TraceEvent, WriteEvent } from '../core/traceEvent.ts';
import { keepLast } from '../core/keepLast.ts';

/** So many events are kept for one report. */
const MAX_MARKS = 20_000;
const MAX_OWNERS = 500;

/** An event that may be shown; how, is worked out only for those that are, and its contents are not held meanwhile. */
interface Kept {
  readonly seq: number;
  readonly name: ObjectName;
  readonly mark: () => Mark;
}

/**
 * Keeps what a report shows of events, bounded: what is about objects with findings, or proves one, stays; of the rest the
 * latest, as long as findings may come.
 */
export class Marks {
  private kept: Kept[] = [];
  private readonly max: number;
  private readonly findings: () => readonly Finding[];
  /** By stream and UID, the managed fields that were seen last, of the objects that changed last. */
  private readonly owners = new Map<string, readonly Json[] | undefined>();

  constructor(findings: () => readonly Finding[], max = MAX_MARKS) {
    this.max = max;
    this.findings = findings;
  }

  add(event: TraceEvent): void {
    const kept = event.type === 'observed' ? seen(event, this.writerOf(event)) : keptOf(event);
    if (kept === undefined) return;
    this.kept.push(kept);
    if (this.kept.length > 2 * this.max) this.kept = this.bounded();
  }

  /** What the report shows, now that all findings are there. */
  all(): Mark[] {
    return this.bounded(0).map(({ mark }) => mark());
  }

  /** The field manager that made a version of the one that its stream had shown before, where that tells. */
  private writerOf({ stream, uid, managedFields }: ObservedEvent): string | undefined {
    if (stream === undefined) return undefined;
    const key = `${stream}\0${uid}`;
    const before = this.owners.get(key);
    keepLast(this.owners, key, managedFields, MAX_OWNERS);
    return before === undefined ? undefined : unambiguousManager(before, managedFields);
  }

  private bounded(recent = this.max / 2): Kept[] {
    const findings = this.findings();
    const found = new Set(findings.map(objectText));
    const proof = new Set(findings.flatMap((finding) => finding.events));
    const from = this.kept.length - recent;
    return this.kept
      .filter(({ seq, name }, at) => found.has(nameText(name)) || proof.has(seq) || at >= from)
      .slice(-this.max);
  }
}

/** The marks of the shards of one analysis, in the order of its log, as many as one analysis keeps. */
export function mergeMarks(shards: readonly (readonly Mark[])[]): Mark[] {
  const marks = new Map(shards.flat().map((mark) => [JSON.stringify([mark.seq, mark.kind, mark.object]), mark]));
  return [...marks.values()].sort((a, b) => a.seq - b.seq).slice(-MAX_MARKS);
}

/** How a report shows an event: a write, or what a read gave of one object. */
function keptOf(event: TraceEvent): Kept | undefined {
  if (event.type === 'write') return written(event);
  const item = event.type === 'read' && event.given.length === 1 ? event.given[0] : undefined;
  if (event.type !== 'read' || item === undefined) return undefined;
  const { seq, at, actor, verb } = event;
  const { uid, token } = item;
  const name = { ...event.scope, namespace: item.namespace, name: item.name };
  return {
    seq,
    name,
    mark: () => markOf({ seq, at, actor }, name, uid, 'read', tokenPart(`${verb}: was given `, token)),
  };
}

function written(event: WriteEvent): Kept {
  const { seq, at, name, actor, verb, subresource, outcome } = event;
  const isAccepted = outcome === 'accepted' || outcome === 'unchanged';
  const how = event.force === true ? ' force' : '';
  const uid = event.result?.uid ?? event.preconditions?.uid ?? event.basedOn?.uid ?? '';
  const token = event.result?.token;
  const asked = event.preconditions?.token;
  const basedOn = asked ?? event.basedOn?.token;
  const drawn = isAccepted ? askedKind(event) : writeKind(event);
  const mark = (): Mark => {
    const text = [
      `${verb}${subresource === undefined ? '' : ` ${subresource}`}${how}`,
      ...tokenPart(' of version ', asked),
      `: ${outcome}`,
      ...tokenPart(', now ', token),
    ];
    return {
      ...markOf({ seq, at, actor }, name, uid, isAccepted ? 'accepted' : 'refused', text),
      ...(drawn === undefined ? {} : { drawn }),
      ...(basedOn === undefined ? {} : { basedOn }),
      ...(token === undefined ? {} : { token }),
    };
  };
  return { seq, name, mark };
}

function seen({ seq, at, via, name, uid, token }: ObservedEvent, writer: string | undefined): Kept {
  const mark = (): Mark => {
    const by = writer === undefined ? [] : [`, which ${writer} wrote`];
    return {
      ...markOf({ seq, at, actor: via }, name, uid, 'read', [...tokenPart('showed version ', token), ...by]),
      token,
      ...(writer === undefined ? {} : { writer }),
    };
  };
  return { seq, name, mark };
}

function tokenPart(before: string, token: Token | undefined): Mark['text'] {
  return token === undefined || token === '' ? [] : [before, { token }];
}

function markOf(
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
