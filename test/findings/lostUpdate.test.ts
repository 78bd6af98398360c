import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import { basisText } from '../../src/core/findings/words.ts';
import type { WriteEvent } from '../../src/core/traceEvent.ts';
import { bothRead, configMap, data, Scenario, toy } from './scenario.ts';

const name = configMap('demo-users');
const finalizers = (...items: string[]): JsonObject => ({ metadata: { finalizers: items } });

describe('lost updates', () => {
  it('A1: an older content with a newer token is a token swap, with field and both actors', () => {
    const s = bothRead(name);
    s.get('A', name, 'U1', 'v2');
    s.write('A', name, 'replace', {
      preconditions: { token: 'v2' },
      body: data({ ann: '1', cyd: '1' }),
      result: { uid: 'U1', token: 'v3' },
      stored: data({ ann: '1', cyd: '1' }),
    });
    const [finding] = s.findings().filter((item) => item.id === 'lost-update');
    assert.equal(finding?.kind, 'token-swap');
    assert.deepEqual(finding.fields, ['.data.bob']);
    assert.deepEqual(finding.actors, ['A', 'B']);
    assert.deepEqual(s.told(), ['lost-update/token-swap']);
  });

  it('says which version the write was based on, how that is known, and how sure it is', () => {
    const s = bothRead(name);
    s.get('A', name, 'U1', 'v2');
    s.write('A', name, 'replace', {
      preconditions: { token: 'v2' },
      basedOn: { uid: 'U1', token: 'v1', known: 'content' },
      body: data({ ann: '1', cyd: '1' }),
      result: { uid: 'U1', token: 'v3' },
      stored: data({ ann: '1', cyd: '1' }),
    });
    const content = ' It is most likely based on the version "v1": its content is nearest to that.';
    const reads = s.events.filter((event) => event.type === 'read' && event.actor.client === 'A');
    assert.equal(reads.length, 2);
    const proven = s.findings().find((item) => item.id === 'lost-update')?.events ?? [];
    assert.deepEqual(
      reads.filter((event) => !proven.includes(event.seq)),
      [],
      'the reads of both versions are proof',
    );
    const loss = s.findings().find((item) => item.id === 'lost-update');
    assert.ok(loss?.explanation.endsWith(content), loss?.explanation);
    const basis = (known: 'token' | 'given' | 'content', via: WriteEvent['via'] = 'recorder'): string =>
      String(basisText({ via, basedOn: { uid: 'U1', token: 'v1', known } }));
    assert.equal(basis('content'), content);
    assert.equal(basis('token'), ' Its token names the version "v1" as its base.');
    assert.equal(
      basis('given'),
      ' It is most likely based on the version "v1", the last that its client had been given.',
    );
    assert.equal(basis('given', 'write'), ' It is based on the version "v1", as its writer itself noted.');
    assert.equal(basisText({ via: 'recorder' }), '');
  });

  it('A1: a body that carries the other change loses nothing', () => {
    const s = bothRead(name);
    s.get('A', name, 'U1', 'v2');
    s.write('A', name, 'replace', {
      preconditions: { token: 'v2' },
      body: data({ ann: '1', bob: '1', cyd: '1' }),
      result: { uid: 'U1', token: 'v3' },
      stored: data({ ann: '1', bob: '1', cyd: '1' }),
    });
    assert.deepEqual(s.told(), []);
  });

  it('what its writer had sent back itself since, it takes out on purpose, unless its own changes since go too', () => {
    const idle = { state: 'idle' };
    const last: Record<string, readonly [JsonObject, readonly string[]]> = {
      answered: [{ state: 'done' }, []],
      'as it was': [idle, []],
      'an older copy': [{ ...idle, mine: '1' }, ['lost-update/token-swap']],
    };
    for (const [what, [content, told]] of Object.entries(last)) {
      const s = new Scenario();
      s.stream(name, 'U1', 'v1', data(idle));
      s.get('A', name, 'U1', 'v1');
      const store = (actor: string, token: string, next: string, values: JsonObject): void =>
        s.write(actor, name, 'replace', {
          preconditions: { token },
          body: data(values),
          result: { uid: 'U1', token: next },
          stored: data(values),
        });
      store('B', 'v1', 'v2', { ...idle, request: 'r' });
      s.get('A', name, 'U1', 'v2');
      store('A', 'v2', 'v3', { state: 'working', request: 'r' });
      s.get('A', name, 'U1', 'v3');
      store('A', 'v3', 'v4', content);
      assert.deepEqual(s.told(), told, what);
    }
  });

  it('a status that was written carries nothing of the rest', () => {
    const s = new Scenario();
    const [own, both] = [{ size: 1 }, { size: 1, request: 'r' }];
    s.stream(toy(), 'U1', 'v1', { spec: own });
    s.get('A', toy(), 'U1', 'v1');
    s.write('B', toy(), 'replace', {
      preconditions: { token: 'v1' },
      body: { spec: both },
      result: { uid: 'U1', token: 'v2' },
      stored: { spec: both },
    });
    s.get('A', toy(), 'U1', 'v2');
    s.write('A', toy(), 'replace', {
      subresource: 'status',
      preconditions: { token: 'v2' },
      body: { spec: own, status: { seen: 1 } },
      result: { uid: 'U1', token: 'v3' },
      stored: { spec: both, status: { seen: 1 } },
    });
    s.get('A', toy(), 'U1', 'v3');
    s.write('A', toy(), 'replace', {
      preconditions: { token: 'v3' },
      body: { spec: { size: 2 }, status: { seen: 1 } },
      result: { uid: 'U1', token: 'v4' },
      stored: { spec: { size: 2 }, status: { seen: 1 } },
    });
    assert.deepEqual(s.told(), ['lost-update/token-swap']);
  });

  it('A1: a stale write that is refused is a conflict and no lost update', () => {
    const s = bothRead(name);
    s.get('A', name, 'U1', 'v2');
    s.write('A', name, 'replace', {
      preconditions: { token: 'v1' },
      body: data({ ann: '1', cyd: '1' }),
      outcome: 'version-conflict',
      code: 409,
    });
    assert.deepEqual(s.told(), []);
    assert.deepEqual(
      s.findings().map((item) => item.id),
      ['version-conflict'],
    );
  });

  it('a refused body that comes back with only its token changed is certain', () => {
    const s = bothRead(name);
    const body = data({ ann: '1', cyd: '1' });
    s.write('A', name, 'replace', {
      preconditions: { token: 'v1' },
      body: { ...body, metadata: { resourceVersion: 'v1' } },
      outcome: 'version-conflict',
      code: 409,
    });
    s.get('A', name, 'U1', 'v2');
    s.write('A', name, 'replace', {
      preconditions: { token: 'v2' },
      body: { ...body, metadata: { resourceVersion: 'v2' } },
      result: { uid: 'U1', token: 'v3' },
      stored: body,
    });
    const found = s.findings().filter((item) => item.severity !== 'info');
    assert.deepEqual(
      found.map((item) => [item.id, item.kind, item.sureness, item.fields]),
      [['lost-update', 'token-swap', 'certain', ['.data.bob']]],
    );
  });

  it('a repeated body also loses a field that both set to different values', () => {
    const s = new Scenario();
    s.stream(name, 'U1', 'v1', data({ n: '0' }));
    s.get('A', name, 'U1', 'v1');
    s.write('B', name, 'replace', {
      preconditions: { token: 'v1' },
      body: data({ n: '5' }),
      result: { uid: 'U1', token: 'v2' },
      stored: data({ n: '5' }),
    });
    s.write('A', name, 'replace', {
      preconditions: { token: 'v1' },
      body: data({ n: '1' }),
      outcome: 'version-conflict',
      code: 409,
    });
    s.get('A', name, 'U1', 'v2');
    s.write('A', name, 'replace', {
      preconditions: { token: 'v2' },
      body: data({ n: '1' }),
      result: { uid: 'U1', token: 'v3' },
      stored: data({ n: '1' }),
    });
    assert.deepEqual(s.told(), ['lost-update/token-swap']);
  });

  it('A2: a PUT without a token over a change that its sender never saw is an unconditional overwrite', () => {
    const s = bothRead(name);
    s.write('A', name, 'replace', {
      body: data({ x: '1' }),
      result: { uid: 'U1', token: 'v3' },
      stored: data({ x: '1' }),
    });
    assert.deepEqual(s.told(), ['lost-update/unconditional-overwrite']);
  });

  describe('a value that was computed from an older one and patched without a token', () => {
    /** B counts on from what A had read as well, unless told otherwise, and A patches a number of its own. */
    const counter = (
      before: (s: Scenario) => void,
      patch: { field?: string; value?: string; token?: string } = {},
    ): Scenario => {
      const { field = 'n', value = '7' } = patch;
      const s = new Scenario();
      s.stream(name, 'U1', 'v1', data({ n: '5', m: '1' }));
      s.get('B', name, 'U1', 'v1');
      before(s);
      s.write('B', name, 'replace', {
        preconditions: { token: 'v1' },
        body: data({ n: '6', m: '1' }),
        result: { uid: 'U1', token: 'v2' },
        stored: data({ n: '6', m: '1' }),
      });
      if (patch.token !== undefined) s.get('A', name, 'U1', 'v2');
      s.write('A', name, 'patch', {
        patchType: 'merge-patch',
        ...(patch.token === undefined ? {} : { preconditions: { token: patch.token } }),
        body: data({ [field]: value }),
        result: { uid: 'U1', token: 'v3' },
        stored: data({ n: '6', m: '1', [field]: value }),
      });
      return s;
    };
    const read = (s: Scenario): void => s.get('A', name, 'U1', 'v1');

    it('has likely lost what another actor set since', () => {
      const s = counter(read);
      assert.deepEqual(s.told(), ['lost-update/unconditional-overwrite']);
      const [found] = s.findings();
      assert.deepEqual([found?.sureness, found?.fields, found?.actors], ['likely', ['.data.n'], ['A', 'B']]);
      assert.match(found?.explanation ?? '', /overwrote what B had set: .*if its value was computed from that/);
    });

    it('is silent where its writer read the change, read nothing, said the same before, or patches another field', () => {
      const silent: [string, Scenario][] = [
        ['given the change', counter(read, { token: 'v2' })],
        ['read nothing', counter(() => {})],
        ['another field', counter(read, { field: 'm', value: '2' })],
        ['a new field', counter(read, { field: 'k', value: '2' })],
      ];
      for (const [what, s] of silent) assert.deepEqual(s.told(), [], what);
      const s = new Scenario();
      s.stream(name, 'U1', 'v0', data({ n: '1' }));
      s.get('A', name, 'U1', 'v0');
      for (const [who, from, to, value] of [
        ['A', 'v0', 'v1', '7'],
        ['B', 'v1', 'v2', '6'],
        ['A', 'v2', 'v3', '7'],
      ] as const) {
        if (who === 'B') s.get('B', name, 'U1', from);
        s.write(who, name, 'patch', {
          patchType: 'merge-patch',
          body: data({ n: value }),
          result: { uid: 'U1', token: to },
          stored: data({ n: value }),
        });
      }
      assert.deepEqual(s.told(), [], 'what it wants');
    });
  });

  it('the other write may have gone past the recorder and be seen by its watch only, after the answer', () => {
    const s = new Scenario();
    s.stream(name, 'U1', 'v1', data({ ann: '1' }));
    s.get('A', name, 'U1', 'v1');
    s.write('A', name, 'replace', { body: data({ ann: '1', cyd: '1' }), result: { uid: 'U1', token: 'v3' } });
    s.stream(name, 'U1', 'v2', data({ ann: '1', bob: '1' }));
    s.stream(name, 'U1', 'v3', data({ ann: '1', cyd: '1' }));
    assert.deepEqual(s.told(), ['lost-update/unconditional-overwrite']);
  });

  it('a PUT without a token where nobody else wrote is silent', () => {
    const s = new Scenario();
    s.stream(name, 'U1', 'v1', data({ ann: '1' }));
    s.get('A', name, 'U1', 'v1');
    s.write('A', name, 'replace', {
      body: data({ ann: '2' }),
      result: { uid: 'U1', token: 'v2' },
      stored: data({ ann: '2' }),
    });
    assert.deepEqual(s.told(), []);
  });

  it('a deliberate correction of drift by one that saw it is silent', () => {
    const s = new Scenario();
    s.stream(name, 'U1', 'v1', data({ mode: 'a' }));
    s.watched('A', name, 'U1', 'v1');
    s.write('B', name, 'replace', {
      preconditions: { token: 'v1' },
      body: data({ mode: 'b' }),
      result: { uid: 'U1', token: 'v2' },
      stored: data({ mode: 'b' }),
    });
    s.watched('A', name, 'U1', 'v2');
    s.write('A', name, 'replace', {
      preconditions: { token: 'v2' },
      body: data({ mode: 'a' }),
      result: { uid: 'U1', token: 'v3' },
      stored: data({ mode: 'a' }),
    });
    assert.deepEqual(s.told(), []);
  });

  it('E2: a merge patch that replaces conditions loses the entry of another, by its type', () => {
    const s = new Scenario();
    const condition = (type: string, status: string): JsonObject => ({
      type,
      status,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
    s.stream(toy(), 'U1', 'v1', { status: { conditions: [condition('Ready', 'True')] } });
    s.get('A', toy(), 'U1', 'v1');
    s.get('B', toy(), 'U1', 'v1');
    const both = { status: { conditions: [condition('Ready', 'True'), condition('Backup', 'True')] } };
    s.write('B', toy(), 'replace', {
      subresource: 'status',
      preconditions: { token: 'v1' },
      body: both,
      result: { uid: 'U1', token: 'v2' },
      stored: both,
    });
    const patch = { status: { conditions: [condition('Ready', 'False')] } };
    s.write('A', toy(), 'patch', {
      patchType: 'merge-patch',
      subresource: 'status',
      body: patch,
      result: { uid: 'U1', token: 'v3' },
      stored: patch,
    });
    const [finding] = s.findings().filter((item) => item.id === 'lost-update');
    assert.equal(finding?.kind, 'list-clobber');
    assert.deepEqual(finding.fields, ['.status.conditions[type="Backup"]']);
  });

  it('E2: a change of lastTransitionTime alone is no lost update', () => {
    const s = new Scenario();
    const at = (time: string, more: JsonObject = {}): JsonObject => ({
      status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: time }], ...more },
    });
    s.stream(toy(), 'U1', 'v1', at('1'));
    s.get('A', toy(), 'U1', 'v1');
    s.write('B', toy(), 'replace', {
      subresource: 'status',
      preconditions: { token: 'v1' },
      body: at('2'),
      result: { uid: 'U1', token: 'v2' },
      stored: at('2'),
    });
    s.write('A', toy(), 'patch', {
      patchType: 'merge-patch',
      subresource: 'status',
      body: at('1', { x: 1 }),
      result: { uid: 'U1', token: 'v3' },
      stored: at('1', { x: 1 }),
    });
    assert.deepEqual(s.told(), []);
  });

  it("F2: a merge patch that drops another actor's finalizer names it", () => {
    const s = new Scenario();
    s.stream(toy(), 'U1', 'v1', finalizers('a.test/x'));
    s.get('A', toy(), 'U1', 'v1');
    s.write('B', toy(), 'patch', {
      patchType: 'merge-patch',
      body: finalizers('a.test/x', 'b.test/y'),
      result: { uid: 'U1', token: 'v2' },
      stored: finalizers('a.test/x', 'b.test/y'),
    });
    s.write('A', toy(), 'patch', {
      patchType: 'merge-patch',
      body: finalizers('a.test/x', 'c.test/z'),
      result: { uid: 'U1', token: 'v3' },
      stored: finalizers('a.test/x', 'c.test/z'),
    });
    const [finding] = s.findings().filter((item) => item.id === 'lost-update');
    assert.equal(finding?.kind, 'finalizer');
    assert.deepEqual(finding.fields, ['.metadata.finalizers[="b.test/y"]']);
  });

  it('F3: a removal by index that hits the neighbour names what was really removed', () => {
    const s = new Scenario();
    s.stream(toy(), 'U1', 'v1', finalizers('a.test/a', 'b.test/b'));
    s.get('A', toy(), 'U1', 'v1');
    s.write('B', toy(), 'replace', {
      preconditions: { token: 'v1' },
      body: finalizers('b.test/b', 'c.test/c'),
      result: { uid: 'U1', token: 'v2' },
      stored: finalizers('b.test/b', 'c.test/c'),
    });
    s.write('A', toy(), 'patch', {
      patchType: 'json-patch',
      body: [{ op: 'remove', path: '/metadata/finalizers/1' }],
      result: { uid: 'U1', token: 'v3' },
      stored: finalizers('b.test/b'),
    });
    const found = s.findings().filter((item) => item.severity !== 'info');
    assert.deepEqual(
      found.map((item) => [item.id, item.kind, item.fields]),
      [['lost-update', 'index-patch', ['.metadata.finalizers[="c.test/c"]']]],
    );
  });

  it('F3: the same patch with a test, or over an unchanged list, did no damage', () => {
    for (const guarded of [true, false]) {
      const s = new Scenario();
      s.stream(toy(), 'U1', 'v1', finalizers('a.test/a', 'b.test/b'));
      s.get('A', toy(), 'U1', 'v1');
      const remove = { op: 'remove', path: '/metadata/finalizers/1' };
      const body = guarded ? [{ op: 'test', path: '/metadata/finalizers/1', value: 'b.test/b' }, remove] : [remove];
      s.write('A', toy(), 'patch', {
        patchType: 'json-patch',
        body,
        result: { uid: 'U1', token: 'v2' },
        stored: finalizers('a.test/a'),
      });
      assert.deepEqual(
        s.findings().map((item) => item.id),
        guarded ? [] : ['unguarded-patch'],
      );
    }
  });

  it('J5: a typed client that drops fields it does not know is told, once they belonged to another', () => {
    const s = new Scenario();
    const spec = (values: JsonObject): JsonObject => ({ spec: values });
    s.stream(toy(), 'U1', 'v1', spec({ size: 1 }));
    s.get('A', toy(), 'U1', 'v1');
    s.write('B', toy(), 'replace', {
      preconditions: { token: 'v1' },
      body: spec({ size: 1, futureField: 'x' }),
      result: { uid: 'U1', token: 'v2' },
      stored: spec({ size: 1, futureField: 'x' }),
    });
    s.get('A', toy(), 'U1', 'v2');
    s.write('A', toy(), 'replace', {
      preconditions: { token: 'v2' },
      body: spec({ size: 2 }),
      result: { uid: 'U1', token: 'v3' },
      stored: spec({ size: 2 }),
    });
    const found = s.findings().filter((item) => item.severity !== 'info');
    assert.ok(found.some((item) => item.id === 'lost-update' && item.fields.includes('.spec.futureField')));
    assert.equal(found.length, 1);
  });
});
