import { isJsonObject } from '../../../codec/json.ts';
import { nameKey } from '../../history.ts';
import type { WriteEvent } from '../../traceEvent.ts';
import { actorName, sameActor } from '../knowledge.ts';
import { leavesOf } from '../leaves.ts';
import type { Rule, VersionChange } from '../rule.ts';
import { writtenObject, type World } from '../world.ts';

type Settled = 'unknown' | 'written' | 'not-written';

interface Lost {
  readonly event: WriteEvent;
  settled: Settled;
}

const MAX_LOST = 500;

/** `uncertain-write`: the answer to a write was lost; how it was settled, also by a conflict of its sender with itself. */
export class UncertainRule implements Rule {
  private readonly lost = new Map<string, Lost>();

  write(event: WriteEvent, world: World): void {
    const key = `${nameKey(event.cluster, event.name)}\0${event.subresource ?? ''}`;
    const open = this.lost.get(key);
    if (event.outcome === 'uncertain' || event.outcome === 'cancelled') {
      this.lost.set(key, { event, settled: 'unknown' });
      const oldest = this.lost.size > MAX_LOST ? this.lost.keys().next().value : undefined;
      if (oldest !== undefined) this.lost.delete(oldest);
      // Who gave up waiting knows that; only what follows from it is worth telling.
      if (event.outcome === 'uncertain')
        report(event, 'unknown', 'What became of it is not known yet.', [event.seq], undefined, world);
      return;
    }
    if (open === undefined || !sameActor(open.event.actor, event.actor) || open.settled !== 'unknown') return;
    const token = open.event.preconditions?.token;
    const sameToken = token !== undefined && token !== '' && token === event.preconditions?.token;
    if (event.outcome === 'version-conflict' && sameToken && !this.others(event, token, world)) {
      open.settled = 'written';
      report(
        open.event,
        'written',
        'It was repeated with the same token and refused, and nobody else is known to have written: most likely it had been stored, and its sender was in conflict with itself.',
        [open.event.seq, event.seq],
        'self-conflict',
        world,
      );
    } else if (event.outcome === 'accepted' && sameToken) {
      open.settled = 'not-written';
      if (open.event.outcome === 'uncertain')
        report(
          open.event,
          'not-written',
          'The same token was accepted afterwards, so it had not been stored.',
          [open.event.seq, event.seq],
          undefined,
          world,
        );
    }
  }

  judged(change: VersionChange, world: World): void {
    const { object, version } = change;
    if (version.leaves === undefined || version.author !== undefined) return;
    for (const subresource of ['', 'status']) {
      const open = this.lost.get(`${nameKey(object.cluster, object.name)}\0${subresource}`);
      if (
        open === undefined ||
        open.settled !== 'unknown' ||
        version.seq < open.event.seq ||
        !isJsonObject(open.event.body)
      )
        continue;
      const asked = leavesOf(open.event.body);
      const part = (path: string): boolean => path.startsWith('.status') === (subresource === 'status');
      const stored = [...asked].every(([path, value]) => !part(path) || version.leaves?.get(path) === value);
      if (!stored) continue;
      open.settled = 'written';
      if (open.event.outcome === 'uncertain')
        report(
          open.event,
          'written',
          `The version ${version.token}, which no other write explains, holds all that it asked for.`,
          [open.event.seq, version.seq],
          undefined,
          world,
        );
    }
  }

  private others(event: WriteEvent, token: string, world: World): boolean {
    const object = world.target(event);
    const index = object?.indexOf(token) ?? -1;
    const next = index < 0 ? undefined : object?.versions[index + 1];
    return next?.author !== undefined && !sameActor(next.author.actor, event.actor);
  }
}

function report(
  event: WriteEvent,
  settled: Settled,
  how: string,
  events: readonly number[],
  kind: string | undefined,
  world: World,
): void {
  const who = actorName(event.actor);
  world.report({
    key: ['uncertain-write', String(event.seq)].join('\0'),
    id: 'uncertain-write',
    ...(kind === undefined ? {} : { kind }),
    cluster: event.cluster,
    object: writtenObject(event, world),
    actors: [who],
    fields: [],
    at: event.at,
    total: 1,
    events,
    explanation: `The answer to a write of ${who} was lost. ${how}`,
    remedy:
      'After a lost answer, read again and compare before you write once more; never repeat a write that carries no token.',
    details: { settled },
  });
}
