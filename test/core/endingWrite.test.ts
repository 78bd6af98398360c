import assert from 'node:assert/strict';
import { endingWrite } from '../../src/core/endingWrite.ts';
import type { TraceEvent, WriteEvent } from '../../src/core/traceEvent.ts';
import { MARK_KINDS } from '../../src/core/timeline/model.ts';
import { describeEvent } from '../../src/core/timeline/details.ts';
import { detailContext } from '../../src/core/timeline/detailParts.ts';
import { english } from '../../src/core/timeline/translate.ts';
import { projected } from './timeline/demoModel.ts';
import { TraceBuilder } from './traceBuilder.ts';

/** What is known of each ended life: the actor and by what; `-` where it is not known. */
function endings(trace: TraceBuilder): string[] {
  const { at } = trace;
  return at.incarnations
    .filter(({ end }) => end !== undefined)
    .map((incarnation) => {
      const found = endingWrite(at, incarnation);
      return found === undefined ? '-' : `${found.write.actor.client} ${found.known}`;
    });
}

function deletion(trace: TraceBuilder, client: string, facts: Partial<WriteEvent> = {}): TraceEvent {
  return trace.write({ verb: 'delete', actor: { client }, ...facts });
}

function terminating(trace: TraceBuilder, uid: string, token: string): void {
  const metadata = { deletionTimestamp: '2026-11-29T14:00:00Z', finalizers: ['example.test/hold'] };
  trace.seen(trace.object(uid, token, {}, metadata), { change: 'MODIFIED' });
}

/** Cases: what was recorded besides the life of `u1`, and who ended it. */
const CASES: Readonly<Record<string, { readonly play: (trace: TraceBuilder) => void; readonly known: string }>> = {
  'an answer that nothing is left tells': {
    play: (trace) => {
      deletion(trace, 'A', { result: { uid: 'u1', token: '' } });
      trace.absent('event', { uid: 'u1', token: 'z' });
    },
    known: 'A gone',
  },
  'the answer may come after the end was seen': {
    play: (trace) => {
      trace.absent('event', { uid: 'u1', token: 'z' });
      deletion(trace, 'A', { result: { uid: 'u1', token: '' } });
    },
    known: 'A gone',
  },
  'the version of the deletion tells': {
    play: (trace) => {
      deletion(trace, 'A', { result: { uid: 'u1', token: 'z' } });
      trace.absent('event', { uid: 'u1', token: 'z' });
    },
    known: 'A version',
  },
  'of what waits for a finalizer, whoever took the last one away': {
    play: (trace) => {
      deletion(trace, 'A', { result: { uid: 'u1', token: 'b' } });
      terminating(trace, 'u1', 'b');
      trace.write({ verb: 'patch', actor: { client: 'B' }, result: { uid: 'u1', token: 'b', released: true } });
      trace.absent('event', { uid: 'u1', token: 'z' });
    },
    known: 'B released',
  },
  'of what waits for a finalizer, not who asked for it': {
    play: (trace) => {
      deletion(trace, 'A', { result: { uid: 'u1', token: 'b' } });
      terminating(trace, 'u1', 'b');
      trace.absent('event', { uid: 'u1', token: 'z' });
    },
    known: '-',
  },
  'an answer that was not kept is enough where no other deletion was accepted': {
    play: (trace) => {
      deletion(trace, 'A');
      trace.absent('event', { uid: 'u1', token: 'z' });
    },
    known: 'A only',
  },
  'two deletions without answers tell nothing': {
    play: (trace) => {
      deletion(trace, 'A');
      deletion(trace, 'B');
      trace.absent('event', { uid: 'u1', token: 'z' });
    },
    known: '-',
  },
  'a deletion of another UID, a dry run and a refused one are none': {
    play: (trace) => {
      deletion(trace, 'A', { result: { uid: 'u0', token: '' } });
      deletion(trace, 'B', { preconditions: { uid: 'u0' } });
      deletion(trace, 'C', { dryRun: true, result: { uid: 'u1', token: '' } });
      deletion(trace, 'D', { outcome: 'version-conflict' });
      trace.absent('event', { uid: 'u1', token: 'z' });
    },
    known: '-',
  },
};

describe('the write that ended an incarnation', () => {
  for (const [name, { play, known }] of Object.entries(CASES)) {
    it(name, () => {
      const trace = new TraceBuilder();
      trace.added('u1', 'a', { spec: { n: 1 } });
      play(trace);
      assert.deepEqual(endings(trace), [known]);
      // The mark of the end is that actor's, however the events are batched.
      const actor = known === '-' ? '' : (known.split(' ')[0] ?? '');
      for (const batch of [1, 2, trace.events.length]) {
        const { marks, strings } = projected(trace.events, [], batch).projection.model();
        const mark = marks.kind.indexOf(MARK_KINDS.indexOf('deleted'));
        assert.equal(strings[marks.actor[mark] ?? 0], actor, `in batches of ${batch}`);
      }
    });
  }

  it('is told for each life of a name', () => {
    const trace = new TraceBuilder();
    for (const [uid, client] of [
      ['u1', 'A'],
      ['u2', 'B'],
    ] as const) {
      trace.added(uid, `${uid}-a`, {});
      deletion(trace, client);
      trace.absent('event', { uid, token: `${uid}-z` });
    }
    assert.deepEqual(endings(trace), ['A only', 'B only']);
  });

  it('is in the details, with what tells so; without it, who asked and that the rest was not seen', () => {
    const detailsOf = (play: (trace: TraceBuilder) => void): string[] => {
      const trace = new TraceBuilder();
      trace.added('u1', 'a', { spec: { n: 1 } });
      play(trace);
      const { history } = trace;
      const context = detailContext({
        history,
        clusterLabel: () => '',
        translate: english,
        timeZoneOffsetMin: 0,
        eventAt: () => undefined,
      });
      const event = trace.events.find(({ type }) => type === 'absent') ?? assert.fail();
      const { facts = [] } = describeEvent(context, event, undefined) ?? {};
      return facts.map(({ label, value, remark }) => `${label}: ${value}${remark === undefined ? '' : ` (${remark})`}`);
    };
    const played = (name: string): string[] => detailsOf(CASES[name]?.play ?? assert.fail());
    assert.deepEqual(played('of what waits for a finalizer, whoever took the last one away'), [
      'how: seen by the watch',
      'writer: B (patch)',
      'asked for by: A',
      'known by: the write took the last finalizer away',
      'uid: u1',
    ]);
    assert.deepEqual(played('of what waits for a finalizer, not who asked for it'), [
      'how: seen by the watch',
      'asked for by: A',
      'writer: not known (who let it go was not seen)',
      'uid: u1',
    ]);
    assert.deepEqual(played('two deletions without answers tell nothing'), [
      'how: seen by the watch',
      'writer: not known',
      'uid: u1',
    ]);
  });
});
