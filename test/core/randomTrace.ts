import fc from 'fast-check';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import { TraceBuilder } from './traceBuilder.ts';

const uid = fc.constantFrom('U1', 'U2', 'U3');
const token = fc.integer({ min: 1, max: 12 }).map((number) => `v${number}`);
const stream = fc.constantFrom('s1', 's2');
const name = fc.constantFrom('demo', 'other');

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('modified' as const),
      uid,
      token,
      stream,
      name,
      spec: fc.nat(3),
      status: fc.nat(3),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('list' as const), uid, token, stream, name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('added' as const), uid, token, stream, name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('get' as const), uid, token, name }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      uid,
      token,
      name,
      base: token,
      outcome: fc.constantFrom('accepted' as const, 'version-conflict' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('absent' as const),
      uid,
      name,
      how: fc.constantFrom('event' as const, 'list' as const, '404' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('gap' as const), name }) },
);

/** Any sequence of things that may be seen or done: also ones that no server would show. */
export const randomTrace: fc.Arbitrary<TraceEvent[]> = fc.array(step, { maxLength: 30 }).map((steps) => {
  const trace = new TraceBuilder();
  for (const one of steps) {
    trace.name = { ...trace.name, name: one.name };
    switch (one.do) {
      case 'modified':
        trace.modified(one.uid, one.token, { spec: { a: one.spec }, status: { b: one.status } }, one.stream);
        break;
      case 'list':
        trace.list(one.uid, one.token, { spec: { a: 0 } }, one.stream);
        break;
      case 'added':
        trace.added(one.uid, one.token, {}, one.stream);
        break;
      case 'get':
        trace.seen(trace.object(one.uid, one.token), { via: 'get' });
        break;
      case 'write':
        trace.write({
          outcome: one.outcome,
          preconditions: { token: one.base },
          ...(one.outcome === 'accepted' ? { result: { uid: one.uid, token: one.token } } : {}),
        });
        break;
      case 'absent':
        trace.absent(one.how, { uid: one.uid });
        break;
      case 'gap':
        trace.gap();
        break;
    }
  }
  return trace.events;
});
