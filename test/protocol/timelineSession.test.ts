import assert from 'node:assert/strict';
import { Emitter } from '../../src/base/emitter.ts';
import { toDisposable } from '../../src/base/disposable.ts';
import { EventLog } from '../../src/core/eventLog.ts';
import type { TimelineFinding } from '../../src/core/timeline/model.ts';
import { isHostToTimeline, type HostToTimeline } from '../../src/protocol/timeline.ts';
import { TimelineSession, type TimelineActions } from '../../src/protocol/timelineSession.ts';
import { demo } from '../webview/scenario.ts';

/** A session over a real log, a view that only writes down what it gets, and timers that the test fires. */
function session() {
  const log = new EventLog();
  const changed = new Emitter<void>(() => undefined);
  const sent: unknown[] = [];
  const problems: string[] = [];
  const timers = new Set<() => void>();
  const state = { findings: [] as readonly TimelineFinding[] };
  let listener: (message: unknown) => void = () => undefined;
  const calls: string[] = [];
  const record = (name: string) => async (): Promise<never> => {
    calls.push(name);
    return undefined as never;
  };
  const actions: TimelineActions = {
    openDiff: record('openDiff'),
    revealInTree: record('revealInTree'),
    safeEdit: record('safeEdit'),
    showRelated: record('showRelated'),
    openFinding: record('openFinding'),
    copy: record('copy'),
    scrub: record('scrub'),
    exportTrace: async () => true,
    saveImage: async () => false,
    sharedModel: record('sharedModel'),
  };
  const made = new TimelineSession({
    port: {
      post: (message) => void sent.push(structuredClone(message)),
      onMessage: (next) => {
        listener = next;
        return toDisposable(() => {
          listener = () => undefined;
        });
      },
    },
    source: log,
    findings: { all: () => state.findings, onDidChange: changed.event },
    actions,
    clusterLabel: () => 'kind-dev',
    settings: { timeZoneOffsetMin: 0, followMs: 1000, hasCluster: true },
    translations: {},
    schedule: (_delayMs, run) => {
      timers.add(run);
      return toDisposable(() => timers.delete(run));
    },
    onProblem: (problem) => void problems.push(problem),
  });
  return {
    log,
    sent,
    problems,
    calls,
    timers,
    session: made,
    tell: (message: unknown) => listener(message),
    setFindings: (findings: readonly TimelineFinding[]) => {
      state.findings = findings;
      changed.fire(undefined);
    },
    fire: () => {
      for (const run of Array.from(timers)) {
        timers.delete(run);
        run();
      }
    },
    types: () => sent.map((message) => (message as { type: string }).type),
    last: (): unknown => sent.at(-1),
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('timeline session', () => {
  it('sends nothing before the view is ready, then how to show and everything', () => {
    const { log, types, tell, timers } = session();
    log.appendAll(demo().events.slice(0, 5));
    assert.deepEqual([types(), timers.size], [[], 0]);
    tell({ type: 'ready', protocol: 1 });
    assert.deepEqual(types(), ['init', 'snapshot']);
  });

  it('gathers what comes into one append with the next sequence number', () => {
    const { log, sent, tell, fire, types } = session();
    tell({ type: 'ready', protocol: 1 });
    for (const event of demo().events.slice(0, 20)) log.append(event);
    assert.deepEqual(types(), ['init', 'snapshot']);
    fire();
    const append = sent.at(-1) as HostToTimeline;
    assert.ok(append.type === 'append');
    assert.deepEqual([append.sequence, append.delta.lastSeq], [2, 20]);
    assert.equal(isHostToTimeline(append, 'message'), undefined);
  });

  it('sends everything again to a view that was loaded anew or missed an append', () => {
    const { log, tell, types, fire, last } = session();
    tell({ type: 'ready', protocol: 1 });
    log.appendAll(demo().events);
    fire();
    tell({ type: 'resync', sequence: 2 });
    assert.deepEqual(types(), ['init', 'snapshot', 'append', 'snapshot']);
    tell({ type: 'ready', protocol: 1 });
    assert.deepEqual(types().slice(4), ['init', 'snapshot']);
    const message = last() as HostToTimeline;
    assert.ok(message.type === 'snapshot');
    assert.deepEqual([message.sequence, message.model.lanes.place.length], [4, 6]);
  });

  it('sends findings when they change', () => {
    const { log, tell, fire, last, setFindings } = session();
    const { events, findings } = demo();
    log.appendAll(events);
    tell({ type: 'ready', protocol: 1 });
    setFindings(findings);
    fire();
    const message = last() as HostToTimeline;
    assert.ok(message.type === 'append');
    assert.equal(message.delta.annotations?.length, 3);
  });

  it('refuses a view that speaks another protocol, in the log and not in silence', () => {
    const { tell, types, problems } = session();
    tell({ type: 'ready', protocol: 99 });
    assert.deepEqual(types(), []);
    assert.match(problems[0] ?? '', /protocol 99/);
  });

  it('answers details, and says so where nothing more is kept', async () => {
    const { log, tell, last } = session();
    log.appendAll(demo().events);
    tell({ type: 'request', id: 1, method: 'details', params: { event: 3 } });
    await settled();
    assert.equal((last() as { result: { event: number } }).result.event, 3);
    tell({ type: 'request', id: 2, method: 'details', params: { event: 9999 } });
    await settled();
    assert.deepEqual(last(), {
      type: 'failed',
      id: 2,
      code: 'not-found',
      message: 'Nothing more is kept about this event.',
      advice: '',
    });
  });

  it('passes what only the host can do on, and answers null', async () => {
    const { tell, calls, last } = session();
    const object = { cluster: 'c', group: '', resource: 'configmaps', namespace: 'n', name: 'x', uid: 'u' };
    tell({ type: 'request', id: 5, method: 'revealInTree', params: { object } });
    await settled();
    assert.deepEqual([calls, last()], [['revealInTree'], { type: 'reply', id: 5, result: null }]);
    tell({ type: 'request', id: 6, method: 'saveImage', params: { format: 'svg', data: '<svg/>' } });
    await settled();
    assert.deepEqual(last(), { type: 'reply', id: 6, result: { saved: false } });
  });

  it('shows what was asked for before the view was there, after everything', () => {
    const { session: made, tell, types } = session();
    for (const event of [1, 2, 3]) made.reveal(event);
    made.setFilter('ns:shop');
    assert.deepEqual(types(), []);
    tell({ type: 'ready', protocol: 1 });
    assert.deepEqual(types(), ['init', 'snapshot', 'reveal', 'setFilter']);
    tell({ type: 'resync', sequence: 1 });
    assert.equal(types().at(-1), 'snapshot');
  });

  it('sends nothing to a view that is hidden, and everything when it is there again', () => {
    const { log, session: made, tell, types, timers, last } = session();
    tell({ type: 'ready', protocol: 1 });
    log.appendAll(demo().events.slice(0, 5));
    made.disconnect();
    assert.equal(timers.size, 0);
    log.appendAll(demo().events.slice(5, 10));
    assert.deepEqual(types(), ['init', 'snapshot']);
    tell({ type: 'ready', protocol: 1 });
    assert.equal((last() as { model: { lastSeq: number } }).model.lastSeq, 10);
  });

  it('started again over another log sends that log and nothing of the one before', () => {
    const { log, session: made, tell, last } = session();
    log.appendAll(demo().events.slice(0, 5));
    tell({ type: 'ready', protocol: 1 });
    made.restart();
    const { model } = last() as { model: { lastSeq: number; marks: { at: Float64Array } } };
    assert.deepEqual([model.lastSeq, model.marks.at.length], [5, 5]);
  });

  it('leaves no timer when it is disposed', () => {
    const { log, tell, timers, session: made } = session();
    tell({ type: 'ready', protocol: 1 });
    log.appendAll(demo().events.slice(0, 3));
    assert.equal(timers.size, 1);
    made.dispose();
    assert.equal(timers.size, 0);
    log.appendAll(demo().events.slice(3, 6));
    assert.equal(timers.size, 0);
  });
});
