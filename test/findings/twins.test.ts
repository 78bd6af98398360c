import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import { reportText } from '../../src/core/findings/report/report.ts';
import { Play } from './play.ts';
import { configMap, data, findingsOf, Scenario, shortOf, toy } from './scenario.ts';

const map = configMap();
const demo = toy();
const told = (p: Play): string[] =>
  shortOf(findingsOf(p.trace('watch-first')).filter((finding) => finding.severity !== 'info'));

describe('findings of real controllers, and of their correct twins', () => {
  it('content that its writer was never given was not copied from there: it may want the same', () => {
    const p = new Play();
    p.create('user', demo, { spec: { replicas: 1, image: 'a:1' } });
    p.get('scaler', demo);
    p.patch('scaler', demo, { spec: { replicas: 3 } }, { type: 'merge-patch' });
    p.get('operator', demo);
    p.put('operator', demo, { spec: { replicas: 1, image: 'a:2' } }, { rv: p.tokenOf(demo) });
    assert.deepEqual(told(p), []);
  });

  it('who made an object with a value wants that value', () => {
    const p = new Play();
    p.create('operator', demo, { spec: { replicas: 1, image: 'a:1' } });
    p.get('scaler', demo);
    p.patch('scaler', demo, { spec: { replicas: 3 } }, { type: 'merge-patch' });
    p.get('operator', demo);
    p.put('operator', demo, { spec: { replicas: 1, image: 'a:2' } }, { rv: p.tokenOf(demo) });
    assert.deepEqual(told(p), []);
  });

  it('a refused body that comes back with no token at all is an unconditional overwrite', () => {
    const p = new Play();
    p.create('user', map, data({ ann: '1' }));
    const { resourceVersion: rv } = p.get('A', map)['metadata'] as { resourceVersion: string };
    p.get('B', map);
    p.put('B', map, data({ ann: '1', bob: '1' }), { rv });
    p.put('A', map, data({ ann: '1', cyd: '1' }), { rv });
    p.put('A', map, data({ ann: '1', cyd: '1' }));
    assert.deepEqual(told(p), ['lost-update/unconditional-overwrite']);
    const [loss] = findingsOf(p.trace('watch-first')).filter((finding) => finding.id === 'lost-update');
    assert.match(loss?.explanation ?? '', /refused before, sent again without a token/);
  });

  it('a heartbeat in an older status is a change of its own, the time of a transition belongs to the condition put back', () => {
    const ready = (more: JsonObject): JsonObject => ({ type: 'Ready', status: 'True', ...more });
    const backup = { type: 'Backup', status: 'True' };
    const play = (last: JsonObject[]): string[] => {
      const p = new Play();
      p.create('user', demo, { status: { conditions: [ready({})] } });
      p.get('A', demo);
      p.get('B', demo);
      p.put('B', demo, { status: { conditions: [ready({}), backup] } }, { rv: p.tokenOf(demo), sub: 'status' });
      p.get('A', demo);
      p.put('A', demo, { status: { conditions: last } }, { rv: p.tokenOf(demo), sub: 'status' });
      return told(p);
    };
    assert.deepEqual(play([ready({ lastHeartbeatTime: '2026-01-01T00:00:05Z' })]), ['lost-update/status']);
    assert.deepEqual(play([ready({})]), []);
    assert.deepEqual(play([ready({}), { ...backup, lastTransitionTime: '2026-01-01T00:00:05Z' }]), []);
  });

  it('a patch by position, sent right after another read, says what an older one held there', () => {
    const play = (by: string): string => {
      const p = new Play();
      const env = (...names: string[]): JsonObject => ({ spec: { env: names.map((name) => ({ name })) } });
      p.create('user', demo, env('A', 'B', 'C'));
      p.get('script', demo);
      p.put(by, demo, env('B', 'C'), { rv: p.tokenOf(demo) });
      p.get('script', demo);
      p.patch('script', demo, [{ op: 'remove', path: '/spec/env/1' }], { type: 'json-patch', gives: env('B') });
      const found = findingsOf(p.trace('watch-first')).filter(({ id }) => id === 'unguarded-patch');
      return found.map(({ explanation }) => explanation).join();
    };
    assert.match(play('other'), /it hit \.spec\.env\[name="C"\]\. In an older version .* held \.spec\.env\[name="B"\]/);
    assert.match(play('script'), /Nothing was lost this time/);
  });

  it('a timer that writes beside a watch is no update loop, a reaction at once is', () => {
    for (const pauseMs of [0, 250]) {
      const s = new Scenario();
      s.stream(demo, 'U1', 'v0', { status: { step: 0 } });
      s.watched('A', demo, 'U1', 'v0');
      for (let step = 1; step <= 14; step += 1) {
        s.wait(pauseMs);
        s.write('A', demo, 'replace', {
          subresource: 'status',
          preconditions: { token: `v${step - 1}` },
          body: { status: { step } },
          startedAt: s.at,
          result: { uid: 'U1', token: `v${step}` },
          stored: { status: { step } },
        });
        s.watched('A', demo, 'U1', `v${step}`);
      }
      assert.deepEqual(s.told(), pauseMs === 0 ? ['update-loop'] : [], String(pauseMs));
    }
  });

  it('a program that watches by one agent and writes by another is in a loop as one with one agent is; another client beside its watch, and one that reads itself, are not', () => {
    const watcher = { client: 'controller', agent: 'informers' };
    for (const [client, reads] of [
      ['controller', false],
      ['another', false],
      ['controller', true],
    ] as const) {
      const writer = { client, agent: 'writer' };
      const s = new Scenario();
      s.stream(demo, 'U1', 'v0', { status: { step: 0 } });
      for (let step = 1; step <= 14; step += 1) {
        s.get('', demo, 'U1', `v${step - 1}`, { verb: 'watch', actor: watcher });
        if (reads) s.wait(-60).get('', demo, 'U1', `v${step - 1}`, { actor: writer });
        const stored = { status: { step } };
        const result = { uid: 'U1', token: `v${step}` };
        s.write(writer, demo, 'replace', {
          preconditions: { token: `v${step - 1}` },
          body: stored,
          startedAt: s.at,
          result,
        });
        s.stream(demo, 'U1', `v${step}`, stored);
      }
      assert.deepEqual(s.told(), client === 'controller' && !reads ? ['update-loop'] : [], `${client} ${reads}`);
    }
  });

  it('a pass that writes one part after the other is no update loop where another object wakes it, and is one where its own last event does', () => {
    for (const isWoken of [true, false])
      for (const pauseMs of [20, 100, 900]) {
        const s = new Scenario();
        const at = (time: number): Scenario => s.wait(time - 100 - s.at);
        s.stream(demo, 'U1', 'v0', { spec: { n: 0 }, status: { n: 0 } });
        s.watched('A', demo, 'U1', 'v0');
        let version = 0;
        let time = s.at;
        for (let pass = 1; pass <= 14; pass += 1) {
          time += isWoken ? pauseMs + ((pass * 7_919) % 37) : 5;
          if (isWoken) at(time).watched('A', configMap('other'), 'U2', `w${pass}`);
          for (const subresource of [undefined, 'status']) {
            const startedAt = time + 2;
            const stored = { spec: { n: pass }, status: { n: subresource === undefined ? pass - 1 : pass } };
            const result = { uid: 'U1', token: `v${version + 1}` };
            at(startedAt + 4).write('A', demo, 'replace', {
              ...(subresource === undefined ? {} : { subresource }),
              preconditions: { token: `v${version}` },
              body: stored,
              startedAt,
              result,
            });
            time = startedAt + 5;
            at(time).watched('A', demo, 'U1', result.token);
            at(time).stream(demo, 'U1', result.token, stored);
            version += 1;
          }
        }
        assert.deepEqual(s.told(), isWoken ? [] : ['update-loop'], `woken ${isWoken}, ${pauseMs} ms`);
      }
  });

  it('a quick timer keeps its pauses however late its own event is, a reaction keeps its distance to it', () => {
    const random = (step: number): number => (step * 7_919) % 31;
    for (const isTimer of [true, false])
      for (const hasWatch of [true, false]) {
        const s = new Scenario();
        s.via = hasWatch ? 'recorder' : 'sandbox';
        s.stream(demo, 'U1', 'v0', { status: { step: 0 } });
        let next = s.at + 200;
        for (let step = 1; step <= 20; step += 1) {
          if (hasWatch) s.watched('A', demo, 'U1', `v${step - 1}`);
          const startedAt = isTimer ? Math.max(next, s.at) : s.at + 40 + (step % 2);
          next += 100;
          // The answer and its event take their time, each time another.
          s.at = startedAt + 10 + random(step) - 100;
          const stored = { status: { step } };
          const result = { uid: 'U1', token: `v${step}` };
          s.write('A', demo, 'replace', { preconditions: { token: `v${step - 1}` }, body: stored, startedAt, result });
          s.at -= 100;
          s.stream(demo, 'U1', `v${step}`, stored);
          if (hasWatch) s.at -= 100;
        }
        assert.deepEqual(s.told(), isTimer ? [] : ['update-loop'], `timer ${isTimer}, watch ${hasWatch}`);
      }
  });

  it('a child that had only just been shown when the next pass made another one is told; one shown long before, or before a time that nobody saw, is not', () => {
    for (const [shownMs, isSeen] of [
      [20, true],
      [400, true],
      [20, false],
    ] as const) {
      const s = new Scenario();
      const pod = (name: string) => ({ group: '', resource: 'pods', namespace: 'lab', name });
      const make = (name: string, uid: string): void => {
        s.write('A', pod(name), 'create', {
          startedAt: s.at + 90,
          code: 201,
          body: { metadata: { generateName: 'web-', ownerReferences: [{ kind: 'Toy', name: 'demo', uid: 'U1' }] } },
          result: { uid, token: `${uid}-1` },
        });
      };
      s.stream(demo, 'U1', 'v1', { spec: { size: 1 } });
      s.get('A', demo, 'U1', 'v1');
      make('web-a1', 'C1');
      s.get('A', demo, 'U1', 'v1');
      s.watched('A', pod('web-a1'), 'C1', 'C1-1');
      s.at += shownMs - 90;
      const scope = { group: 'example.test', resource: 'toys', namespace: 'lab' };
      if (!isSeen) s.push({ type: 'gap', gap: 'g', scope, from: s.at, to: s.at + 1, cause: 'restart' });
      if (!isSeen) s.at -= 100;
      make('web-b2', 'C2');
      const told = s.told().filter((id) => id !== 'watch-gap');
      assert.deepEqual(told, shownMs === 20 && isSeen ? ['stale-read/duplicate-create'] : [], `${shownMs} ${isSeen}`);
    }
  });

  it('a watch that went on from the last version it had been given missed nothing, and the words say so', () => {
    for (const resumed of [true, false]) {
      const s = new Scenario();
      const gap = {
        type: 'gap',
        gap: 'g1',
        scope: { group: '', resource: 'configmaps' },
        from: s.at,
        cause: 'idle',
      } as const;
      s.push(gap);
      s.push({ ...gap, to: s.at + 100, ...(resumed ? { resumed } : {}) });
      const [finding] = s.findings();
      assert.equal(finding?.id, 'watch-gap');
      assert.equal(/unknown/.test(finding.explanation), !resumed);
      assert.equal(/only late/.test(finding.explanation), resumed);
      assert.equal(/proof/.test(finding.remedy), !resumed);
    }
  });

  it('a create whose answer was lost is found again, and a second one that was made without a look is told', () => {
    for (const outcome of ['uncertain', 'cancelled'] as const)
      for (const again of [true, false]) {
        const s = new Scenario();
        const pod = (name: string) => ({ group: '', resource: 'pods', namespace: 'lab', name });
        const body = { metadata: { generateName: 'web-', labels: { app: 'web' } }, spec: { image: 'a:1' } };
        s.stream(pod('web-old'), 'C0', 'v1', body);
        s.wait(50);
        s.write('A', pod(''), 'create', { outcome, code: 0, body, startedAt: s.at });
        if (again) s.write('A', pod('web-b2'), 'create', { body, result: { uid: 'C2', token: 'v3' }, stored: body });
        s.stream(pod('web-a1'), 'C1', 'v2', body);
        const told = s.findings().filter((finding) => finding.severity !== 'info');
        const expected = again
          ? [['uncertain-write', 'duplicate-create', 'web-a1']]
          : outcome === 'uncertain'
            ? [['uncertain-write', undefined, 'web-a1']]
            : [];
        assert.deepEqual(
          told.map(({ id, kind, object }) => [id, kind, object.name]),
          expected,
          `${outcome} ${again}`,
        );
      }
  });

  it('a named create that was lost is settled by the next one', () => {
    for (const [outcome, settled] of [
      ['already-exists', 'written'],
      ['accepted', 'not-written'],
    ] as const) {
      const s = new Scenario();
      const body = data({ a: '1' });
      s.write('A', map, 'create', { outcome: 'uncertain', code: 502, body });
      s.write('A', map, 'create', {
        outcome,
        body,
        ...(outcome === 'accepted' ? { result: { uid: 'U1', token: 'v1' } } : {}),
      });
      const [finding] = s.findings();
      assert.equal(finding?.details?.['settled'], settled);
    }
  });

  it('a token is invented only where it was sent, not where it was guessed from what others were given', () => {
    const s = new Scenario();
    s.stream(map, 'U1', 'v1', data({ a: '1' }));
    s.get('A', map, 'U1', 'v1');
    s.write('A', map, 'delete', {
      preconditions: { uid: 'U1' },
      basedOn: { uid: 'U1', token: 'v9', known: 'given' },
      result: { uid: 'U1', token: '' },
    });
    assert.deepEqual(s.told(), []);
  });

  it('a carried value is told also where the watch shows what was written before the answer comes', () => {
    for (const watchFirst of [true, false]) {
      const s = new Scenario();
      const status = (externalID: string) => ({ spec: { size: 1 }, status: { externalID } });
      s.stream(demo, 'U1', 'v1', status('vol-17'));
      s.get('A', demo, 'U1', 'v1');
      s.gone(demo, 'U1');
      s.stream(demo, 'U2', 'v2', { spec: { size: 1 } });
      s.get('A', demo, 'U2', 'v2');
      if (watchFirst) s.stream(demo, 'U2', 'v3', status('vol-17'));
      s.write('A', demo, 'replace', {
        subresource: 'status',
        preconditions: { uid: 'U2', token: 'v2' },
        body: status('vol-17'),
        result: { uid: 'U2', token: 'v3' },
        stored: status('vol-17'),
      });
      assert.deepEqual(s.told(), ['stale-incarnation-write/value'], String(watchFirst));
    }
  });

  it('the words of a finding name the request, the values and who wrote, and never the values of a Secret', () => {
    for (const resource of ['configmaps', 'secrets']) {
      const name = { ...map, resource };
      const s = new Scenario();
      s.stream(name, 'U1', 'v1', data({ ann: 'x1' }));
      s.get('A', name, 'U1', 'v1');
      s.write('B', name, 'replace', {
        preconditions: { token: 'v1' },
        body: data({ ann: 'x2' }),
        result: { uid: 'U1', token: 'v2' },
        stored: data({ ann: 'x2' }),
      });
      s.write('A', name, 'replace', {
        body: data({ ann: 'x1' }),
        result: { uid: 'U1', token: 'v3' },
        stored: data({ ann: 'x1' }),
      });
      const [loss] = s.findings().filter((finding) => finding.id === 'lost-update');
      assert.match(loss?.explanation ?? '', /update \(PUT\) undid what B had set: \.data\.ann/);
      assert.equal(/"x2" → "x1"/.test(loss?.explanation ?? ''), resource === 'configmaps');
      const text = reportText({ findings: s.findings(), allowed: [], notAnalysed: {}, events: 3, notes: [] });
      assert.match(text, /when: 1970-01-01 00:16:4\d\.\d{3}( to [\d:.]+)? UTC/);
    }
  });

  it('a stale reference names its writer also where that is known only later', () => {
    const s = new Scenario();
    s.stream(demo, 'U1', 'v1', { spec: {} });
    s.gone(demo, 'U1');
    s.stream(demo, 'U2', 'v2', { spec: {} });
    s.stream(map, 'M1', 'v3', data({ lb: '' }));
    s.stream(map, 'M1', 'v4', data({ lb: 'U1' }));
    s.write('A', map, 'replace', {
      preconditions: { token: 'v3' },
      body: data({ lb: 'U1' }),
      result: { uid: 'M1', token: 'v4' },
    });
    const [finding] = s.findings().filter((item) => item.id === 'stale-reference');
    assert.deepEqual([finding?.actors, finding?.count], [['A'], 1]);
    assert.match(finding?.explanation ?? '', /A wrote it so/);
  });

  it('who was given nothing reacts to nothing, however fast it writes', () => {
    const s = new Scenario();
    for (let step = 0; step < 14; step += 1)
      s.write({ client: 'A', manager: 'one' }, demo, 'apply', {
        startedAt: s.at,
        result: { uid: 'U1', token: `v${step}` },
        stored: { status: { step } },
      });
    assert.deepEqual(s.told(), []);
  });

  it('to take back what one did oneself is no stale read; to lose it beside another change is', () => {
    for (const adds of [true, false]) {
      const s = new Scenario();
      const content = (...names: string[]) => ({ spec: { parts: names.map((name) => ({ name })) } });
      s.stream(demo, 'U1', 'v1', content('wheel'));
      s.get('A', demo, 'U1', 'v1');
      const patch = (token: string, ...names: string[]): void =>
        s.write('A', demo, 'patch', {
          patchType: 'merge-patch',
          body: content(...names),
          result: { uid: 'U1', token },
          stored: content(...names),
        });
      patch('v2', 'wheel', 'door');
      if (adds) patch('v3', 'wheel', 'roof');
      else patch('v3', 'wheel');
      assert.deepEqual(s.told(), adds ? ['stale-read/own-write'] : []);
    }
  });

  it('updates that change nothing name the fields that the server fills in', () => {
    const s = new Scenario();
    const stored = { spec: { image: 'a:1', strategy: 'Rolling' } };
    s.stream(demo, 'U1', 'v1', stored);
    s.get('A', demo, 'U1', 'v1');
    for (let round = 0; round < 5; round += 1)
      s.write('A', demo, 'replace', {
        outcome: 'unchanged',
        preconditions: { token: 'v1' },
        body: { spec: { image: 'a:1' } },
        result: { uid: 'U1', token: 'v1' },
      });
    const [finding] = s.findings();
    assert.deepEqual([finding?.id, finding?.fields], ['no-op-writes', ['.spec.strategy']]);
  });

  it('owners that a merge patch of an older list takes away are lost, those that a strategic patch names are meant', () => {
    for (const patchType of ['merge-patch', 'strategic'] as const) {
      const s = new Scenario();
      const owned = (...uids: string[]) => ({
        metadata: { ownerReferences: uids.map((uid) => ({ kind: 'Toy', name: uid, uid })) },
      });
      s.stream(map, 'U1', 'v1', owned());
      s.get('A', map, 'U1', 'v1');
      s.write('B', map, 'replace', {
        preconditions: { token: 'v1' },
        body: owned('O1'),
        result: { uid: 'U1', token: 'v2' },
        stored: owned('O1'),
      });
      s.write('A', map, 'patch', {
        patchType,
        body: owned('O2'),
        result: { uid: 'U1', token: 'v3' },
        stored: owned('O2'),
      });
      assert.deepEqual(s.told(), patchType === 'merge-patch' ? ['lost-update/list-clobber'] : []);
    }
  });
});
