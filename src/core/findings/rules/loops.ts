import { listed, message } from '../../../base/message.ts';
import { isJsonObject, type JsonObject } from '../../../codec/json.ts';
import type { WriteEvent } from '../../traceEvent.ts';
import { type ActorKnowledge, actionKey, actorKey, actorName, sameActor, writerKey } from '../knowledge.ts';
import { changedOrders, changedTimes, hasList, leavesOf, outermost, type Leaves } from '../leaves.ts';
import type { VersionRecord } from '../objectState.ts';
import type { Rule, VersionChange } from '../rule.ts';
import { requestText, tokenText } from '../words.ts';
import { findingObject, writtenObject, type World } from '../world.ts';
import { untoldOf, type Counted } from '../untold.ts';
import { keepLast } from '../../keepLast.ts';

interface RunEvent {
  readonly at: number;
  readonly seq: number;
}

/** A write that may be a reaction: when it was sent, how long after what it may react to, and to which kind of own write. */
interface Reaction extends RunEvent {
  readonly start: number;
  readonly delayMs: number;
  readonly from: string;
  readonly to: string;
}

interface Run<T extends RunEvent> extends Counted {
  events: T[];
  /** Each with how many of the events it is of. */
  fields: Map<string, number>;
}

const MAX_RUNS = 5_000;
const MAX_FIELDS = 50;
/** A reaction comes at once; what comes later may be a timer's. */
export const REACTION_MS = 150;
const APPLIES = 4;
/** Times are known to a millisecond: what varies less than this is constant. */
const STEADY_MS = 2;

/**
 * `no-op-writes`: accepted writes that changed nothing, again and again, with the fields whose defaulted or respelled value
 * is the likely cause. `update-loop`: an actor that writes because of the event of its own last write.
 */
export class LoopRule implements Rule {
  private readonly noOps = new Map<string, Run<RunEvent>>();
  private readonly selfTriggered = new Map<string, Run<Reaction>>();
  /** Versions by what was written: the endpoint and the parts of the object. */
  private readonly kinds = new WeakMap<VersionRecord, string>();

  write(event: WriteEvent, world: World): void {
    if (event.dryRun === true || event.verb === 'create' || event.verb === 'delete' || actorKey(event.actor) === '')
      return;
    const object = world.target(event);
    if (object?.election === true || event.name.resource === 'leases') return;
    const token = event.result?.token;
    const same =
      token !== undefined &&
      token !== '' &&
      object?.version(token)?.terminating !== true &&
      (token === event.preconditions?.token || wasThere(object?.version(token), event));
    const unchanged = event.outcome === 'unchanged' || (event.outcome === 'accepted' && same);
    const key = actionKey(event);
    if (!unchanged) {
      if (event.outcome === 'accepted') this.noOps.delete(key);
      return;
    }
    const { count, windowMs } = world.thresholds.noOpWrites;
    const { at, seq } = event;
    const run = extend(this.noOps, key, { at, seq }, windowMs);
    const stored = token === undefined ? undefined : object?.version(token)?.leaves;
    if (stored !== undefined && isJsonObject(event.body)) {
      const part = event.subresource === 'status' ? '.status' : undefined;
      for (const [path, value] of leavesOf(event.body)) {
        const asked = part === undefined ? !path.startsWith('.status') : path.startsWith(part);
        if (asked && !path.startsWith('\0') && stored.get(path) !== value) countField(run, path);
      }
      if (event.verb === 'replace' && part === undefined) addFilledIn(run, stored, event.body);
    }
    // To apply the same again is how apply is meant to be used; only a hot loop of it is worth a word.
    const needed = event.verb === 'apply' ? APPLIES * count : count;
    if (run.events.filter((item) => event.at - item.at <= windowMs).length < needed) return;
    const who = actorName(event.actor);
    const fields = outermost([...run.fields.keys()]).slice(0, 20);
    world.report({
      key: ['no-op-writes', writerKey(event)].join('\0'),
      id: 'no-op-writes',
      cluster: event.cluster,
      object: writtenObject(event, world),
      actors: [who],
      fields,
      at: event.at,
      count: untoldOf(run),
      events: run.events.map((item) => item.seq),
      explanation: message`${who} sent ${run.total} times in ${seconds(run)} s the ${requestText(event)} that changes nothing.${
        fields.length === 0
          ? ''
          : message` The server fills these in or stores them otherwise than they are sent, so a comparison with them never comes out equal: ${fields.slice(0, 6).join(', ')}${fields.length > 6 ? message` and ${fields.length - 6} more` : ''}.`
      }`,
      remedy: message`Compare what you want with what is stored before you write, with defaults and spellings as the server stores them (or by a dry run), and write only on a difference.`,
    });
  }

  judged(change: VersionChange, world: World): void {
    const { write, version, previous, object } = change;
    if (write === undefined || object.election || actorKey(write.actor) === '') return;
    const key = `${writerKey(write)}\0${object.uid}`;
    const to = kindOf(change);
    this.kinds.set(version, to);
    if (previous?.author === undefined || !sameActor(previous.author.actor, write.actor)) {
      this.selfTriggered.delete(key);
      return;
    }
    const from = this.kinds.get(previous) ?? '';
    const reaction = isReaction(change, world);
    if (reaction === 'no') forgetStep(this.selfTriggered.get(key), from, to);
    if (reaction === 'no' || reaction === 'unclear') return;
    const { count, windowMs } = world.thresholds.updateLoop;
    const run = extend(this.selfTriggered, key, { at: write.at, seq: write.seq, from, to, ...reaction }, windowMs);
    for (const path of whatChanged(change)) countField(run, path);
    const recent = run.events.filter((item) => write.at - item.at <= windowMs);
    const steps = circleOf(recent, { from, to }, count);
    if (steps.length === 0 || (run.told === 0 && steps.some(isTimed))) return;
    const who = actorName(write.actor);
    const fields = outermost(usualFields(run));
    const shown = fields.slice(0, 5).map((path) => (isList(version, path) ? message`the order of ${path}` : path));
    world.report({
      key: `update-loop\0${key}`,
      id: 'update-loop',
      cluster: object.cluster,
      object: findingObject(object),
      actors: [who],
      fields,
      at: write.at,
      count: untoldOf(run),
      events: run.events.map((item) => item.seq),
      explanation: message`${who} wrote again and again, ${run.total} times in ${seconds(run)} s, each time right after it was given the event of its own write before, with nobody else in between (last token ${tokenText(version.token)}). Each pass changed ${
        shown.length === 0 ? message`what is not known` : listed(shown)
      }.`,
      remedy: message`Do not write a value that changes with every pass (a time, a counter, a random order); skip the event of your own status write (for example by generation), and write only on a difference.`,
    });
  }
}

/** What a version changed; what keeps time, where that is all; lists that only came in another order, where nothing else did. */
function whatChanged({ changed = [], previous, version }: VersionChange): readonly string[] {
  if (changed.length > 0 || previous?.leaves === undefined || version.leaves === undefined) return changed;
  const times = changedTimes(previous.leaves, version.leaves);
  return times.length > 0 ? times : changedOrders(previous.leaves, version.leaves);
}

function isList({ leaves }: VersionRecord, path: string): boolean {
  return leaves !== undefined && hasList(leaves, path);
}

function countField({ fields }: Run<RunEvent>, path: string): void {
  if (fields.size < MAX_FIELDS || fields.has(path)) fields.set(path, (fields.get(path) ?? 0) + 1);
}

/** The fields that the passes are about: what few of them changed had another cause. */
function usualFields({ fields }: Run<RunEvent>): string[] {
  const most = Math.max(...fields.values());
  return [...fields].flatMap(([path, count]) => (4 * count >= most ? [path] : []));
}

/** Fields of the spec that are stored although an update left them out: the server's defaults. */
function addFilledIn(run: Run<RunEvent>, stored: Leaves, body: JsonObject): void {
  const sent = leavesOf(body);
  for (const path of stored.keys()) if (path.startsWith('.spec') && !sent.has(path)) countField(run, path);
}

/** A write that was no reaction speaks against one that was. */
function forgetStep(run: Run<Reaction> | undefined, from: string, to: string): void {
  const at = run?.events.findIndex((item) => item.from === from && item.to === to) ?? -1;
  if (run === undefined || at < 0) return;
  run.events.splice(at, 1);
  if (run.told === 0) run.total -= 1;
}

function seconds(run: Run<RunEvent>): string {
  return (((run.events.at(-1)?.at ?? 0) - (run.events[0]?.at ?? 0)) / 1000).toFixed(1);
}

/** Whether a version was there before the write was sent: a watch may show a new one before its writer's answer comes. */
function wasThere(version: VersionRecord | undefined, event: WriteEvent): boolean {
  if (version === undefined) return false;
  return event.startedAt === undefined ? version.author !== undefined : version.at < event.startedAt;
}

/**
 * Whether a timer drives the writes: what is kept is the pause from one to the next, however long the event of the one before
 * took. A reaction keeps its distance to that event, and its pauses vary by what the event took besides.
 */
export function isTimed(events: readonly Pick<Reaction, 'start' | 'delayMs'>[]): boolean {
  const pauses = events.slice(1).map((event, index) => event.start - (events[index]?.start ?? event.start));
  const delays = events.map((event) => event.delayMs);
  return spread(delays) > Math.max(STEADY_MS, 2 * spread(pauses));
}

/** The distance between the quartiles: what is far out on either side does not count. */
function spread(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
  return at(0.75) - at(0.25);
}

/** What a write changes: the endpoint, and the parts of the object (of its metadata, which of them). */
function kindOf({ write, changed = [] }: VersionChange): string {
  const parts = changed.map((path) => /^\.metadata\.\w+|^\.\w+/.exec(path)?.[0] ?? '');
  return [write?.subresource ?? '', ...new Set(parts.sort())].join();
}

/**
 * The reactions of each step by which writes lead back to the last one, each taken often enough; none where they do not. Of
 * a pass that writes several parts, the later ones follow the events of the earlier ones, whatever woke it: only where the
 * first one follows the event of the last one too is it a loop.
 */
function circleOf(
  events: readonly Reaction[],
  last: Pick<Reaction, 'from' | 'to'>,
  count: number,
): readonly (readonly Reaction[])[] {
  const steps = [...Map.groupBy(events, ({ from, to }) => JSON.stringify([from, to])).values()].filter(
    (own) => own.length >= count,
  );
  const often = steps.flatMap((own) => own.slice(0, 1));
  const reached = new Set([last.to]);
  for (const kind of reached) for (const { from, to } of often) if (from === kind) reached.add(to);
  if (!reached.has(last.from) || !often.some(({ from, to }) => from === last.from && to === last.to)) return [];
  return steps.filter(([first]) => first !== undefined && reached.has(first.from) && reached.has(first.to));
}

/**
 * Whether the write follows at once the watch event of the writer's own last version; a read of its own must follow that event
 * too. `unclear`: something else came in between, and may be the cause.
 */
function isReaction(change: VersionChange, world: World): Pick<Reaction, 'start' | 'delayMs'> | 'no' | 'unclear' {
  const { write, previous, object } = change;
  if (write === undefined || previous?.author === undefined) return 'no';
  const start = write.startedAt ?? write.at;
  const token = write.preconditions?.token;
  // That the version came from another agent's watch is only known of a write that names it.
  const actor =
    token === previous.token
      ? world.knowledge.watcherFor(write.actor, object.uid, token)
      : world.knowledge.of(write.actor);
  if (token !== undefined && token !== '' && token !== previous.token) return 'no';
  const seen = actor.watched.get(object.uid)?.get(previous.token);
  const requested = actor.requested.get(object.uid) ?? 0;
  const unasked = requested < previous.author.at || requested > start;
  if (seen !== undefined) {
    const soon = start - seen >= 0 && start - seen <= REACTION_MS && (unasked || requested >= seen);
    if (!soon) return 'no';
    return wasWokenByOthers(change, write, seen, actor, world) ? 'unclear' : { start, delayMs: start - seen };
  }
  // A recorder sees all reads: who was given nothing there reacts to nothing.
  const read = actor.hasReads || world.hasReads || write.via === 'recorder';
  const delayMs = start - previous.author.at;
  return !read && delayMs <= REACTION_MS && delayMs >= 0 ? { start, delayMs } : 'no';
}

/** Whether a watch gave the writer, since its own event, anything that it had not written itself: that may be the cause. */
function wasWokenByOthers(
  { object }: VersionChange,
  write: WriteEvent,
  since: number,
  { delivered }: ActorKnowledge,
  world: World,
): boolean {
  const start = write.startedAt ?? write.at;
  return delivered.some((item) => {
    if (item.at < since || item.at > start || item.uid === object.uid) return false;
    const author = world.object(object.cluster, item.uid)?.version(item.token)?.author;
    return author === undefined || !sameActor(author.actor, write.actor);
  });
}

function extend<T extends RunEvent>(runs: Map<string, Run<T>>, key: string, event: T, windowMs: number): Run<T> {
  const { at } = event;
  const run: Run<T> = runs.get(key) ?? { events: [], fields: new Map<string, number>(), total: 0, told: 0 };
  const last = run.events.at(-1);
  if (last !== undefined && at - last.at > windowMs) {
    Object.assign(run, { events: [], total: 0, told: 0 });
    run.fields.clear();
  }
  run.events.push(event);
  run.total += 1;
  if (run.events.length > 1_000) run.events.splice(1, 1);
  keepLast(runs, key, run, MAX_RUNS);
  return run;
}
