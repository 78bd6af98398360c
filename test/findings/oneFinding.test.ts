import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/codec/json.ts';
import type { Finding, FindingId } from '../../src/core/findings/finding.ts';
import { allowanceOf, readAllowances } from '../../src/core/findings/report/allow.ts';
import { reportHtml } from '../../src/core/findings/report/html.ts';
import { reportSarif } from '../../src/core/findings/report/sarif.ts';
import { reportText, type FindingsReport } from '../../src/core/findings/report/report.ts';
import { configMap, data, Scenario, toy } from './scenario.ts';

const map = configMap();

/** B adds a key of its own to each version, and A writes back what it had read before, without a token. */
class Overwriter {
  readonly s = new Scenario();
  private readonly rounds = new Map<string, number>();

  round(writer: string, loser: string, key: string, name = map): void {
    const uid = `U-${name.name}`;
    const round = this.rounds.get(uid) ?? 0;
    this.rounds.set(uid, round + 1);
    if (round === 0) this.s.stream(name, uid, 'v0', data({ own: '0' }));
    this.s.get(writer, name, uid, `v${round}`);
    this.s.write(loser, name, 'patch', {
      patchType: 'merge-patch',
      body: data({ [key]: '1' }),
      result: { uid, token: `w${round}` },
      stored: data({ own: String(round), [key]: '1' }),
    });
    const body = data({ own: String(round + 1) });
    this.s.write(writer, name, 'replace', { body, result: { uid, token: `v${round + 1}` }, stored: body });
  }
}

function ofId(findings: readonly Finding[], id: FindingId): Finding[] {
  return findings.filter((finding) => finding.id === id);
}

function reportOf(findings: readonly Finding[]): FindingsReport {
  return { findings, allowed: [], notAnalysed: {}, events: 99, notes: [] };
}

describe('one bug is one finding', () => {
  it('of a writer that overwrites other fields each time, with all of them in the order in which they were lost', () => {
    const play = new Overwriter();
    for (const key of ['zeta', 'alpha', 'mid', 'alpha']) play.round('A', 'B', key);
    const [loss, ...more] = ofId(play.s.findings(), 'lost-update');
    assert.deepEqual(more, []);
    assert.deepEqual(
      [loss?.kind, loss?.count, loss?.fields, loss?.actors],
      ['unconditional-overwrite', 4, ['.data.zeta', '.data.alpha', '.data.mid'], ['A', 'B']],
    );
    const writes = play.s.events.filter((event) => event.type === 'write' && event.verb === 'replace');
    for (const { seq } of [writes.at(0), writes.at(-1)].filter((event) => event !== undefined))
      assert.ok(loss?.events.includes(seq));
    assert.match(loss?.explanation ?? '', /\.data\.alpha/);
  });

  it('but two writers, or two objects, are two', () => {
    const play = new Overwriter();
    play.round('A', 'B', 'x');
    play.round('C', 'B', 'y');
    play.round('A', 'B', 'z', configMap('other'));
    assert.deepEqual(
      ofId(play.s.findings(), 'lost-update').map(({ actors, fields, count }) => [actors[0], fields, count]),
      [
        ['A', ['.data.x'], 1],
        ['C', ['.data.y'], 1],
        ['A', ['.data.z'], 1],
      ],
    );
  });

  it('but two incarnations of one name are two, by whatever rule', () => {
    const s = new Scenario();
    for (const life of [1, 2]) {
      const [uid, token] = [`U${life}`, `v${life}`];
      s.stream(map, uid, token, data({ own: '1' }), { change: 'ADDED' });
      for (let round = 0; round < 8; round += 1) {
        s.write('A', map, 'replace', {
          outcome: 'version-conflict',
          code: 409,
          preconditions: { token: `dead${life}` },
          body: data({ own: '2' }),
        });
        s.write('B', map, 'replace', {
          outcome: 'unchanged',
          body: data({ own: '1' }),
          preconditions: { uid, token },
          result: { uid, token },
        });
        s.write('C', map, 'create', { outcome: 'already-exists', code: 409, body: {} });
        s.write('D', map, 'replace', { outcome: 'uncertain', body: data({ own: '3' }), preconditions: { uid, token } });
      }
    }
    const lives = new Map<string, string[]>();
    for (const { id, object } of s.findings()) lives.set(id, [...(lives.get(id) ?? []), object.uid].sort());
    for (const id of [
      'version-conflict',
      'hot-conflict-loop',
      'no-op-writes',
      'already-exists-loop',
      'uncertain-write',
    ])
      assert.deepEqual(lives.get(id), ['U1', 'U2'], id);
  });

  it('holds the proof of the first and the last occurrences, and so many fields as one reads, however many there are', () => {
    const play = new Overwriter();
    for (let round = 0; round < 150; round += 1) play.round('A', 'B', `k${round}`);
    const [loss] = ofId(play.s.findings(), 'lost-update');
    assert.equal(loss?.count, 150);
    assert.deepEqual([loss.fields.length, loss.fields[0], loss.fields[99]], [100, '.data.k0', '.data.k99']);
    const writes = play.s.events.filter((event) => event.type === 'write' && event.verb === 'replace');
    assert.equal(loss.events.length, 64);
    assert.ok(loss.events.includes(writes.at(0)?.seq ?? 0) && loss.events.includes(writes.at(-1)?.seq ?? 0));
    assert.ok(!loss.events.includes(writes.at(75)?.seq ?? 0));
  });

  it('of positions patched without a check, whether they hit the wrong item or nothing was lost', () => {
    const s = new Scenario();
    const finalizers = (...items: string[]): JsonObject => ({ metadata: { finalizers: items } });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `${letter}.test/x`);
    s.stream(toy(), 'U1', 'v0', finalizers(...names));
    s.get('A', toy(), 'U1', 'v0');
    for (const round of [1, 2]) {
      const left = names.slice(2 * round - 1);
      s.write('B', toy(), 'replace', {
        body: finalizers(...left),
        result: { uid: 'U1', token: `b${round}` },
        stored: finalizers(...left),
      });
      s.write('A', toy(), 'patch', {
        patchType: 'json-patch',
        body: [{ op: 'remove', path: '/metadata/finalizers/0' }],
        result: { uid: 'U1', token: `a${round}` },
        stored: finalizers(...left.slice(1)),
      });
    }
    for (const place of [0, 1]) {
      const body = [{ op: 'replace', path: `/spec/list/${place}`, value: 1 }];
      s.write('C', toy(), 'patch', { patchType: 'json-patch', body, result: { uid: 'U1', token: `c${place}` } });
    }
    assert.deepEqual(
      s.findings().map(({ id, kind, count, fields }) => [id, kind, count, fields]),
      [
        ['lost-update', 'index-patch', 2, ['.metadata.finalizers[="b.test/x"]', '.metadata.finalizers[="d.test/x"]']],
        ['unguarded-patch', undefined, 2, ['.spec.list[0]', '.spec.list[1]']],
      ],
    );
  });

  it('of an actor that sends another token that nobody gave it each time', () => {
    const s = new Scenario();
    s.stream(map, 'U1', 'v0', data({}));
    s.get('A', map, 'U1', 'v0');
    for (const token of ['11', '12', '13'])
      s.write('A', map, 'replace', {
        preconditions: { token },
        body: data({}),
        outcome: 'version-conflict',
        code: 409,
      });
    assert.deepEqual(
      ofId(s.findings(), 'invented-token').map(({ count }) => count),
      [3],
    );
  });

  it('of a loop that stops and begins again, which counts all that it did', () => {
    const s = new Scenario();
    s.stream(map, 'U1', 'v0', data({}));
    s.get('A', map, 'U1', 'v0');
    let token = 'v0';
    for (let burst = 1; burst <= 3; burst += 1) {
      for (let round = 0; round < 12; round += 1)
        s.write('A', map, 'replace', {
          preconditions: { token: 'gone' },
          body: data({ n: String(burst) }),
          outcome: 'version-conflict',
          code: 409,
        });
      for (let round = 0; round < 6; round += 1)
        s.write('A', map, 'replace', {
          outcome: 'unchanged',
          preconditions: { token },
          body: data({}),
          result: { uid: 'U1', token },
        });
      for (let round = 0; round < 7; round += 1)
        s.write('A', configMap('taken'), 'create', { body: data({}), outcome: 'already-exists', code: 409 });
      s.get('A', configMap('taken'), 'U9', 'x');
      const next = `v${burst}`;
      s.write('A', map, 'replace', {
        preconditions: { token },
        body: data({ n: next }),
        result: { uid: 'U1', token: next },
        stored: data({ n: next }),
      });
      token = next;
    }
    const loops = s.findings().filter(({ id }) => id.includes('loop') || id === 'no-op-writes');
    assert.deepEqual(
      loops.map(({ id, count }) => [id, count]),
      [
        ['hot-conflict-loop', 36],
        ['no-op-writes', 18],
        ['already-exists-loop', 21],
      ],
    );
  });

  it('of a part that its endpoint ignores, of conflicts of both endpoints, and of a server that is behind', () => {
    const s = new Scenario();
    s.stream(toy(), 'U1', 'v0', { spec: { a: 1, b: 1 }, status: { n: 0 } });
    for (const [step, field] of ['a', 'b'].entries()) {
      s.get('A', toy(), 'U1', `v${step}`);
      s.write('A', toy(), 'replace', {
        subresource: 'status',
        preconditions: { token: `v${step}` },
        body: { spec: { a: 1, b: 1, [field]: 2 }, status: { n: step + 1 } },
        result: { uid: 'U1', token: `v${step + 1}` },
        stored: { spec: { a: 1, b: 1 }, status: { n: step + 1 } },
      });
    }
    for (const subresource of ['status', undefined])
      s.write('A', toy(), 'replace', {
        ...(subresource === undefined ? {} : { subresource }),
        preconditions: { token: 'v0' },
        outcome: 'version-conflict',
        code: 409,
      });
    s.wait(5_000);
    for (const token of ['v0', 'v1']) s.get('A', toy(), 'U1', token);
    assert.deepEqual(
      s.findings().map(({ id, count, fields }) => [id, count, id === 'ignored-part' ? fields : []]),
      [
        ['version-conflict', 2, []],
        ['ignored-part', 2, ['.spec.a', '.spec.b']],
        ['server-behind', 2, []],
      ],
    );
  });

  it('of what one object says of one that is gone, wherever; what is put right takes only its part back', () => {
    const volume = { group: '', resource: 'persistentvolumes', namespace: '', name: 'pv' };
    const claim = { group: '', resource: 'persistentvolumeclaims', namespace: 'lab', name: 'claim' };
    const [dead, live] = ['1', '2'].map((digit) => `0000000${digit}-0000-4000-8000-000000000000`);
    assert.ok(dead !== undefined && live !== undefined);
    const says = (uid: string): JsonObject => ({
      metadata: { annotations: { owner: dead } },
      spec: { claimRef: { name: 'claim', uid } },
    });
    for (const isRepaired of [false, true]) {
      const s = new Scenario();
      s.stream(claim, dead, 'c1', {});
      s.stream(volume, 'PV', 'p1', says(dead));
      s.gone(claim, dead);
      s.stream(claim, live, 'c2', {});
      s.wait(40_000);
      if (isRepaired) s.stream(volume, 'PV', 'p2', says(live));
      assert.deepEqual(
        ofId(s.findings(), 'stale-reference').map(({ fields, count }) => [fields, count]),
        [
          isRepaired
            ? [['.metadata.annotations.owner'], 1]
            : [['.spec.claimRef.uid', '.metadata.annotations.owner'], 2],
        ],
      );
    }
  });

  it('of lost answers on one object; each that its sender looks after is information', () => {
    const s = new Scenario();
    s.stream(map, 'U1', 'v1', data({}));
    const lose = (): void =>
      s.write('A', map, 'replace', { preconditions: { token: 'v1' }, body: data({ a: '1' }), outcome: 'uncertain' });
    lose();
    lose();
    lose();
    s.get('A', map, 'U1', 'v1');
    const found = ofId(s.findings(), 'uncertain-write');
    assert.deepEqual(
      found.map(({ severity, count }) => [severity, count]),
      [
        ['warning', 2],
        ['info', 1],
      ],
    );
    const lost = s.events.filter(({ type }) => type === 'write').map(({ seq }) => seq);
    assert.deepEqual(found[0]?.events.toSorted(), lost.slice(0, 2));
  });

  it('of a takeover for each victim, and of a fight for each pair: a write that sets several fields back is one blow', () => {
    const s = new Scenario();
    const owned = (...owners: [string, string, 'Apply' | 'Update'][]): JsonObject[] =>
      owners.map(([manager, field, operation]) => ({
        manager,
        operation,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': Object.fromEntries(field.split(' ').map((one) => [`f:${one}`, {}])) },
      }));
    const stored = (owners: JsonObject[], spec: JsonObject): JsonObject => ({
      metadata: { managedFields: owners },
      spec,
    });
    const tool = { client: 'tool', manager: 'tool' };
    const others = { hpa: 'a', edit: 'b' };
    s.stream(toy(), 'U1', 'v0', stored(owned(['hpa', 'a', 'Update'], ['edit', 'b', 'Update']), { a: 0, b: 0 }));
    let version = 0;
    for (const loser of ['', 'hpa', 'edit', 'hpa'] as const) {
      if (loser !== '') {
        version += 1;
        s.write({ client: loser, manager: loser }, toy(), 'patch', {
          result: { uid: 'U1', token: `v${version}` },
          stored: stored(owned([loser, others[loser], 'Update'], ['tool', loser === 'hpa' ? 'b' : 'a', 'Apply']), {
            a: 1,
            b: 1,
            [others[loser]]: version + 5,
          }),
        });
      }
      version += 1;
      s.write(tool, toy(), 'apply', {
        force: true,
        result: { uid: 'U1', token: `v${version}` },
        stored: stored(owned(['tool', 'a b', 'Apply']), { a: 1, b: 1 }),
      });
    }
    assert.deepEqual(
      ofId(s.findings(), 'force-takeover').map(({ actors, fields, count }) => [actors.join(), fields, count]),
      [
        ['tool,hpa', ['.spec.a'], 3],
        ['tool,edit', ['.spec.b'], 2],
      ],
    );

    const f = new Scenario();
    f.stream(map, 'U1', 'w0', data({ x: '0', y: '0' }));
    for (let turn = 1; turn <= 8; turn += 1) {
      const who = turn % 2 === 0 ? 'A' : 'B';
      f.get(who, map, 'U1', `w${turn - 1}`);
      const content = data({ x: who, y: who });
      f.write(who, map, 'replace', {
        preconditions: { token: `w${turn - 1}` },
        body: content,
        result: { uid: 'U1', token: `w${turn}` },
        stored: content,
      });
    }
    const [fight, ...more] = ofId(f.findings(), 'ownership-fight');
    assert.deepEqual(more, []);
    assert.deepEqual(fight?.fields, ['.data.x', '.data.y']);
    assert.equal(fight.count, 4, 'from the third alternation on, each turn once');
  });
});

describe('a finding of many fields and losers', () => {
  const play = new Overwriter();
  for (const [key, loser] of Object.entries({ x: 'B', y: 'C', z: 'D' })) play.round('A', loser, key);
  const [loss] = ofId(play.s.findings(), 'lost-update');
  assert.ok(loss !== undefined);

  it('is allowed by whose doing it is, not by whom it harmed once', () => {
    const allows = (actor: string): boolean => {
      const entry = { id: 'lost-update', actor, reason: 'known', expires: '2030-01-01' };
      return allowanceOf(loss, readAllowances([entry]).allowances, 0) !== undefined;
    };
    assert.deepEqual(['A', 'B', 'C', 'D', '*'].filter(allows), ['A', '*']);
  });

  it('has one fingerprint whichever fields it took first, and no other result has it', () => {
    const prints = (findings: readonly Finding[]): unknown[] => {
      const [run] = (JSON.parse(reportSarif(reportOf(findings), { version: '0' }, 'log')) as { runs: unknown[] }).runs;
      return (run as { results: { partialFingerprints: unknown }[] }).results.map(
        (result) => result.partialFingerprints,
      );
    };
    const [own] = prints([loss]);
    assert.deepEqual(prints([{ ...loss, fields: loss.fields.toReversed(), actors: ['A', 'X'] }]), [own]);
    const all = prints([loss, loss, { ...loss, actors: ['B'] }]).map((print) => JSON.stringify(print));
    assert.equal(new Set(all).size, 3);
    assert.equal(all[0], JSON.stringify(own));
  });
});

describe('a report of one bug on many objects', () => {
  const play = new Overwriter();
  for (let index = 0; index < 30; index += 1) {
    play.round('A', 'B', 'x', configMap(`map-${index}`));
    play.round('A', 'B', 'y', configMap(`map-${index}`));
  }
  play.round('C', 'B', 'x', configMap('map-0'));
  const findings = ofId(play.s.findings(), 'lost-update');

  it('tells it once, with the first objects, names some more and counts the rest', () => {
    assert.equal(findings.length, 31);
    const text = reportText(reportOf(findings));
    const heads = text.match(/^error: .*/gm);
    assert.deepEqual(heads, [
      'error: lost-update (unconditional-overwrite) on configmaps lab/map-0, 3 times',
      'error: lost-update (unconditional-overwrite) by A on 29 objects, 58 times',
    ]);
    assert.equal(text.match(/^ {2}- configmaps lab\/map-\d, 2 times, /gm)?.length, 3);
    assert.match(
      text,
      /^ {2}and on configmaps lab\/map-4, (configmaps lab\/map-\d+, ){8}configmaps lab\/map-13 and 16 more$/m,
    );
    assert.match(text, /^31 findings \(31 error,/m);
  });

  it('has each of them folded in the page, and marks that lead there', () => {
    const html = reportHtml(reportOf(findings), [], 'Findings', '');
    assert.equal(html.split('<section ').length - 1, 2);
    assert.match(html, /<h2>lost-update \(unconditional-overwrite\) by A on 29 objects /);
    assert.match(html, /<li id="f1-0"><b>configmaps lab\/map-1<\/b>, /);
    for (let index = 1; index < 30; index += 1) assert.ok(html.includes(`<b>configmaps lab/map-${index}</b>`));
    for (const [, target = ''] of html.matchAll(/href="#([\w-]+)"/g))
      assert.ok(html.includes(`id="${target}"`), target);
  });

  it('does not become one section for each of many actors', () => {
    const [one] = findings;
    assert.ok(one !== undefined);
    const many = Array.from({ length: 40 }, (_, index) => ({
      ...one,
      actors: [`node-${index}`],
      object: { ...one.object, name: `pod-${index}`, uid: `U${index}` },
    }));
    const text = reportText(reportOf(many));
    assert.deepEqual(text.match(/^error: .*/gm), [
      'error: lost-update (unconditional-overwrite) by node-0, node-1, node-10 and 37 more on 40 objects, 80 times',
    ]);
  });
});
