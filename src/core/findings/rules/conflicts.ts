import { allOf, message, type Words } from '../../../base/message.ts';
import { isJsonObject, stringifyCanonical } from '../../../codec/json.ts';
import { unambiguousManager } from '../../managerChange.ts';
import type { WriteEvent } from '../../traceEvent.ts';
import { hashText } from '../../hash.ts';
import { inTurn } from '../inTurn.ts';
import { actionKey, actorKey, actorName, firstRead, sameActor, writerKey } from '../knowledge.ts';
import { changedPaths, outermost } from '../leaves.ts';
import type { ObjectState } from '../objectState.ts';
import type { Rule } from '../rule.ts';
import { requestText, tokenText } from '../words.ts';
import { writtenObject, type World } from '../world.ts';
import { untoldOf, type Counted } from '../untold.ts';
import { keepLast } from '../../keepLast.ts';

/** One refusal in a run of refusals without an accepted write of the same actor in between. */
interface Refusal {
  readonly startedAt: number;
  readonly at: number;
  readonly seq: number;
  readonly token: string;
  readonly body: string | undefined;
  readonly fresh: boolean;
}

interface Run extends Counted {
  refusals: Refusal[];
  self: boolean;
  /** The kind under which it was first told. */
  kind: string;
}

const MAX_RUNS = 5_000;
const SAME_BODY = 3;
const MISMATCH_REMEDY = message`Treat the old object as deleted: drop what was kept for it, and look at the new one as one that was never seen.`;

/**
 * `version-conflict` and `uid-mismatch` (each refusal, one finding an actor and object) and `hot-conflict-loop`: many refusals
 * in a row (also by the UID, or by a test of a JSON Patch) without growing pauses, or the same dead token and body again and again,
 * unless its sender waits for its cache. An actor that reads a fresh version before each attempt is contending, not spinning,
 * until it lost twice as often in a row.
 */
export class ConflictRule implements Rule {
  private readonly runs = new Map<string, Run>();
  /** Per actor and object: the token that its last accepted write replaced, whatever part it wrote. */
  private readonly retired = new Map<string, string>();

  write(event: WriteEvent, world: World): void {
    const key = actionKey(event);
    if (event.outcome === 'accepted' || event.outcome === 'unchanged') {
      if (event.dryRun !== true) {
        this.runs.delete(key);
        this.retire(event);
      }
      return;
    }
    if (event.outcome === 'uid-mismatch') reportMismatch(event, world);
    if (!isConflict(event)) return;
    if (event.outcome === 'version-conflict') reportConflict(event, world);
    if (world.target(event)?.election === true || event.name.resource === 'leases' || actorKey(event.actor) === '')
      return;
    this.extend(key, event, world);
  }

  private extend(key: string, event: WriteEvent, world: World): void {
    const run = this.runs.get(key) ?? newRun();
    const token = event.preconditions?.token ?? '';
    const last = run.refusals.at(-1);
    const { count, windowMs } = world.thresholds.conflictLoop;
    if (last !== undefined && event.at - last.at > windowMs) Object.assign(run, newRun());
    const fresh =
      event.outcome === 'version-conflict' &&
      token !== '' &&
      !run.refusals.some((item) => item.token === token) &&
      this.wasRead(event, token, world);
    run.refusals.push({
      startedAt: event.startedAt ?? event.at,
      at: event.at,
      seq: event.seq,
      token,
      body: event.body === undefined ? undefined : hashText(stringifyCanonical(event.body)),
      fresh,
    });
    run.total += 1;
    run.self ||= this.isSelf(event, world);
    if (run.refusals.length > 4 * count) run.refusals.splice(1, 1);
    keepLast(this.runs, key, run, MAX_RUNS);
    const enough = isWaiting(event, token, world) ? Infinity : SAME_BODY;
    if (run.told > 0 || isLoop(run.refusals, event.at, count, windowMs, enough)) reportLoop(run, event, world);
  }

  /** Whether the actor itself read this version, by a request, since its last refusal. */
  private wasRead(event: WriteEvent, token: string, world: World): boolean {
    const uid = world.target(event)?.uid ?? '';
    const given = world.knowledge.of(event.actor).objects.get(uid)?.tokens.get(token);
    const read = given === undefined ? undefined : firstRead(given);
    return read !== undefined && read.how !== 'watch';
  }

  private retire(event: WriteEvent): void {
    const token = event.preconditions?.token;
    if (token === undefined || token === event.result?.token || event.outcome === 'unchanged') return;
    const key = writerKey(event);
    keepLast(this.retired, key, token, MAX_RUNS);
  }

  /** Whether the write that retired the token was the same actor's. */
  private isSelf(event: WriteEvent, world: World): boolean {
    if (world.ownLost.has(event.seq)) return true;
    const token = event.preconditions?.token;
    if (token !== undefined && this.retired.get(writerKey(event)) === token) return true;
    const object = world.target(event);
    const index = object?.indexOf(event.preconditions?.token ?? '') ?? -1;
    const next = index < 0 ? undefined : object?.versions[index + 1];
    return next?.author !== undefined && sameActor(next.author.actor, event.actor);
  }

  /** Leader election is known by its object; nothing is kept. */
  end(): void {
    this.runs.clear();
    this.retired.clear();
  }
}

/** Whether what a write named is not as it was any more: its version, its fields, its incarnation, or what its patch tests. */
function isConflict({ outcome, body }: WriteEvent): boolean {
  if (outcome !== 'invalid') return ['version-conflict', 'field-conflict', 'uid-mismatch'].includes(outcome);
  return Array.isArray(body) && body.some((operation) => isJsonObject(operation) && operation['op'] === 'test');
}

function newRun(): Run {
  return { refusals: [], total: 0, told: 0, self: false, kind: '' };
}

/** Whether a watch feeds the actor, and has not brought it a newer version yet: all it can do is wait. */
function isWaiting(event: WriteEvent, token: string, world: World): boolean {
  const { delivered, objects } = world.knowledge.of(event.actor);
  const last = objects.get(world.target(event)?.uid ?? '')?.last;
  return delivered.length > 0 && last?.token === token && ['watch', 'list'].includes(last.given.how);
}

function isLoop(refusals: readonly Refusal[], now: number, count: number, windowMs: number, enough: number): boolean {
  const last = refusals.at(-1);
  const recent = refusals.filter((item) => now - item.at <= windowMs);
  const same = recent.filter(
    (item) => item.body !== undefined && item.body === last?.body && item.token === last.token && item.token !== '',
  );
  if (same.length >= enough) return true;
  const rounds = inTurn(recent);
  const needed = recent.every((item) => item.fresh) ? 2 * count : count;
  return rounds.length >= needed && !hasGrowingPauses(rounds);
}

/** Whether the pauses of the later half are clearly longer than those of the first: a backoff. */
function hasGrowingPauses(refusals: readonly Refusal[]): boolean {
  const pauses = refusals.slice(1).map((item, index) => item.at - (refusals[index]?.at ?? item.at));
  const half = Math.floor(pauses.length / 2);
  const [early, late] = [median(pauses.slice(0, half)), median(pauses.slice(-half))];
  return late > 1.5 * early && late >= 20;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function reportLoop(run: Run, event: WriteEvent, world: World): void {
  const who = actorName(event.actor);
  const tokens = new Set(run.refusals.map((item) => item.token));
  const [only] = tokens;
  const field = event.outcome === 'field-conflict';
  const windowMs = event.at - (run.refusals[0]?.at ?? event.at);
  const isOther = event.outcome === 'uid-mismatch';
  const dead = tokens.size === 1 && only !== undefined && only !== '' && !field && !isOther;
  if (run.told === 0) run.kind = run.self ? 'self-conflict' : field || isOther ? event.outcome : '';
  const { kind, total } = run;
  world.report({
    key: ['hot-conflict-loop', kind, writerKey(event)].join('\0'),
    id: 'hot-conflict-loop',
    ...(kind === '' ? {} : { kind }),
    cluster: event.cluster,
    object: isOther ? { ...event.name, uid: event.preconditions?.uid ?? '' } : writtenObject(event, world),
    actors: [who],
    fields: event.causes?.flatMap((cause) => cause.field ?? []) ?? [],
    at: event.at,
    count: untoldOf(run),
    events: run.refusals.map((item) => item.seq),
    explanation: message`The ${requestText(event)} of ${who} was refused ${total} times in ${(windowMs / 1000).toFixed(2)} s without one going through and without growing pauses.${dead ? message` Every attempt carried the same token ${tokenText(only)}.` : ''}${causeText(run, event, world)}`,
    remedy: isOther
      ? MISMATCH_REMEDY
      : field
        ? message`Reading again does not resolve a field conflict: leave the field to its owner, agree on the value, or take it over once on purpose.`
        : message`Read again before each attempt, compute the change anew, wait longer each time, and give up after a few attempts. A controller waits for its cache to show its own last write.`,
    details: { windowMs, self: run.self, ...(dead ? { token: only } : {}) },
  });
}

/** Who made the refusals necessary, as far as that was seen. */
function causeText(run: Run, event: WriteEvent, world: World): Words {
  if (event.outcome === 'uid-mismatch')
    return message` It named the incarnation ${event.preconditions?.uid ?? ''}, which no longer has the name: no attempt can go through.`;
  if (run.self) return message` The write that retired the token was its own.`;
  if (event.outcome === 'field-conflict') {
    const owners = new Set(
      (event.causes ?? []).flatMap((cause) => /conflict with "([^"]+)"/.exec(cause.message ?? '')?.[1] ?? []),
    );
    return owners.size === 0 ? '' : message` The fields belong to ${allOf([...owners])}.`;
  }
  const object = world.target(event);
  const index = object?.indexOf(event.preconditions?.token ?? '') ?? -1;
  const by = index < 0 || object === undefined ? undefined : makerOf(object, index + 1);
  return by === undefined ? '' : message` The write that retired the last token was one of ${by}.`;
}

/** Who made a version, as far as it can be told by now: it may not have been judged yet. */
function makerOf({ versions }: ObjectState, index: number): string | undefined {
  const version = versions[index];
  if (version?.author !== undefined) return actorName(version.author.actor);
  const before = versions[index - 1]?.managedFields;
  return version?.manager ?? (before === undefined ? undefined : unambiguousManager(before, version?.managedFields));
}

function reportConflict(event: WriteEvent, world: World): void {
  const object = world.target(event);
  const index = object?.indexOf(event.preconditions?.token ?? '') ?? -1;
  const since = index < 0 || object === undefined ? [] : object.versions.slice(index + 1);
  const winners = since.flatMap((_version, after) =>
    object === undefined ? [] : (makerOf(object, index + 1 + after) ?? []),
  );
  const base = index < 0 ? undefined : object?.versions[index]?.leaves;
  const now = since.at(-1)?.leaves;
  const told = event.wonBy ?? [];
  const fields =
    base === undefined || now === undefined ? told.flatMap((item) => item.fields) : outermost(changedPaths(base, now));
  const names = [...new Set([...winners, ...told.map((item) => item.manager)])];
  const who = actorName(event.actor);
  const lost = names.length === 0 ? world.ownLost.get(event.seq) : undefined;
  const unseen =
    lost === undefined
      ? since.length > 0
        ? message`somebody whose name its versions do not tell`
        : message`somebody whose write was not seen`
      : message`most likely its own write before, whose answer was lost,`;
  const other = names.length > 0 ? allOf(names) : unseen;
  world.report({
    key: ['version-conflict', writerKey(event)].join('\0'),
    id: 'version-conflict',
    cluster: event.cluster,
    object: writtenObject(event, world),
    actors: [who, ...names.filter((name) => name !== who)],
    fields: fields.slice(0, 50),
    at: event.at,
    events: [
      ...(lost === undefined ? [] : [lost]),
      ...since.slice(-4).map((version) => version.author?.seq ?? version.seq),
      event.seq,
    ],
    explanation: message`The ${requestText(event)} of ${who} was refused because its version was no longer the current one: ${other} made progress first. One conflict is normal.`,
    remedy: message`Read the object again, compute the change anew on what it is now, and send that; a few attempts with growing pauses.`,
  });
}

function reportMismatch(event: WriteEvent, world: World): void {
  const who = actorName(event.actor);
  const sent = event.preconditions?.uid ?? '';
  const holder = world.target(event);
  const live = holder?.uid === sent || holder?.gone !== undefined ? undefined : holder;
  world.report({
    key: ['uid-mismatch', writerKey(event)].join('\0'),
    id: 'uid-mismatch',
    cluster: event.cluster,
    object: { ...event.name, uid: sent },
    actors: [who],
    fields: [],
    at: event.at,
    events: [event.seq],
    explanation: message`A write of ${who} named the incarnation ${sent}, but ${
      live === undefined ? message`it is gone` : message`the name belongs to another one now (${live.uid})`
    }. The server refused it; nothing was changed.`,
    remedy: MISMATCH_REMEDY,
  });
}
