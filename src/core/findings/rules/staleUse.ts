import { listed, message, type Message } from '../../../base/message.ts';
import { isJsonObject, type JsonObject } from '../../../codec/json.ts';
import { valueAt } from '../../../codec/path.ts';
import { nameKey } from '../../history.ts';
import { runningContainers, takenByName, type Taken, type Taking } from '../../takenByName.ts';
import type { AbsentEvent, ObservedEvent, TraceEvent } from '../../traceEvent.ts';
import { isAtOrBeneath, fieldStep } from '../derive.ts';
import type { Leaves } from '../leaves.ts';
import type { ObjectState, VersionRecord } from '../objectState.ts';
import { Oldest } from '../oldest.ts';
import type { Rule, Timed } from '../rule.ts';
import { findingObject, type World } from '../world.ts';

/** An object that has taken something by name. */
interface User {
  readonly object: ObjectState;
  /** Empty: it needs no second look. */
  readonly taken: readonly Taken[];
  /** Where it was seen first with what it took. */
  readonly seq: number;
  /** When its Pod started, by its kubelet; '' where that is not known, or it is no Pod. */
  started: string;
  running: ReadonlyMap<string, string>;
}

/** A name changed hands under one who had taken something by it. */
interface Change {
  readonly user: User;
  readonly before: ObjectState;
  readonly after: ObjectState;
  readonly taken: readonly Taken[];
  readonly running: ReadonlyMap<string, string>;
  readonly at: number;
  /** The newest time in the log then. */
  readonly since: number;
}

const MAX_USERS = 20_000;
const MAX_USERS_OF_ONE = 200;
const SETTLE_MS = 30_000;
const WHY: Readonly<Record<Taking, Message>> = {
  environment: message`a container reads its environment when it starts, and has not started again since`,
  'sub-path': message`a mount with subPath stays as it was when its container started`,
  immutable: message`what is immutable is not looked at again while a Pod uses it`,
  claim: message`a claim is mounted when the Pod starts`,
  token: message`the account's tokens are bound to its UID, and are refused until the kubelet asks for new ones`,
  volume: message`the claim was bound to it, and the volume of that name now was not made for it`,
};
const REMEDY = message`None, if the old one is what is meant. Otherwise start the Pod anew, so that it takes the new one; of a claim, see whether the volume of that name now holds its data.`;

/**
 * `stale-use`: a Pod still runs with what it took, by name and once, from an incarnation that is gone while the name lives
 * on; or a claim is bound by name to a volume that is another one now. What is resolved anew each time, what holds the same
 * content, and what is restarted or replaced within half a minute is not told.
 */
export class StaleUseRule implements Rule, Timed {
  readonly timed = this;
  private readonly users = new Map<string, User>();
  private readonly oldest = new Oldest(this.users);
  private readonly byName = new Map<string, Set<string>>();
  private pending: Change[] = [];

  observed({ name, body, seq }: ObservedEvent, object: ObjectState, version: VersionRecord): void {
    if (name.group !== '' || (name.resource !== 'pods' && name.resource !== 'persistentvolumeclaims')) return;
    if (body === undefined || version !== object.latest) return;
    const key = `${object.cluster}\0${object.uid}`;
    const known = this.users.get(key);
    if (known?.taken.length === 0) return;
    const running = runningContainers(body);
    const { status } = body;
    const { startTime: started, phase }: JsonObject = isJsonObject(status) ? status : {};
    if (known !== undefined) {
      if (typeof started === 'string') known.started = started;
      known.running = running;
      if (phase === 'Succeeded' || phase === 'Failed') this.forget(key, known);
      return;
    }
    // What it names before it runs, or before it is bound, it has not taken yet.
    if (running.size === 0 && phase !== 'Bound') return;
    const taken = takenByName(name, body);
    this.remember(key, { object, taken, seq, running, started: typeof started === 'string' ? started : '' });
  }

  absent({ cluster, uid }: AbsentEvent): void {
    const key = `${cluster}\0${uid}`;
    const known = uid === undefined ? undefined : this.users.get(key);
    if (known !== undefined) this.forget(key, known);
  }

  recreated(before: ObjectState, after: ObjectState, event: TraceEvent, world: World): void {
    for (const key of this.byName.get(nameKey(after.cluster, after.name)) ?? []) {
      const user = this.users.get(key);
      if (user === undefined) continue;
      const taken = user.taken.filter(
        (one) =>
          isOf(one, after) &&
          (one.container === undefined || user.running.has(one.container)) &&
          (one.how !== 'immutable' || contentOf(before)?.get('.immutable') === 'true') &&
          (one.how !== 'volume' || (claimOf(before) === user.object.uid && claimIn(event) !== user.object.uid)),
      );
      if (taken.length > 0)
        this.pending.push({
          user,
          before,
          after,
          taken,
          running: new Map(user.running),
          at: event.at,
          since: world.now,
        });
    }
  }

  due(): number | undefined {
    const [first] = this.pending;
    return first === undefined ? undefined : first.since + SETTLE_MS;
  }

  time(now: number, world: World): void {
    const due = this.pending.filter(({ since }) => since + SETTLE_MS <= now);
    this.pending = this.pending.filter(({ since }) => since + SETTLE_MS > now);
    for (const change of due) settle(change, world);
  }

  end(world: World): void {
    for (const change of this.pending.splice(0)) settle(change, world);
  }

  private remember(key: string, user: User): void {
    this.users.set(key, user);
    for (const { from } of user.taken) {
      const name = nameKey(user.object.cluster, from);
      const keys = this.byName.get(name) ?? new Set<string>();
      if (keys.size < MAX_USERS_OF_ONE) keys.add(key);
      this.byName.set(name, keys);
    }
    if (this.users.size <= MAX_USERS) return;
    const oldest = this.oldest.next();
    const left = oldest === undefined ? undefined : this.users.get(oldest);
    if (oldest !== undefined && left !== undefined) this.forget(oldest, left);
  }

  private forget(key: string, { object, taken }: User): void {
    this.users.delete(key);
    this.pending = this.pending.filter(({ user }) => user.object !== object);
    for (const { from } of taken) {
      const name = nameKey(object.cluster, from);
      const keys = this.byName.get(name);
      keys?.delete(key);
      if (keys?.size === 0) this.byName.delete(name);
    }
  }
}

/** Time was given to start anew: what is still used as it was is told. */
function settle({ user, before, after, taken, running, at }: Change, world: World): void {
  const { object } = user;
  const holder = world.current(after.cluster, after.name);
  if (object.gone !== undefined || object.latest?.terminating === true) return;
  if (holder === undefined || holder.gone !== undefined) return;
  const still = taken.filter(
    (one) =>
      (one.container === undefined || user.running.get(one.container) === running.get(one.container)) &&
      startedBetween(startOf(one, user), before, after) !== false &&
      differs(one, before, holder) !== false,
  );
  const [first] = still;
  if (first === undefined) return;
  const fields = [...new Set(still.map(({ path }) => path))];
  const { resource, name } = after.name;
  const timed = still.every(
    (one) => one.how === 'volume' || startedBetween(startOf(one, user), before, after) === true,
  );
  const reasons = listed([...new Set(still.map(({ how }) => WHY[how]))], '; ');
  world.report({
    key: ['stale-use', object.cluster, before.uid].join('\0'),
    id: 'stale-use',
    cluster: object.cluster,
    object: findingObject(object),
    actors: [],
    fields,
    at,
    events: [user.seq, ...(before.gone === undefined ? [] : [before.gone.seq]), holder.firstSeq].filter(isFirst),
    explanation: message`${object.name.name} uses what it took by name (${fields.join(', ')}) from the incarnation ${before.uid} of ${resource}/${name}, which is gone; the name belongs to ${holder.uid} now: ${reasons}.${still.some((one) => differs(one, before, holder) === true) ? message` What the two hold differs.` : ''}`,
    remedy: REMEDY,
    sureness: timed ? 'certain' : 'likely',
    details: { took: before.uid, live: holder.uid, name, how: [...new Set(still.map(({ how }) => how))].join(', ') },
  });
}

function isFirst(seq: number, index: number, all: readonly number[]): boolean {
  return all.indexOf(seq) === index;
}

function isOf({ from }: Taken, { name }: ObjectState): boolean {
  return from.resource === name.resource && from.namespace === name.namespace && from.name === name.name;
}

/** When it was taken, by the kubelet's clock. */
function startOf({ container, how }: Taken, { running, started }: User): string {
  if (how === 'volume') return '';
  return container === undefined ? started : (running.get(container) ?? '');
}

/**
 * Whether something started in the life of the one incarnation and before the other was made; undefined where a time is not
 * known, so that only the order in which they were seen says so.
 */
function startedBetween(start: string, before: ObjectState, after: ObjectState): boolean | undefined {
  const [from, to] = [before.creationTimestamp, after.creationTimestamp];
  if (start === '') return undefined;
  if ((from !== undefined && start < from) || (to !== undefined && start >= to)) return false;
  return from === undefined || to === undefined ? undefined : true;
}

/** Whether what was taken is other in the new incarnation; undefined where a content is not known, or it has none. */
function differs({ how, key }: Taken, before: ObjectState, after: ObjectState): boolean | undefined {
  if (how === 'claim' || how === 'token' || how === 'volume') return undefined;
  const [old, now] = [dataOf(before), dataOf(after)];
  if (old.length === 0 || now.length === 0 || areValues(old) !== areValues(now)) return undefined;
  const taken = (data: [string, string][]): string => {
    const own = key === undefined ? data : data.filter(([path]) => isAtOrBeneath(path, `.data${fieldStep(key)}`));
    return own
      .map((entry) => entry.join('\0'))
      .sort()
      .join('\n');
  };
  return taken(old) !== taken(now);
}

/** What a Secret or ConfigMap holds; empty also where only its metadata was seen. */
function dataOf(object: ObjectState): [string, string][] {
  return [...(contentOf(object) ?? [])].filter(([path]) =>
    ['.data', '.binaryData'].some((part) => isAtOrBeneath(path, part)),
  );
}

/** Values, or, where bodies are not kept, hashes of them: the one cannot be compared with the other. */
function areValues(data: readonly [string, string][]): boolean {
  return data.every(([, value]) => value.startsWith('"') || value.startsWith('#'));
}

function contentOf(object: ObjectState): Leaves | undefined {
  return object.versions.findLast(({ leaves }) => leaves !== undefined)?.leaves;
}

/** The claim that a volume was last known to be bound to. */
function claimOf(volume: ObjectState): string | undefined {
  const uid = contentOf(volume)?.get('.spec.claimRef.uid');
  return uid?.startsWith('"') === true ? uid.slice(1, -1) : undefined;
}

/** The claim that a volume was made for. */
function claimIn(event: TraceEvent): unknown {
  const body = event.type === 'observed' ? event.body : undefined;
  return valueAt(body, [{ field: 'spec' }, { field: 'claimRef' }, { field: 'uid' }]);
}
