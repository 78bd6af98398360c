import { message } from '../../../base/message.ts';
import { equalJson, isJsonObject, type JsonObject } from '../../../codec/json.ts';
import { keepLast } from '../../keepLast.ts';
import type { GapEvent, ObjectName, ObservedEvent } from '../../traceEvent.ts';
import { actorName, writerKey } from '../knowledge.ts';
import { isTimekeeping, leavesOf, outermost } from '../leaves.ts';
import type { ObjectState, VersionRecord } from '../objectState.ts';
import type { Rule, Timed, VersionChange } from '../rule.ts';
import { findingObject, type World } from '../world.ts';

interface Lag {
  readonly object: ObjectState;
  readonly since: number;
  readonly seq: number;
  readonly due: number;
  generation: number;
  observed: number;
}

const [MAX_LAGS, MAX_HIDDEN] = [20_000, 1_000];

/** `generation-lag`: observedGeneration stays behind for a while. `ignored-part`: the endpoint ignored a part of a write. */
export class StatusRule implements Rule, Timed {
  readonly timed = this;
  private readonly lags = new Map<string, Lag>();
  /** Those that were told, until it is known how long they lasted. */
  private readonly told = new Map<string, Lag>();
  /** By the gap that hides them: what nobody looks at is not known to lag. */
  private readonly hidden = new Map<string, readonly (readonly [string, Lag])[]>();

  observed(event: ObservedEvent, object: ObjectState, version: VersionRecord, world: World): void {
    const key = `${object.cluster}\0${object.uid}`;
    const { generation, observedGeneration } = event;
    if (object.latest !== version || event.deletionTimestamp !== undefined) return;
    if (generation === undefined || observedGeneration === undefined || observedGeneration >= generation) {
      this.lags.delete(key);
      const told = this.told.get(key);
      if (told === undefined) return;
      this.told.delete(key);
      reportLag(told, event.at, world);
      return;
    }
    const known = this.lags.get(key);
    if (known === undefined || known.observed < observedGeneration) {
      this.lags.delete(key);
      const { seq, at: since } = event;
      const lag = { object, since, seq, due: dueOf(world), generation, observed: observedGeneration };
      keepLast(this.lags, key, lag, MAX_LAGS);
    } else known.generation = generation;
  }

  gap(event: GapEvent, world: World): void {
    const key = `${event.cluster}\0${event.gap}`;
    const own = [...this.lags].filter(([, { object }]) => isWithin(event, object.cluster, object.name));
    const unseen = [...(this.hidden.get(key) ?? []), ...own];
    for (const [lag] of own) this.lags.delete(lag);
    for (const [lag, { object }] of this.told) if (isWithin(event, object.cluster, object.name)) this.told.delete(lag);
    this.hidden.delete(key);
    if (event.resumed === true) {
      for (const [lag, of] of unseen)
        // Others may have shown meanwhile that it went on.
        if (!this.lags.has(lag) && of.object.latest?.observedGeneration === of.observed)
          this.lags.set(lag, { ...of, since: event.at, due: dueOf(world) });
    } else if (event.to === undefined) keepLast(this.hidden, key, unseen, MAX_HIDDEN);
  }

  due(): number | undefined {
    return this.lags.values().next().value?.due;
  }

  time(now: number, world: World): void {
    for (const [key, lag] of this.lags) {
      if (lag.due > now) break;
      this.lags.delete(key);
      if (lag.object.gone !== undefined) continue;
      keepLast(this.told, key, lag, MAX_LAGS);
      reportLag(lag, now, world);
    }
  }

  judged(change: VersionChange, world: World): void {
    const { write, version, object } = change;
    if (write === undefined || version.leaves === undefined || version.derived || !isJsonObject(write.body)) return;
    if (write.verb !== 'replace' && write.verb !== 'patch' && write.verb !== 'create') return;
    if (write.subresource !== undefined && write.subresource !== 'status') return;
    const base =
      write.preconditions?.token === undefined
        ? change.previous
        : (object.version(write.preconditions.token) ?? change.previous);
    if (write.verb !== 'create' && base?.leaves === undefined) return;
    const toStatus = write.subresource === 'status';
    const { status, ...rest } = write.body;
    if (!toStatus && (status === undefined || equalJson(status, version.body?.['status']))) return;
    const part: JsonObject = toStatus || status === undefined ? rest : { status };
    const ignored = [...leavesOf(part)].filter(([path, value]) => {
      if (
        path.startsWith('\0') ||
        isTimekeeping(path) ||
        path.startsWith('.status') === toStatus ||
        path.startsWith('.metadata.finalizers')
      )
        return false;
      const stored = version.leaves?.get(path);
      const before = base?.leaves?.get(path);
      const trivial = before === undefined && /^(""|0|false|\+)$/.test(value);
      return !trivial && value !== before && stored === before && stored !== value;
    });
    if (ignored.length === 0) return;
    const who = actorName(write.actor);
    const fields = outermost(ignored.map(([path]) => path));
    const where = toStatus
      ? message`the status subresource takes only the status`
      : message`the main endpoint takes no status where there is a status subresource`;
    world.report({
      key: ['ignored-part', toStatus ? 'spec' : 'status', writerKey(write)].join('\0'),
      id: 'ignored-part',
      kind: toStatus ? 'spec' : 'status',
      cluster: object.cluster,
      object: findingObject(object),
      actors: [who],
      fields,
      at: write.at,
      events: [write.seq],
      explanation: message`${who} sent ${fields.slice(0, 8).join(', ')} to an endpoint that ignores it: ${where}. The answer holds what was stored before.`,
      remedy: message`Send both parts apart: first the main object, then the status to /status, the second one based on the answer to the first.`,
    });
  }
}

/** When one that begins now has lasted for long enough. */
function dueOf({ now, thresholds }: World): number {
  return now + thresholds.generationLagMs;
}

function isWithin({ cluster, scope }: GapEvent, ofCluster: string, name: ObjectName): boolean {
  return (
    cluster === ofCluster &&
    scope.group === name.group &&
    scope.resource === name.resource &&
    (scope.namespace === undefined || scope.namespace === name.namespace) &&
    (scope.name === undefined || scope.name === name.name)
  );
}

function reportLag(lag: Lag, now: number, world: World): void {
  const { object, generation, observed } = lag;
  world.report({
    key: ['generation-lag', object.cluster, String(lag.seq)].join('\0'),
    id: 'generation-lag',
    cluster: object.cluster,
    object: findingObject(object),
    actors: [],
    fields: ['.status.observedGeneration'],
    from: lag.since,
    at: now,
    total: 1,
    events: [lag.seq],
    explanation: message`observedGeneration of ${object.name.name} was ${observed} for ${Math.round((now - lag.since) / 1000)} s while its generation was ${generation}: what its status says is about an older desired state.`,
    remedy: message`Look at the controller of this kind: is it running, and does it write observedGeneration last, for the generation that it really acted on?`,
    details: { generation, observedGeneration: observed },
  });
}
