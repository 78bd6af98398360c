import { message, type Message } from '../../../base/message.ts';
import { isJsonObject } from '../../../codec/json.ts';
import { nameKey } from '../../history.ts';
import type { TraceEvent, WriteEvent } from '../../traceEvent.ts';
import { actorKey, actorName, writerKey } from '../knowledge.ts';
import { leavesOf } from '../leaves.ts';
import type { ObjectState } from '../objectState.ts';
import type { Rule } from '../rule.ts';
import { findingObject, type World } from '../world.ts';

const REMEDY = message`Key what you remember by UID, not by name; send the UID (a PUT that carries it, a delete with preconditions.uid), and check that the object that you act for still has the UID that you saw.`;
const LABELLED_PARENTS = 8;

/**
 * `recreated`, and `stale-incarnation-write`: an actor acts on the new incarnation, or on what belongs to it, by what it knew
 * of the old one. Kinds: `overwrite` (a write that names no UID lands on another incarnation than the last one its sender was
 * given), `delete` (the same by a delete, or a delete of what belongs to the new one), `value` (a value of the old one is
 * carried into the new one).
 */
export class IncarnationRule implements Rule {
  recreated(before: ObjectState, after: ObjectState, event: TraceEvent, world: World): void {
    const seen = before.gone !== undefined && before.gone.seq !== event.seq;
    world.report({
      key: ['recreated', after.cluster].join('\0'),
      id: 'recreated',
      cluster: after.cluster,
      object: findingObject(after),
      actors: event.type === 'write' ? [actorName(event.actor)] : [],
      fields: [],
      at: event.at,
      events: [
        before.latest?.seq ?? before.firstSeq,
        ...(seen && before.gone !== undefined ? [before.gone.seq] : []),
        event.seq,
      ],
      explanation: message`The name ${after.name.name} belongs to another object now: ${before.uid} is gone${seen ? '' : message` (its end was not seen)`}, ${after.uid} took its name.`,
      remedy: message`Whatever is kept by name (external resources, caches, history) belongs to the old object; check it by UID.`,
      details: { before: before.uid, after: after.uid },
    });
  }

  write(event: WriteEvent, world: World): void {
    const stored = event.outcome === 'accepted' || event.outcome === 'unchanged';
    if (!stored || event.dryRun === true || event.verb === 'create' || actorKey(event.actor) === '') return;
    const target = world.target(event);
    const answered = event.result?.uid === '' ? undefined : event.result?.uid;
    const uid = answered ?? target?.uid;
    if (uid === undefined) return;
    const known = world.knowledge.of(event.actor).names.get(nameKey(event.cluster, event.name));
    const named = event.preconditions?.uid !== undefined && event.preconditions.uid !== '';
    const checked = event.preconditions?.token !== undefined && event.preconditions.token !== '';
    if (
      known !== undefined &&
      known.uid !== uid &&
      !named &&
      !checked &&
      event.verb !== 'apply' &&
      this.isOlder(known, uid, event, world)
    ) {
      this.report(event, event.verb === 'delete' ? 'delete' : 'overwrite', world, {
        known: known.uid,
        live: uid,
        seq: known.seq,
        text: message`was last given the incarnation ${known.uid} of ${event.name.name}; its ${event.verb} named no UID and hit the incarnation ${uid}`,
      });
      return;
    }
    if (target === undefined || target.uid !== uid) return;
    this.checkParents(event, target, world);
    if (event.verb === 'replace' || event.verb === 'patch' || event.verb === 'apply')
      this.checkValues(event, target, world);
  }

  /** Whether the incarnation that was given came before the one that was hit; what is hit now is alive now. */
  private isOlder(given: { uid: string; seq: number }, uid: string, event: WriteEvent, world: World): boolean {
    const state = world.nameState(event.cluster, event.name);
    const known = state?.past.lastIndexOf(given.uid) ?? -1;
    if (state === undefined || (known < 0 && state.current !== given.uid))
      return given.seq < (world.object(event.cluster, uid)?.firstSeq ?? event.seq);
    if (state.current === given.uid) return world.object(event.cluster, uid) === undefined;
    const hit = state.current === uid ? state.past.length : state.past.lastIndexOf(uid);
    return known >= 0 && hit > known;
  }

  /** The parent that the target belongs to was replaced, and the actor knows only the one before. */
  private checkParents(event: WriteEvent, target: ObjectState, world: World): void {
    if (event.verb !== 'delete' && event.verb !== 'replace' && event.verb !== 'patch') return;
    for (const parent of this.parentsOf(target, world)) {
      const known = world.knowledge.of(event.actor).names.get(nameKey(parent.cluster, parent.name));
      if (known === undefined || known.uid === parent.uid || parent.gone !== undefined) continue;
      const state = world.nameState(parent.cluster, parent.name);
      if (state === undefined || !state.past.includes(known.uid)) continue;
      const afterwards = known.seq > parent.firstSeq || known.ending;
      if (!afterwards && event.verb !== 'delete') continue;
      this.report(event, event.verb === 'delete' ? 'delete' : 'overwrite', world, {
        known: known.uid,
        live: parent.uid,
        seq: known.seq,
        text: message`acted on ${event.name.name}, which belongs to ${parent.name.name} (${parent.uid}), by what it knew of the incarnation ${known.uid} of that name, which is gone`,
        parent,
      });
      return;
    }
  }

  /** Owners by UID; else the recreated objects of the namespace whose name is a label's value, for targets as young as they. */
  private parentsOf(target: ObjectState, world: World): ObjectState[] {
    const owners = target.owners.flatMap((owner) => world.object(target.cluster, owner.uid) ?? []);
    if (owners.length > 0) return owners;
    return Object.values(target.labels)
      .slice(0, LABELLED_PARENTS)
      .flatMap((value) => world.recreatedNamed(target.cluster, target.name.namespace, value))
      .filter(
        (parent) =>
          parent.uid !== target.uid &&
          target.creationTimestamp !== undefined &&
          parent.creationTimestamp !== undefined &&
          target.creationTimestamp >= parent.creationTimestamp,
      );
  }

  /** A value that only the old incarnation can have brought: its generation, or an identifier or time of it. */
  private checkValues(event: WriteEvent, target: ObjectState, world: World): void {
    if (!isJsonObject(event.body)) return;
    const state = world.nameState(event.cluster, event.name);
    const old = state?.past.flatMap((uid) => world.object(event.cluster, uid) ?? []).at(-1);
    if (old === undefined || state?.current !== target.uid || old.uid === target.uid) return;
    const before = old.versions.findLast((version) => version.leaves !== undefined);
    // The recorder's own watch may have shown what was written before its answer came.
    const now = target.versions.findLast(
      (version) => version.leaves !== undefined && version.token !== event.result?.token,
    );
    if (before?.leaves === undefined) return;
    const status = event.body['status'];
    const observed = isJsonObject(status) ? status['observedGeneration'] : undefined;
    const generation = target.latest?.generation;
    const ahead =
      typeof observed === 'number' &&
      generation !== undefined &&
      observed > generation &&
      observed === before.generation;
    const carried = [...leavesOf(event.body)].filter(
      ([path, value]) =>
        value === before.leaves?.get(path) &&
        now?.leaves?.get(path) !== value &&
        isTelling(path, value, target.creationTimestamp),
    );
    const fields = [...(ahead ? ['.status.observedGeneration'] : []), ...carried.map(([path]) => path)];
    if (fields.length === 0) return;
    this.report(event, 'value', world, {
      known: old.uid,
      live: target.uid,
      seq: before.seq,
      fields,
      text: message`wrote values of the incarnation ${old.uid}, which is gone, into ${target.uid}: ${fields.join(', ')}`,
    });
  }

  private report(
    event: WriteEvent,
    kind: string,
    world: World,
    told: { known: string; live: string; seq: number; text: Message; parent?: ObjectState; fields?: string[] },
  ): void {
    const target = world.target(event);
    const who = actorName(event.actor);
    world.report({
      key: ['stale-incarnation-write', kind, writerKey(event), told.live].join('\0'),
      id: 'stale-incarnation-write',
      kind,
      cluster: event.cluster,
      object: target === undefined ? { ...event.name, uid: told.live } : findingObject(target),
      actors: [who],
      fields: told.fields ?? [],
      at: event.at,
      events: [told.seq, event.seq],
      explanation: message`${who} ${told.text}.`,
      remedy: REMEDY,
      sureness: kind === 'value' ? 'likely' : 'certain',
      details: {
        actedOn: told.known,
        live: told.live,
        ...(told.parent === undefined
          ? {}
          : { parent: `${told.parent.kind ?? told.parent.name.resource}/${told.parent.name.name}` }),
      },
    });
  }
}

/** An identifier with a digit in it under a name that says so, or a time from before the new incarnation was made. */
function isTelling(path: string, value: string, created: string | undefined): boolean {
  const text = value.startsWith('"') ? value.slice(1, -1) : '';
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text))
    return path.startsWith('.status') && created !== undefined && text.slice(0, 19) < created.slice(0, 19);
  return (
    /(id|ID|Id|uid|UID|handle|arn|ARN|serial|token|Token)$/.test(path.replaceAll(/[\]"]/g, '')) &&
    (/\d/.test(text) || value.startsWith('#'))
  );
}
