import { isJsonObject } from '../../../codec/json.ts';
import type { Actor, WriteEvent } from '../../traceEvent.ts';
import {
  foreignChange,
  givenTokens,
  hasAskedFor,
  hasRead,
  isForeign,
  isReplacedBy,
  latestChange,
  wasGiven,
} from '../given.ts';
import { actionKey, actorKey, actorName, writerKey } from '../knowledge.ts';
import { changedPaths, isByPlace, isPlaced, itemIdentity, leavesOf, outermost, type Leaves } from '../leaves.ts';
import type { ObjectState } from '../objectState.ts';
import type { Rule, VersionChange } from '../rule.ts';
import { findingObject, type World } from '../world.ts';
import { isAtOrBeneath } from '../derive.ts';
import { copiedStamp, ownersStamp, sentOwners, withoutToken } from '../stamp.ts';
import { DroppedFields } from './droppedFields.ts';
import {
  explainLoss,
  indexedPaths,
  isUnconditional,
  lossKind,
  lossRemedy,
  namedPath,
  type Loss,
} from './lostUpdateKinds.ts';
import { isCounted, isSweep, keepsTime } from './putBack.ts';
import { stolenLock } from './stolenLock.ts';
import { keepLast } from '../../keepLast.ts';

interface Refused {
  readonly token: string;
  readonly body: string;
  readonly copied: string;
  readonly seq: number;
}

const MAX_REMEMBERED = 2_000;
const MAX_WANTED = 500;

/**
 * `lost-update`: an accepted write put fields back that another actor had changed after the version it was based on.
 * Told by what the writer had been given before it wrote, by a body that was just refused and came back with another token,
 * and by content that matches an older version in everything that others changed since.
 */
export class LostUpdateRule implements Rule {
  private readonly refused = new Map<string, Refused[]>();
  private readonly dropped = new DroppedFields();
  private readonly wanted = new Map<string, Map<string, string>>();

  write(event: WriteEvent): void {
    if (event.outcome !== 'version-conflict' || event.body === undefined) return;
    const key = actionKey(event);
    const token = event.preconditions?.token ?? '';
    const copied = copiedStamp(event, sentOwners(event));
    const last = { token, body: withoutToken(event.body), copied, seq: event.seq };
    keepLast(this.refused, key, [...(this.refused.get(key) ?? []), last].slice(-5), MAX_REMEMBERED);
  }

  judged(change: VersionChange, world: World): void {
    const { write, version, object } = change;
    if (write === undefined || actorKey(write.actor) === '') return;
    if (object.election) {
      const stolen = stolenLock(change, write, world);
      if (stolen !== undefined) report(stolen, change, write, world);
      return;
    }
    const previous = predecessor(change, write);
    const before = object.versions[previous]?.leaves;
    let loss: Loss | undefined;
    if (before !== undefined && version.leaves !== undefined && isReplacing(write)) {
      // A strategic patch takes one owner away by its UID, whatever the others are.
      const changed = changedPaths(before, version.leaves).filter(
        (path) => write.patchType !== 'strategic' || !path.startsWith('.metadata.ownerReferences'),
      );
      loss =
        this.repeated(change, write, previous, changed) ??
        this.unseen(change, write, previous, changed, world) ??
        this.computed(change, write, previous, changed, world) ??
        this.ignored(change, write, previous, changed, world);
      if (loss !== undefined) report(loss, change, write, world);
    }
    this.dropped.judged(change, loss !== undefined, world);
    this.remember(write, change, loss);
  }

  /**
   * The body of a refused write came back with only its token changed: all that others did since is gone. Certain. Likely, where
   * it was made anew, with a number that counts on what the refused one was based on.
   */
  private repeated(
    change: VersionChange,
    write: WriteEvent,
    previous: number,
    changed: readonly string[],
  ): Loss | undefined {
    const key = actionKey(write);
    if (write.body === undefined || !this.refused.has(key)) return undefined;
    const body = withoutToken(write.body);
    // A version may be judged when the next write of the same sender was already refused.
    const earlier = this.refused.get(key)?.filter((item) => item.seq < write.seq) ?? [];
    const refused = earlier.findLast((item) => item.body === body && item.token !== (write.preconditions?.token ?? ''));
    const later = this.refused.get(key)?.filter((item) => item.seq > write.seq) ?? [];
    if (later.length === 0) this.refused.delete(key);
    else this.refused.set(key, later);
    if (refused === undefined) return undefined;
    const from = change.object.indexOf(refused.token);
    const { version, object } = change;
    const base = object.versions[from]?.leaves;
    // Made anew of what was read after the refusal, it may want what it sets once more.
    const isAnew = refused.copied !== copiedStamp(write, version.sentOwners);
    const since = changed.filter((path) => (latestChange(object, path, previous) ?? -1) > from);
    const isOthers = (path: string): boolean => foreignChange(object, path, previous, write.actor) !== undefined;
    const lost = { previous, base: refused.token, proof: [refused.seq] };
    const paths = since.filter((path) => {
      // Two threads of one program lose each other's changes as two programs do, where they are really put back.
      if (base !== undefined && base.get(path) === version.leaves?.get(path)) return true;
      return !isAnew && isOthers(path);
    });
    if (paths.length > 0) return { how: 'repeated', paths, ...lost };
    const counted = since.filter((path) => {
      const value = version.leaves?.get(path);
      return isOthers(path) && isCounted(base?.get(path), value) && !this.isWanted(write, object, path, value ?? '');
    });
    return counted.length === 0 ? undefined : { how: 'counted', paths: counted, ...lost };
  }

  /** The writer had never been given the content that it put back. */
  private unseen(
    change: VersionChange,
    write: WriteEvent,
    previous: number,
    changed: readonly string[],
    world: World,
  ): Loss | undefined {
    const paths = changed.filter((path) => {
      const at = foreignChange(change.object, path, previous, write.actor);
      if (at === undefined) return false;
      if (wasGiven(write, change.object, at, previous + 1, world) !== 'no') return false;
      if (this.isAsserted(write, change, path, world)) return false;
      return (
        wasEarlier(change.object, path, change.version.leaves, at) ||
        (write.verb === 'replace' && isUnconditional(write))
      );
    });
    return paths.length === 0
      ? undefined
      : { how: 'unseen', paths, previous, base: givenTokens(write, change.object, world).at(-1), proof: [] };
  }

  /**
   * A patch without a token set what another actor had set since the version that its writer was given, to a value that it never
   * set before. Likely: it may mean that value whatever was there, and yet nothing told it of the other's change.
   */
  private computed(
    change: VersionChange,
    write: WriteEvent,
    previous: number,
    changed: readonly string[],
    world: World,
  ): Loss | undefined {
    if (write.verb !== 'patch' || !isUnconditional(write)) return undefined;
    const { object } = change;
    const paths = changed.filter((path) => {
      const at = foreignChange(object, path, previous, write.actor);
      return (
        at !== undefined &&
        !isPlaced(path) &&
        wasGiven(write, object, 0, at, world) === 'yes' &&
        wasGiven(write, object, at, previous + 1, world) === 'no' &&
        !this.isAsserted(write, change, path, world)
      );
    });
    return paths.length === 0
      ? undefined
      : { how: 'computed', paths, previous, base: givenTokens(write, object, world).at(-1), proof: [] };
  }

  /** The writer was given the content, yet its body matches an older version in everything that others changed since. Likely. */
  private ignored(
    change: VersionChange,
    write: WriteEvent,
    previous: number,
    changed: readonly string[],
    world: World,
  ): Loss | undefined {
    const { object, version } = change;
    const before = object.versions[previous]?.leaves;
    if (before === undefined || version.leaves === undefined) return undefined;
    if (!object.versions.slice(0, previous + 1).some((by, at) => at > 0 && isForeign(by, write.actor)))
      return undefined;
    for (let index = previous - 1; index >= 0; index -= 1) {
      const base = object.versions[index];
      if (base?.leaves === undefined) return undefined;
      // Content that the writer was never given it did not copy, however like it is: it may just want the same.
      if (wasGiven(write, object, index, index + 1, world) === 'no') continue;
      const foreign = changedPaths(base.leaves, before).filter(
        (path) => foreignChange(object, path, previous, write.actor) !== undefined,
      );
      const isAlone = changed.every((path) => foreign.includes(path)) && !keepsTime(before, version.leaves, foreign);
      const reverted =
        foreign.length > 0 && foreign.every((path) => base.leaves?.get(path) === version.leaves?.get(path));
      const meant =
        isAlone || foreign.some((path) => this.isWanted(write, object, path, version.leaves?.get(path) ?? ''));
      if (!reverted || meant) continue;
      if (!isInformed(change, write, previous, index, foreign, world))
        return { how: 'ignored', paths: foreign, previous, base: base.token, proof: [] };
      if (isSweep(change, write, foreign))
        return { how: 'swept', paths: foreign, previous, base: object.versions[previous]?.token, proof: [] };
    }
    return undefined;
  }

  /**
   * A patch that names a field (or the item that brings it along) and sets it to what the same actor set it to before says
   * what it wants, whoever was there. So does one of an actor that never read the object: its content comes from nowhere else.
   */
  private isAsserted(
    write: WriteEvent,
    { object, version, previous }: VersionChange,
    path: string,
    world: World,
  ): boolean {
    if (write.verb !== 'patch') return false;
    const named = namedPath(write, path, previous?.leaves);
    const value = named === undefined ? undefined : version.leaves?.get(named);
    if (named === undefined || value === undefined) return false;
    return this.isWanted(write, object, named, value) || !hasRead(write, object, world);
  }

  private isWanted(write: WriteEvent, object: ObjectState, path: string, value: string): boolean {
    const everywhere = this.wanted.get(ofKind(write))?.get(path);
    return everywhere === value || this.wanted.get(ofObject(write.actor, object))?.get(path) === value;
  }

  /** What it changed, or made an object with, it wants; what it lost by mistake, it need not. */
  private remember(write: WriteEvent, change: VersionChange, loss: Loss | undefined): void {
    if (write.verb === 'create') {
      if (isJsonObject(write.body)) this.want(ofObject(write.actor, change.object), leavesOf(write.body));
      return;
    }
    const { changed = [], version } = change;
    const meant = changed
      .filter((path) => loss?.paths.includes(path) !== true)
      .map((path): [string, string] => [path, version.leaves?.get(path) ?? '']);
    this.want(ofObject(write.actor, change.object), meant);
    this.want(ofKind(write), meant);
  }

  private want(key: string, fields: Iterable<[string, string]>): void {
    const paths = this.wanted.get(key) ?? new Map<string, string>();
    for (const [path, value] of fields) if (paths.size < MAX_WANTED || paths.has(path)) paths.set(path, value);
    if (paths.size === 0) return;
    keepLast(this.wanted, key, paths, MAX_REMEMBERED);
  }
}

/**
 * Whether the writer must have known what it put back: its patch was made for the version that it changed, as its token or a
 * read before says, the metadata that it sent with new labels, annotations or finalizers are those of that version, or it had
 * sent the changes back itself since they were made.
 */
function isInformed(
  change: VersionChange,
  write: WriteEvent,
  previous: number,
  base: number,
  foreign: readonly string[],
  world: World,
): boolean {
  const { object, version } = change;
  const last = foreign.reduce((at, path) => Math.max(at, latestChange(object, path, previous) ?? previous), 0);
  if (write.verb === 'patch') return !isUnconditional(write) || hasAskedFor(write, object, last, previous + 1, world);
  if (
    object.versions.slice(last + 1, previous + 1).some((by) => isReplacedBy(by, write)) &&
    !isOlder(change, write, previous, base)
  )
    return true;
  const sent = ownersStamp(version.sentOwners);
  const [from, over] = [object.versions[base]?.owners, object.versions[previous]?.owners];
  const isFresh = sent !== undefined && sent === over && from !== undefined && from !== sent;
  return isFresh && foreign.every((path) => path.startsWith('.metadata.'));
}

/** Whether what the writer itself changed since an older version is as it was in that one too, yet not all is. */
function isOlder({ object, version }: VersionChange, write: WriteEvent, previous: number, base: number): boolean {
  const [old, before] = [object.versions[base]?.leaves, object.versions[previous]?.leaves];
  if (old === undefined || before === undefined || version.leaves === undefined) return true;
  if (changedPaths(old, version.leaves).length === 0) return false;
  return changedPaths(old, before).some((path) => {
    const by = object.versions[latestChange(object, path, previous) ?? 0];
    return by !== undefined && !isForeign(by, write.actor) && old.get(path) === version.leaves?.get(path);
  });
}

/** Applies and patches of a scale assert, creations and deletions have no base, patches by position have a rule of their own. */
function isReplacing(write: WriteEvent): boolean {
  return (
    (write.verb === 'replace' || write.verb === 'patch') &&
    (write.subresource !== 'scale' || write.verb === 'replace') &&
    indexedPaths(write).length === 0
  );
}

/** The index of the version that a write turned into the next one. */
function predecessor(change: VersionChange, write: WriteEvent): number {
  const named = write.preconditions?.token;
  const index = named === undefined ? -1 : change.object.indexOf(named);
  return index >= 0 && index < change.index ? index : change.index - 1;
}

/** Whether a version before index `before` had the same as `now` (or nothing, as it) at the path. */
function wasEarlier(object: ObjectState, path: string, now: Leaves | undefined, before: number): boolean {
  const value = now?.get(path);
  // That something stands at a place says nothing; another item may.
  const identity = now === undefined || value === undefined || !isByPlace(path) ? undefined : itemIdentity(now, path);
  for (let index = before - 1; index >= 0; index -= 1) {
    const leaves = object.versions[index]?.leaves;
    if (leaves === undefined || leaves.get(path) !== value) continue;
    if (identity === undefined || itemIdentity(leaves, path) === identity) return true;
  }
  return false;
}

/** Where the writer was given versions before it wrote, as far as it was. */
function readsOf(
  tokens: readonly (string | undefined)[],
  write: WriteEvent,
  object: ObjectState,
  world: World,
): number[] {
  const given = world.knowledge.of(write.actor).objects.get(object.uid)?.tokens;
  return tokens.flatMap((token) => {
    const seq = token === undefined ? undefined : given?.get(token)?.seq;
    return seq === undefined || seq >= write.seq ? [] : [seq];
  });
}

function report(loss: Loss, change: VersionChange, write: WriteEvent, world: World): void {
  const { object } = change;
  if (world.losses.size > 1_000) world.losses.clear();
  world.losses.add(write.seq);
  const kind = lossKind(loss, write, change);
  const fields = outermost(
    loss.paths.filter((path) => !loss.paths.some((other) => other !== path && isAtOrBeneath(path, other))),
  );
  const losers = loss.paths.flatMap((path) => {
    const at = latestChange(object, path, loss.previous);
    return at === undefined ? [] : (object.versions[at] ?? []);
  });
  const base = loss.base === undefined ? undefined : object.version(loss.base);
  const others = [
    ...new Set(
      losers.map((by) => (by.author === undefined ? (by.manager ?? 'another actor') : actorName(by.author.actor))),
    ),
  ];
  world.report({
    key: ['lost-update', kind, writerKey(write)].join('\0'),
    id: 'lost-update',
    kind,
    cluster: object.cluster,
    object: findingObject(object),
    actors: [actorName(write.actor), ...others],
    fields,
    at: write.at,
    events: [
      ...new Set([
        base?.seq,
        ...readsOf([loss.base, object.versions[loss.previous]?.token], write, object, world),
        ...losers.map((by) => by.author?.seq ?? by.seq),
        ...loss.proof,
        write.seq,
        change.version.seq,
      ]),
    ].filter((seq) => seq !== undefined),
    explanation: explainLoss(loss, kind, { ...change, write, over: object.versions[loss.previous] }, others, fields),
    remedy: lossRemedy(kind),
    sureness: loss.how === 'repeated' || loss.how === 'unseen' ? 'certain' : 'likely',
    details: {
      ...(change.version.token === '' ? {} : { written: change.version.token }),
      over: object.versions[loss.previous]?.token ?? '',
      ...(loss.base === undefined ? {} : { base: loss.base }),
    },
  });
}

function ofKind(write: WriteEvent): string {
  return [actorKey(write.actor), write.actor.manager ?? '', write.cluster, write.name.group, write.name.resource].join(
    '\0',
  );
}

function ofObject(actor: Actor, object: ObjectState): string {
  return [actorKey(actor), object.cluster, object.uid].join('\0');
}
