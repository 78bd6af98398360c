import { allOf, message } from '../../../base/message.ts';
import { keepLast } from '../../keepLast.ts';
import type { WriteEvent } from '../../traceEvent.ts';
import { actorKey, actorName, sameActor } from '../knowledge.ts';
import { changedPaths, changedTimes, outermost } from '../leaves.ts';
import type { Rule, VersionChange } from '../rule.ts';
import { findingObject, type World } from '../world.ts';
import { isTimed, REACTION_MS } from './loops.ts';

/** A write at once after its sender was given what the other one had written. */
interface Answer {
  readonly by: string;
  readonly name: string;
  readonly at: number;
  readonly seq: number;
  readonly start: number;
  readonly delayMs: number;
  readonly fields: readonly string[];
}

const MAX_CHAINS = 5_000;
const MAX_ANSWERS = 100;
/** How far back the write that it answers may be: the two may write at the same time. */
const MAX_BETWEEN = 4;

/**
 * The kind `mutual` of `update-loop`: two actors wake each other, as each writes something new whenever it is given what the
 * other wrote. What one only repeats of the other (observed, acknowledged) is a talk, what both only restore is a fight.
 */
export class MutualLoopRule implements Rule {
  /** By object: the answers in a row. */
  private readonly chains = new Map<string, Answer[]>();

  judged(change: VersionChange, world: World): void {
    const { write, object, index } = change;
    if (object.election || index === 0) return;
    const key = `${object.cluster}\0${object.uid}`;
    const chain = this.chains.get(key) ?? [];
    const cause = write === undefined || actorKey(write.actor) === '' ? 'none' : causeOf(change, write, world);
    if (cause === 'late') chain.shift();
    if (cause === 'own' || cause === 'late') return;
    const fields = cause === 'none' ? [] : newIn(change);
    if (write === undefined || cause === 'none' || fields.length === 0) {
      this.chains.delete(key);
      return;
    }
    const by = actorKey(write.actor);
    const { count, windowMs } = world.thresholds.updateLoop;
    const answers = [
      ...chain.filter((one) => write.at - one.at <= windowMs && (one.by === by || one.by === cause.by)),
      { by, name: actorName(write.actor), at: write.at, seq: write.seq, ...cause.timing, fields },
    ].slice(-MAX_ANSWERS);
    keepLast(this.chains, key, answers, MAX_CHAINS);
    const own = answers.filter((one) => one.by === by);
    const others = answers.filter((one) => one.by !== by);
    if (own.length < count || others.length < count || isTimed(own) || isTimed(others)) return;
    report(change, answers, world);
  }
}

interface Cause {
  readonly by: string;
  readonly timing: Pick<Answer, 'start' | 'delayMs'>;
}

/**
 * What a write answers: the last version of another actor before it, where a watch had given that to its sender just before.
 * `own`: its sender wrote last, nothing else came in between. `late`: the other's version is older news, which may be a slow
 * answer. `none`: who wrote before is not known, or its sender was not given it.
 */
function causeOf({ object, index }: VersionChange, write: WriteEvent, world: World): Cause | 'own' | 'late' | 'none' {
  const start = write.startedAt ?? write.at;
  const watched = world.knowledge.of(write.actor).watched.get(object.uid);
  const before = object.versions.slice(Math.max(0, index - MAX_BETWEEN), index).toReversed();
  const [last] = before;
  if (last?.author !== undefined && sameActor(last.author.actor, write.actor)) return 'own';
  for (const { author, token } of before) {
    if (author === undefined) return 'none';
    const seen = watched?.get(token);
    // What came while it was on its way did not cause it.
    if (sameActor(author.actor, write.actor) || (seen !== undefined && seen > start)) continue;
    if (seen === undefined) return 'none';
    const delayMs = start - seen;
    return delayMs <= REACTION_MS ? { by: actorKey(author.actor), timing: { start, delayMs } } : 'late';
  }
  return 'late';
}

/** Fields that a version sets to what neither any version before it had there, nor the one just before anywhere. */
function newIn({ object, index, version, previous }: VersionChange): string[] {
  const [before, { leaves }] = [previous?.leaves, version];
  if (before === undefined || leaves === undefined) return [];
  const said = new Set([...before].map(([, value]) => value));
  const earlier = object.versions.slice(0, index);
  return [...changedPaths(before, leaves), ...changedTimes(before, leaves)].filter((path) => {
    const value = leaves.get(path);
    return value !== undefined && !said.has(value) && earlier.every((other) => other.leaves?.get(path) !== value);
  });
}

function report({ object }: VersionChange, answers: readonly Answer[], world: World): void {
  const names = [...new Set(answers.map(({ name }) => name))];
  const [first, last] = [answers[0], answers.at(-1)];
  if (first === undefined || last === undefined) return;
  const fields = outermost(answers.flatMap((one) => one.fields));
  const seconds = ((last.at - first.at) / 1000).toFixed(1);
  world.report({
    key: ['update-loop', 'mutual', object.cluster, ...new Set(answers.map(({ by }) => by))].sort().join('\0'),
    id: 'update-loop',
    kind: 'mutual',
    cluster: object.cluster,
    object: findingObject(object),
    actors: names,
    fields,
    at: last.at,
    total: answers.length,
    events: answers.map(({ seq }) => seq),
    explanation: message`${allOf(names)} wake each other: in ${seconds} s they wrote ${answers.length} times, each right after it was given what the other had written, and each time something new (${fields.slice(0, 6).join(', ')}), with nobody else in between.`,
    remedy: message`Let each act only when what it depends on has changed (compare its input, or a hash of it, with what it last acted on), and write nothing that changes with every pass, such as a time or a counter.`,
  });
}
