import assert from 'node:assert/strict';
import { createDetector } from '../../src/core/findings/detect.ts';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import { Session } from '../../src/editor/session/session.ts';
import { RecordingSession } from '../../src/recorder/session.ts';
import { FakeClock, until } from '../kube/fakeClock.ts';
import { configMap, data, findingsOf, Scenario, toy } from './scenario.ts';

/** A lost update, the last that happens for long. */
function lostUpdate(s: Scenario): void {
  s.stream(toy(), 'u1', 'v1', data({ a: '1', b: '1' }));
  s.get('A', toy(), 'u1', 'v1');
  s.stream(toy(), 'u1', 'v2', data({ a: '2', b: '1' }));
  s.wait(5_000);
  s.write('A', toy(), 'replace', { body: data({ a: '1', b: '2' }), result: { uid: 'u1', token: 'v3' } });
  s.observe(toy(), 'u1', 'v3', data({ a: '1', b: '2' }), { via: 'write' });
}

const lag = { metadata: { generation: 2 }, status: { observedGeneration: 1 } };

describe('findings on a quiet cluster', () => {
  it('are told when their time has come, without another event', () => {
    const s = new Scenario();
    lostUpdate(s);
    const detector = createDetector();
    for (const event of s.events) detector.add(event);
    assert.deepEqual(detector.findings(), []);
    const due = detector.due();
    assert.equal(due, s.at - 100 + 2_000);
    assert.deepEqual(detector.advance(due - 1), []);
    assert.deepEqual(
      detector.advance(due).map(({ id }) => id),
      ['lost-update'],
    );
    assert.deepEqual(detector.findings(), s.findings());
  });

  it('are told in time of one object while another one never rests', () => {
    const s = new Scenario();
    s.stream(configMap('busy'), 'b', 'b0', data({ n: '0' }));
    lostUpdate(s);
    const detector = createDetector();
    for (const event of s.events.splice(0)) detector.add(event);
    const told: [number, string][] = [];
    const start = s.at;
    for (let pass = 1; pass <= 20; pass += 1) {
      s.wait(400);
      s.stream(configMap('busy'), 'b', `b${pass}`, data({ n: String(pass) }));
      for (const event of s.events.splice(0))
        for (const { id } of detector.add({ ...event, seq: 100 + pass })) told.push([s.at - start, id]);
    }
    assert.deepEqual(told, [[2_000, 'lost-update']]);
  });

  it('nothing waits once everything was told', () => {
    const s = new Scenario();
    lostUpdate(s);
    s.observe(toy('slow'), 'u2', 'w1', lag);
    const detector = createDetector();
    for (const event of s.events) detector.add(event);
    const found: string[] = [];
    for (let due = detector.due(); due !== undefined; due = detector.due())
      found.push(...detector.advance(due).map(({ id }) => id));
    assert.deepEqual(found, ['lost-update', 'generation-lag']);
  });

  it('are told of a recording whose end was quiet, and of its trace', () => {
    const s = new Scenario();
    s.observe(toy('slow'), 'u2', 'w1', lag);
    for (const [quietMs, told] of [
      [29_000, []],
      [31_000, ['generation-lag']],
    ] as const) {
      const trace: TraceEvent[] = [];
      const session = new RecordingSession((event) => trace.push(event));
      for (const { seq: _seq, ...event } of s.events) session.add(event);
      const found = session.end({ at: s.at + quietMs, cluster: 'c1' });
      assert.deepEqual(
        found.map(({ id }) => id),
        told,
      );
      assert.deepEqual(findingsOf(trace), found);
    }
  });

  it('are the same in an exported trace as live, at every moment', async () => {
    const clock = new FakeClock();
    const session = new Session(
      (error) => assert.fail(String(error)),
      () => ({}),
      clock,
    );
    try {
      assert.deepEqual([...session.exported()], []);
      const s = new Scenario();
      s.at = clock.now();
      lostUpdate(s);
      s.observe(toy('slow'), 'u2', 'w1', lag);
      await clock.advance(s.at - clock.now());
      session.append(s.events.map(({ seq: _seq, ...event }) => event));
      const told: string[] = [];
      for (const waitMs of [0, 2_500, 1_000, 26_000, 2_000]) {
        await clock.advance(waitMs);
        const trace = [...session.exported()];
        assert.deepEqual(
          trace.map(({ seq }) => seq),
          [...s.events.map(({ seq }) => seq), s.events.length + 1],
        );
        const detector = createDetector();
        for (const event of trace) detector.add(event);
        assert.deepEqual(detector.findings(), session.findings());
        told.push(
          detector
            .findings()
            .map(({ id }) => id)
            .join(' '),
        );
      }
      assert.deepEqual(told, ['', '', 'lost-update', 'lost-update', 'lost-update generation-lag']);
    } finally {
      session.dispose();
    }
  });

  it('say nothing of a lag while nobody looks, and count anew from when somebody does', () => {
    const lags = (resumed: boolean | undefined, scope: object = {}, caughtUp = false): number[] => {
      const s = new Scenario();
      s.observe(toy('slow'), 'u2', 'w1', lag);
      const from = s.at;
      const gap = {
        type: 'gap',
        gap: 'g',
        scope: { group: 'example.test', resource: 'toys', ...scope },
        cause: 'idle',
      } as const;
      s.wait(9_800);
      s.push({ ...gap, from: s.at });
      s.wait(99_900);
      if (caughtUp) s.observe(toy('slow'), 'u2', 'w2', { ...lag, status: { observedGeneration: 2 } }, { via: 'get' });
      if (resumed !== undefined) s.push({ ...gap, from: s.at - 100_000, to: s.at, ...(resumed ? { resumed } : {}) });
      if (resumed === false) s.observe(toy('slow'), 'u2', 'w1', lag, { via: 'list' });
      s.wait(40_000);
      s.gone(configMap(), 'other');
      return findingsOf(s.events)
        .filter(({ id }) => id === 'generation-lag')
        .map(({ firstAt }) => firstAt - from);
    };
    assert.deepEqual(lags(undefined), []);
    assert.deepEqual(lags(true), [109_900]);
    assert.deepEqual(lags(true, {}, true), []);
    assert.deepEqual(lags(false), [110_000]);
    assert.deepEqual(lags(undefined, { namespace: 'elsewhere' }), [0]);
    assert.deepEqual(lags(undefined, { resource: 'others' }), [0]);
  });

  it('come up in the live session by themselves, and nothing ticks where nothing waits', async () => {
    const clock = new FakeClock();
    const session = new Session(
      (error) => assert.fail(String(error)),
      () => ({}),
      clock,
    );
    try {
      const s = new Scenario();
      s.at = clock.now();
      lostUpdate(s);
      s.observe(toy('slow'), 'u2', 'w1', lag);
      await clock.advance(s.at - clock.now());
      session.append(s.events.map(({ seq: _seq, ...event }) => event));
      assert.equal(clock.pending, 1);
      const told = (): string[] => session.findings().map(({ id }) => id);
      const news: string[] = [];
      session.onDidChange(({ findings }) => news.push(...findings.map(({ id }) => id)));
      await clock.advance(2_500);
      assert.deepEqual(told(), []);
      await clock.advance(1_000);
      assert.deepEqual(told(), ['lost-update']);
      await clock.advance(30_000);
      assert.deepEqual(told(), ['lost-update', 'generation-lag']);
      assert.equal(clock.pending, 0);
      await until(() => news.includes('generation-lag'), 'the news');
      assert.deepEqual(news, ['lost-update', 'generation-lag']);
    } finally {
      session.dispose();
    }
    assert.equal(clock.pending, 0);
  });
});
