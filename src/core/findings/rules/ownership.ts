import { allOf, listed, message, type Words } from '../../../base/message.ts';
import { formatPath } from '../../../codec/path.ts';
import { ownersOf } from '../../ownership.ts';
import type { Actor, ObjectName, Token, WriteEvent } from '../../traceEvent.ts';
import { isAtOrBeneath } from '../derive.ts';
import { actionKey, actorKey, actorName, writerKey } from '../knowledge.ts';
import { changedPaths, contentOfList, identitiesOf, outermost, type Leaves } from '../leaves.ts';
import type { ObjectState, VersionRecord } from '../objectState.ts';
import type { Rule, VersionChange } from '../rule.ts';
import { fieldsText, valueText } from '../words.ts';
import { findingObject, type World } from '../world.ts';
import { keepLast } from '../../keepLast.ts';

interface Setting {
  readonly by: string;
  readonly name: string;
  readonly value: string | undefined;
  readonly seq: number;
  readonly token: Token;
}

/** A field that was set back once too often, and who set it. */
interface Fight {
  readonly path: string;
  readonly settings: readonly Setting[];
}

interface Track {
  settings: Setting[];
  alternations: number;
}

const MAX_REFUSED = 2_000;
const MAX_TRACKS = 20_000;
const MAX_SETTINGS = 8;

/** `force-takeover`: an apply with force took fields that another manager owned. `ownership-fight`: two actors undo each other. */
export class OwnershipRule implements Rule {
  private readonly tracks = new Map<string, Track>();
  /** Per actor and object: the owners that its last refused apply was told of. */
  private readonly refused = new Map<string, { path: string; manager: string }[]>();

  write(event: WriteEvent): void {
    const key = actionKey(event);
    if (event.verb !== 'apply' || event.outcome !== 'field-conflict') return;
    const owners = (event.causes ?? []).flatMap((cause) => {
      const manager = /conflict with "([^"]+)"/.exec(cause.message ?? '')?.[1];
      return cause.field === undefined || manager === undefined ? [] : [{ path: cause.field, manager }];
    });
    keepLast(this.refused, key, owners, MAX_REFUSED);
  }

  judged(change: VersionChange, world: World): void {
    if (change.object.election) return;
    if (change.write?.verb === 'apply' && change.write.force === true) this.takeover(change, world);
    if (change.changed !== undefined) this.follow(change, change.changed, world);
  }

  private takeover(change: VersionChange, world: World): void {
    const { write, version, previous, object } = change;
    if (write === undefined) return;
    const manager = write.actor.manager ?? version.manager;
    const told = this.refused.get(actionKey(write));
    this.refused.delete(actionKey(write));
    const taken = (previous === undefined ? undefined : ownershipLost(previous, version, manager, write.actor)) ?? told;
    if (taken === undefined) return;
    const who = actorName(write.actor);
    // Each whom something is taken from is wronged, however many are at once.
    for (const [from, own] of Map.groupBy(taken, (item) => item.manager))
      world.report({
        key: ['force-takeover', writerKey(write), from].join('\0'),
        id: 'force-takeover',
        cluster: object.cluster,
        object: findingObject(object),
        actors: [who, from],
        fields: outermost(own.map((item) => item.path)),
        at: write.at,
        events: [...(previous === undefined ? [] : [previous.author?.seq ?? previous.seq]), write.seq, version.seq],
        explanation: message`${who} applied with force and took ${listed(own.slice(0, 8).map((item) => message`${item.path} from ${item.manager}`))}.`,
        remedy: message`Leave fields that another manager owns out of what you apply; take one over once and on purpose, never by a standing force=true.`,
        details: { manager: manager ?? '' },
      });
  }

  private follow(change: VersionChange, changed: readonly string[], world: World): void {
    const { version, object } = change;
    const actor = authorOf(version);
    if (actor === undefined) return;
    const fights: Fight[] = [];
    const prefix = `${object.cluster}\0${object.uid}\0`;
    for (const [path, value] of settingsOf(change, changed.slice(0, 100))) {
      const key = prefix + path;
      const track = this.tracks.get(key) ?? { settings: [], alternations: 0 };
      const last = track.settings.at(-1);
      const before = track.settings.at(-2);
      // Several writes of one actor in a row are one turn: what counts is what the other finds.
      const isSameTurn = last !== undefined && last.by === actor.key;
      if (isSameTurn) track.settings.pop();
      else if (before !== undefined && before.by === actor.key && before.value === value)
        track.alternations = isTalk(path, before, last, change) ? 0 : track.alternations + 1;
      else if (before !== undefined && !(before.by === actor.key && isMoving(path, value))) track.alternations = 0;
      const seq = version.author?.seq ?? version.seq;
      track.settings.push({ by: actor.key, name: actor.name, value, seq, token: version.token });
      if (track.settings.length > MAX_SETTINGS) track.settings.shift();
      this.tracks.delete(key);
      this.tracks.set(key, track);
      if (track.alternations >= world.thresholds.fightAlternations) fights.push({ path, settings: track.settings });
    }
    // What one write sets back is one blow, however many fields it takes.
    for (const own of Map.groupBy(fights, ({ settings }) => pairOf(settings)).values()) reportFight(own, change, world);
    while (this.tracks.size > MAX_TRACKS) {
      const oldest = this.tracks.keys().next();
      if (oldest.done === true) break;
      this.tracks.delete(oldest.value);
    }
  }
}

/**
 * What a version sets, by path. A list whose items only their places tell apart is one value, whatever their order, where they
 * moved: another version of an API may give them in another order.
 */
function settingsOf(
  { version, previous }: Pick<VersionChange, 'version' | 'previous'>,
  changed: readonly string[],
): ReadonlyMap<string, string | undefined> {
  const settings = new Map<string, string | undefined>();
  const moved = new Map<string, ReadonlySet<string>>();
  const [old, now] = [previous?.leaves, version.leaves];
  for (const path of changed) {
    const [item, list] = /^(.*?)\[\d+\]/.exec(path) ?? [];
    if (old === undefined || now === undefined || item === undefined || list === undefined) {
      settings.set(path, now?.get(path));
      continue;
    }
    const ofList = moved.get(list) ?? movedItems(old, now, list);
    moved.set(list, ofList);
    if (!ofList.has(item)) settings.set(path, now.get(path));
    else if (contentOfList(now, list) !== contentOfList(old, list)) settings.set(list, contentOfList(now, list));
  }
  return settings;
}

/** The places of a list where something stands that stood elsewhere, or stood what stands elsewhere now. */
function movedItems(old: Leaves, now: Leaves, list: string): ReadonlySet<string> {
  const [before, after] = [identitiesOf(old, list), identitiesOf(now, list)];
  const [stood, stands] = [new Set(before.values()), new Set(after.values())];
  return new Set([
    ...[...before].filter(([, identity]) => stands.has(identity)).map(([item]) => item),
    ...[...after].filter(([, identity]) => stood.has(identity)).map(([item]) => item),
  ]);
}

/**
 * An autoscaler comes back with another number than the one that was undone; it is undone all the same. A mark that one sets
 * anew and the other takes away is how two that work together talk.
 */
function isMoving(path: string, value: string | undefined): boolean {
  return value !== undefined && path.startsWith('.spec');
}

/**
 * Whether a value that went to and fro is how two talk (requested, done): each of the last two turns brought something new
 * besides, as a request and its answer are about something. Who undoes what another did only restores. Desired state is not
 * talked through. `before` is the actor's own setting before, `last` the other's turn since.
 */
function isTalk(
  path: string,
  before: Setting,
  last: Setting | undefined,
  { object, index }: Pick<VersionChange, 'object' | 'index'>,
): boolean {
  if (path.startsWith('.spec') || last === undefined) return false;
  const [from, to] = [object.indexOf(before.token), object.indexOf(last.token)];
  if (from < 0 || to < 0) return false;
  // A mark in the metadata asks by being there: who takes it away answers.
  const isMark = path.startsWith('.metadata.');
  if (isMark && before.value === undefined) return broughtNew(object, to + 1, index, before.by, path);
  if (isMark && last.value === undefined) return broughtNew(object, from + 1, to, last.by, path);
  return broughtNew(object, from + 1, to, last.by, path) && broughtNew(object, to + 1, index, before.by, path);
}

/** Whether an actor set, in a run of versions, any other field to a value that this object had not had before. */
function broughtNew(object: ObjectState, first: number, last: number, by: string, besides: string): boolean {
  for (let index = first; index <= last; index += 1) {
    const [before, after] = [object.versions[index - 1], object.versions[index]];
    if (before?.leaves === undefined || after?.leaves === undefined || authorOf(after)?.key !== by) continue;
    const { leaves } = after;
    const earlier = object.versions.slice(0, index);
    const isNew = (path: string): boolean =>
      path !== besides && leaves.has(path) && earlier.every((other) => other.leaves?.get(path) !== leaves.get(path));
    if (changedPaths(before.leaves, leaves).some(isNew)) return true;
  }
  return false;
}

function authorOf(version: VersionRecord): { key: string; name: string } | undefined {
  const actor: Actor | undefined =
    version.author?.actor ?? (version.manager === undefined ? undefined : { manager: version.manager });
  if (actor === undefined || actorKey(actor) === '') return undefined;
  return {
    key: actor.manager === undefined ? actorKey(actor) : `${actorKey(actor)} ${actor.manager}`,
    name: actorName(actor),
  };
}

/** The two who set a field last. */
function pairOf(settings: readonly Setting[]): string {
  return settings
    .slice(-2)
    .map(({ by }) => by)
    .sort()
    .join('\0');
}

function reportFight(fights: readonly Fight[], change: VersionChange, world: World): void {
  const { object, version } = change;
  const [first] = fights;
  if (first === undefined) return;
  const names = [...new Set(first.settings.slice(-2).map((setting) => setting.name))];
  const fields = outermost(fights.map(({ path }) => path));
  world.report({
    key: ['ownership-fight', object.cluster, pairOf(first.settings)].join('\0'),
    id: 'ownership-fight',
    cluster: object.cluster,
    object: findingObject(object),
    actors: names,
    fields,
    at: version.author?.at ?? version.at,
    events: [...new Set(fights.flatMap(({ settings }) => settings.map(({ seq }) => seq)))].sort((a, b) => a - b),
    explanation: message`${allOf(names)} undo each other on ${fieldsText(fields)}: each sets it back to its own value after the other changed it${fights.length > 1 ? '' : valuesText(first, object.name)}.`,
    remedy: message`Decide which of them is responsible for the field, and let the other leave it out of what it writes (with server-side apply: give the field up).`,
  });
}

/** What each of the two set last, where that may be shown. */
function valuesText({ settings }: Fight, name: ObjectName): Words {
  const last = settings.slice(-2).map(({ name: by, value }) => {
    const text = valueText(value, name);
    return text === undefined ? undefined : message`${by} ${text}`;
  });
  return last.includes(undefined) ? '' : message` (last: ${listed(last.filter((one) => one !== undefined))})`;
}

/** Fields that a version's writer owns now and another manager owned just before, but no more. */
function ownershipLost(
  before: VersionRecord,
  after: VersionRecord,
  manager: string | undefined,
  { agent }: Actor,
): { path: string; manager: string }[] | undefined {
  if (before.managedFields === undefined || after.managedFields === undefined) return undefined;
  const now = ownersOf(after.managedFields);
  const mine = now
    .filter((owner) => owner.manager === manager && owner.operation === 'Apply')
    .flatMap((owner) => owner.paths.map(formatPath));
  const lost: { path: string; manager: string }[] = [];
  for (const owner of ownersOf(before.managedFields)) {
    // The name that the server made of the user agent is its own too: who begins to apply takes over what it had updated.
    const isOwn = owner.operation === 'Update' && owner.manager === agent?.split('/')[0];
    if (owner.manager === manager || isOwn) continue;
    const still = now.filter(
      (other) =>
        other.manager === owner.manager &&
        other.operation === owner.operation &&
        (other.subresource ?? '') === (owner.subresource ?? ''),
    );
    const kept = new Set(still.flatMap((other) => other.paths.map(formatPath)));
    for (const path of owner.paths.map(formatPath)) {
      if (!kept.has(path) && mine.some((own) => own === path || isAtOrBeneath(path, own)))
        lost.push({ path, manager: owner.manager });
    }
  }
  return lost;
}
