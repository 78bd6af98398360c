import type { Finding } from '../core/findings/finding.ts';
import { actorName } from '../core/findings/knowledge.ts';
import type { Mark } from '../core/findings/report/html.ts';
import { nameText, objectText } from '../core/findings/report/report.ts';
import type { Actor, ObjectName, TraceEvent } from '../core/traceEvent.ts';

/** Keeps what a report shows of events, bounded: what is about objects with findings stays, of the rest the latest. */
export class Marks {
  private marks: Mark[] = [];
  private readonly max: number;
  private readonly findings: () => readonly Finding[];

  constructor(max: number, findings: () => readonly Finding[]) {
    this.max = max;
    this.findings = findings;
  }

  add(event: TraceEvent): void {
    this.marks.push(...marksOf(event));
    if (this.marks.length > 2 * this.max) this.marks = this.bounded();
  }

  all(): Mark[] {
    return this.marks.length > this.max ? this.bounded() : this.marks;
  }

  private bounded(): Mark[] {
    const found = new Set(this.findings().map(objectText));
    const recent = this.marks.length - this.max / 2;
    return this.marks.filter((item, at) => found.has(item.object) || at >= recent).slice(-this.max);
  }
}

/** How a report shows an event: a write, or what a read gave of one object. */
function marksOf(event: TraceEvent): Mark[] {
  if (event.type === 'write') {
    const accepted = event.outcome === 'accepted' || event.outcome === 'unchanged';
    const tokens = [event.preconditions?.token, event.result?.token].map((token) =>
      token === undefined || token === '' ? '' : ` ${token}`,
    );
    const how = [
      event.verb,
      ...(event.subresource === undefined ? [] : [event.subresource]),
      ...(event.force === true ? ['force'] : []),
    ];
    const text = `${how.join(' ')}${tokens[0] === '' ? '' : ` of version${tokens[0]}`}: ${event.outcome}${tokens[1] === '' ? '' : `, now${tokens[1]}`}`;
    return [mark(event, event.name, accepted ? 'accepted' : 'refused', text)];
  }
  if (event.type === 'observed')
    return [mark({ ...event, actor: event.via }, event.name, 'read', `showed version ${event.token}`)];
  if (event.type !== 'read' || event.given.length !== 1) return [];
  return event.given.map((item) =>
    mark(
      event,
      { ...event.scope, namespace: item.namespace, name: item.name },
      'read',
      `${event.verb}: was given ${item.token}`,
    ),
  );
}

function mark(
  event: { seq: number; at: number; actor: Actor | string },
  name: ObjectName,
  kind: Mark['kind'],
  text: string,
): Mark {
  return {
    seq: event.seq,
    at: event.at,
    object: nameText(name),
    actor: typeof event.actor === 'string' ? event.actor : actorName(event.actor),
    kind,
    text,
  };
}
