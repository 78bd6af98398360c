import type { Actor, WriteEvent } from '../traceEvent.ts';
import { actorKey, firstRead, sameActor } from './knowledge.ts';
import { isReordered } from './leaves.ts';
import type { ObjectState, VersionRecord } from './objectState.ts';
import type { World } from './world.ts';

/**
 * Whether the writer had been given any of the versions from index `from` up to (not including) `to` before it sent its write.
 * `unknown`: this log does not show all that it reads.
 */
export function wasGiven(
  write: WriteEvent,
  object: ObjectState,
  from: number,
  to: number,
  world: World,
): 'yes' | 'no' | 'unknown' {
  const actor = world.knowledge.of(write.actor);
  const tokens = actor.objects.get(object.uid)?.tokens;
  const start = write.startedAt ?? write.at;
  const claimed = [write.preconditions?.token, write.basedOn?.known === 'content' ? undefined : write.basedOn?.token];
  for (let index = from; index < to; index += 1) {
    const token = object.versions[index]?.token;
    if (token === undefined) continue;
    if (claimed.includes(token)) return 'yes';
    const given = tokens?.get(token);
    if (given !== undefined && given.at <= start && given.seq < write.seq) return 'yes';
  }
  if (actor.blindReads.has(`${object.name.group}/${object.name.resource}`)) return 'unknown';
  return actor.hasReads || (world.hasReads && write.via !== 'write') ? 'no' : 'unknown';
}

/** The tokens of an object that the writer had been given before it sent its write, the newest last. */
export function givenTokens(write: WriteEvent, object: ObjectState, world: World): string[] {
  const tokens = world.knowledge.of(write.actor).objects.get(object.uid)?.tokens;
  const start = write.startedAt ?? write.at;
  return [...(tokens ?? [])].flatMap(([token, given]) => (given.at <= start && given.seq < write.seq ? [token] : []));
}

/** Whether the writer asked for the object, and was given any of the versions from index `from` up to `to`, before it sent its write. */
export function hasAskedFor(write: WriteEvent, object: ObjectState, from: number, to: number, world: World): boolean {
  const tokens = world.knowledge.of(write.actor).objects.get(object.uid)?.tokens;
  const start = write.startedAt ?? write.at;
  return object.versions.slice(from, to).some(({ token }) => {
    const given = tokens?.get(token);
    const read = given === undefined ? undefined : firstRead(given);
    return read !== undefined && read.how !== 'watch' && read.at <= start && read.seq < write.seq;
  });
}

/** Whether the writer may have read the object before it sent its write: in answers to its writes nobody reads what to send. */
export function hasRead(write: WriteEvent, object: ObjectState, world: World): boolean {
  const actor = world.knowledge.of(write.actor);
  if (actor.blindReads.has(`${object.name.group}/${object.name.resource}`) || write.basedOn !== undefined) return true;
  return [...(actor.objects.get(object.uid)?.tokens.values() ?? [])].some((given) => firstRead(given) !== undefined);
}

/**
 * Whether a version was made by somebody other than this actor. All writes of an actor that this log knows pass through it,
 * so a version that no write of it explains is another's, unless a field manager of the same name made it.
 */
export function isForeign(version: VersionRecord, actor: Actor): boolean {
  if (version.author !== undefined) return !sameActor(version.author.actor, actor);
  if (version.manager === undefined) return true;
  return (
    version.manager !== actor.manager &&
    version.manager !== actor.agent?.split('/')[0] &&
    version.manager !== actorKey(actor)
  );
}

/** Whether a version is a replacement, by the same actor, of the same part as a write replaces: it sent back all that is in it. */
export function isReplacedBy({ author }: VersionRecord, { actor, subresource }: WriteEvent): boolean {
  return author?.verb === 'replace' && author.subresource === subresource && sameActor(author.actor, actor);
}

/**
 * The index, at most `upTo`, of the latest version that changed a path; undefined where the window does not tell. To give the
 * items of a list without keys another order, as another version of an API may, changes none of them.
 */
export function latestChange(object: ObjectState, path: string, upTo: number): number | undefined {
  for (let index = upTo; index > 0; index -= 1) {
    const after = object.versions[index]?.leaves;
    const before = object.versions[index - 1]?.leaves;
    if (after === undefined || before === undefined) return undefined;
    if (after.get(path) !== before.get(path) && !isReordered(before, after, path)) return index;
  }
  return undefined;
}

/** The index of the latest version that changed a path, as `latestChange` has it, where another actor made that version. */
export function foreignChange(object: ObjectState, path: string, upTo: number, actor: Actor): number | undefined {
  const at = latestChange(object, path, upTo);
  const by = at === undefined ? undefined : object.versions[at];
  return by !== undefined && isForeign(by, actor) ? at : undefined;
}
