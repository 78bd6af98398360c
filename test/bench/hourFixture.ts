import { printTraceLine, traceHeader } from '../../src/core/trace.ts';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import { seeded } from './traceFixture.ts';

/** When the recorded hour begins, and how long it is. */
export const HOUR_START = 1_780_000_000_000;
export const HOUR_MS = 3_600_000;

/**
 * The events of a recorded hour of a busy cluster, made and never stored: Deployments read as metadata, most of whose versions
 * move the status, with refused writes, recreations and gaps. The same for the same number.
 */
export function* hourEvents(events: number, objects = 400): Iterable<TraceEvent> {
  const random = seeded(11);
  const lives = Array.from({ length: objects }, () => ({
    life: 0,
    generation: 1,
    observed: 1,
    token: '',
    there: false,
  }));
  for (let seq = 1; seq <= events; seq += 1) {
    // Some objects are far busier than others.
    const index = Math.floor(random() ** 2 * objects);
    const one = lives[index];
    if (one === undefined) continue;
    const name = { group: 'apps', resource: 'deployments', namespace: `team-${index % 8}`, name: `service-${index}` };
    const base = { seq, at: HOUR_START + Math.floor((seq / events) * HOUR_MS), cluster: 'c1' };
    const uid = `${String(index).padStart(8, '0')}-0000-4000-8000-${String(one.life).padStart(12, '0')}`;
    const dice = random();
    if (one.there && dice < 0.001) {
      one.there = false;
      one.life += 1;
      yield { ...base, via: 'watch', type: 'absent', name, uid, how: 'event', stream: 's1' };
    } else if (one.there && dice < 0.02) {
      const preconditions = { uid, token: one.token };
      const actor = { client: `operator-${index % 5}` };
      const refused = { outcome: 'version-conflict', code: 409, reason: 'Conflict' } as const;
      yield { ...base, via: 'recorder', type: 'write', actor, verb: 'replace', name, preconditions, ...refused };
    } else if (dice > 0.9998) {
      const scope = { group: 'apps', resource: 'deployments' };
      yield {
        ...base,
        via: 'watch',
        type: 'gap',
        gap: `g${seq}`,
        scope,
        from: base.at,
        to: base.at + 500,
        cause: 'relist',
      };
    } else {
      const change = one.there ? 'MODIFIED' : 'ADDED';
      if (one.there && dice > 0.93) one.generation += 1;
      else one.observed = one.generation;
      Object.assign(one, { there: true, token: `t${seq}` });
      const { generation, observed: observedGeneration, token } = one;
      const what = { uid, token, kind: 'Deployment', apiVersion: 'apps/v1', generation, observedGeneration };
      yield { ...base, via: 'watch', type: 'observed', name, ...what, stream: 's1', change };
    }
  }
}

/** The same as lines of a trace file. */
export function* hourLines(events: number): Iterable<string> {
  yield printTraceLine(traceHeader('bench', { c1: { label: 'busy' } }, HOUR_START));
  for (const event of hourEvents(events)) yield printTraceLine(event);
}
