import { message } from '../../../base/message.ts';
import { stateOf } from '../../associations.ts';
import { nameKey } from '../../history.ts';
import type { AbsentEvent, NoteEvent, ObjectName, ObservedEvent, TraceEvent } from '../../traceEvent.ts';
import type { Told } from '../findingStore.ts';
import type { ObjectState } from '../objectState.ts';
import type { Rule } from '../rule.ts';
import { findingObject, type World } from '../world.ts';

interface Declared {
  readonly cluster: string;
  readonly name: ObjectName;
  readonly what: string;
  readonly id: string;
  readonly uid: string;
  readonly seq: number;
  /** The finding that was told of it. */
  told?: Told;
}

const MAX_DECLARED = 10_000;

/**
 * `stale-reference`, kind `association`: something outside of the cluster was declared, by a note of the log, to belong to an
 * incarnation that is gone. It holds until a later note says that the thing is cleaned up, or belongs to another incarnation.
 */
export class AssociationRule implements Rule {
  private readonly declared = new Map<string, Declared>();
  private readonly atName = new Map<string, Set<string>>();

  note(event: NoteEvent, world: World): void {
    const { association, name, cluster, seq } = event;
    if (association === undefined || name === undefined) return;
    const { what, id, uid, ended } = association;
    const key = JSON.stringify([cluster, what, id]);
    const before = this.declared.get(key);
    if (before !== undefined) {
      if (ended !== true && before.uid === uid) return;
      this.forget(key, before, world);
    }
    if (ended === true || this.declared.size >= MAX_DECLARED) return;
    this.declared.set(key, { cluster, name, what, id, uid, seq });
    const place = nameKey(cluster, name);
    this.atName.set(place, (this.atName.get(place) ?? new Set<string>()).add(key));
    const holder = world.current(cluster, name);
    if (holder !== undefined) this.look(place, holder, holder.gone !== undefined, event, world);
  }

  observed(event: ObservedEvent, object: ObjectState, _version: unknown, world: World): void {
    if (this.atName.size === 0) return;
    const place = nameKey(event.cluster, event.name);
    if (this.atName.has(place) && world.current(event.cluster, event.name) === object && object.gone === undefined)
      this.look(place, object, false, event, world);
  }

  recreated(_before: ObjectState, after: ObjectState, event: TraceEvent, world: World): void {
    this.look(nameKey(after.cluster, after.name), after, false, event, world);
  }

  absent(event: AbsentEvent, world: World): void {
    if (this.atName.size === 0) return;
    const holder = world.current(event.cluster, event.name);
    if (holder === undefined || (event.uid !== undefined && event.uid !== holder.uid)) return;
    this.look(nameKey(event.cluster, event.name), holder, true, event, world);
  }

  /** Compares what was declared at a name with who holds it now. */
  private look(place: string, holder: ObjectState, gone: boolean, event: TraceEvent, world: World): void {
    for (const key of this.atName.get(place) ?? []) {
      const one = this.declared.get(key);
      if (one === undefined) continue;
      const state = stateOf(one, gone ? null : holder.uid);
      const found = state === 'holds' ? undefined : ['stale-reference', key, one.uid, state].join('\0');
      if (found === one.told?.key && (found === undefined || one.told?.uid === holder.uid)) continue;
      if (one.told !== undefined) world.retract(one.told);
      if (found === undefined) delete one.told;
      else {
        one.told = { key: found, uid: holder.uid };
        report(found, one, state === 'stale', holder, event, world);
      }
    }
  }

  private forget(key: string, one: Declared, world: World): void {
    if (one.told !== undefined) world.retract(one.told);
    this.declared.delete(key);
    const place = nameKey(one.cluster, one.name);
    this.atName.get(place)?.delete(key);
    if (this.atName.get(place)?.size === 0) this.atName.delete(place);
  }
}

function report(
  key: string,
  { cluster, name, uid, what, id, seq }: Declared,
  stale: boolean,
  holder: ObjectState,
  event: TraceEvent,
  world: World,
): void {
  const title = `${name.resource} ${name.namespace === '' ? '' : `${name.namespace}/`}${name.name}`;
  world.report({
    key,
    id: 'stale-reference',
    kind: 'association',
    cluster,
    object: findingObject(holder),
    actors: [],
    fields: [],
    at: event.at,
    events: [...new Set([seq, event.seq])],
    explanation: stale
      ? message`${what} ${id} was declared to belong to ${title} with UID ${uid}. That incarnation is gone, and another, ${holder.uid}, holds the name: nobody has said that it belongs to this one.`
      : message`${what} ${id} was declared to belong to ${title} with UID ${uid}, which is gone, and nothing has its name.`,
    remedy: message`Clean up what is out there and say so, or say that the new incarnation adopts it. Until then it belongs to an object that is gone.`,
    details: { what, externalId: id, declaredUid: uid },
  });
}
