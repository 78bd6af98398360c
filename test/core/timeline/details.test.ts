import assert from 'node:assert/strict';
import { describeEvent } from '../../../src/core/timeline/details.ts';
import { detailContext } from '../../../src/core/timeline/detailParts.ts';
import type { EventDetails } from '../../../src/core/timeline/detailTypes.ts';
import { english, fillIn, translateWith } from '../../../src/core/timeline/translate.ts';
import type { ReadEvent, TraceEvent, WriteEvent } from '../../../src/core/traceEvent.ts';
import { isDetails } from '../../../src/protocol/timelineChecks.ts';
import { demo } from '../../webview/scenario.ts';
import { numbered, projected } from './demoModel.ts';

const { events, findings } = demo();
const log = numbered(events);
const { history } = projected(log);
const context = detailContext({
  history,
  clusterLabel: () => 'kind-dev',
  translate: english,
  timeZoneOffsetMin: 0,
  eventAt: (seq) => log[seq - 1],
});

function detailsOf(found: (event: TraceEvent) => boolean, finding?: string): EventDetails {
  const event = log.find(found);
  assert.ok(event);
  const details = describeEvent(
    context,
    event,
    findings.find((one) => one.id === finding),
  );
  assert.ok(details);
  assert.equal(isDetails(details, 'details'), undefined);
  return details;
}

describe('details of an event', () => {
  it('of a conflict say what was read, who made progress, the overlap, and what came of it', () => {
    const details = detailsOf((event) => event.type === 'write' && event.outcome === 'version-conflict');
    assert.equal(details.title, 'Conflict (409)');
    const read = details.facts.find((fact) => fact.label === 'read version');
    const current = details.facts.find((fact) => fact.label === 'current was');
    assert.notEqual(read?.badge?.code, current?.badge?.code);
    assert.deepEqual([current?.remark, current?.tone], ['not the same', 'different']);
    assert.equal(details.facts.find((fact) => fact.label === 'uid')?.remark, 'same incarnation');
    assert.deepEqual(
      details.sections.map((section) => [
        section.title,
        section.entries.map((entry) => [entry.actor, entry.how, ...entry.lines]),
      ]),
      [
        [
          'Who made progress',
          [
            ['deployment-controller', '/status', '.status.observedGeneration 2 → 3'],
            ['kubectl-edit', undefined, '.spec.image v1 → v2'],
          ],
        ],
        ['Overlap with this write', [[undefined, undefined, 'none: .spec.replicas is untouched']]],
        ['What came of it', [[undefined, undefined, 'Refetched, recomputed, written at attempt 2.']]],
      ],
    );
    assert.equal(details.canEdit, true);
    assert.deepEqual(details.diff?.before.uid, details.diff?.after.uid);
  });

  it('of a read say which version was given, whether it was the newest then, and what it did not see', () => {
    const versions = log.filter((event) => event.type === 'observed' && event.name.name === 'checkout');
    const [first, second] = versions;
    assert.ok(first?.type === 'observed' && second?.type === 'observed');
    const { name, uid, cluster } = first;
    const read = (token: string, seq: number, more: Partial<ReadEvent> = {}): EventDetails => {
      const { group, resource, namespace } = name;
      const event: ReadEvent = {
        type: 'read',
        seq,
        at: second.at,
        via: 'recorder',
        cluster,
        actor: { client: 'reader' },
        verb: 'get',
        scope: { group, resource, namespace, name: name.name },
        given: [{ namespace, name: name.name, uid, token }],
        cacheAllowed: true,
        ...more,
      };
      const details = describeEvent(context, event, undefined, { namespace, name: name.name });
      assert.ok(details);
      assert.equal(isDetails(details, 'details'), undefined);
      return details;
    };
    const given = (details: EventDetails): unknown => {
      const { badge, value, remark, tone } = details.facts.find(({ label }) => label === 'was given') ?? {};
      return [badge?.token ?? value, remark, tone];
    };
    const old = read(first.token, second.seq + 1);
    assert.deepEqual(given(old), [first.token, 'not the newest: 1 newer version was known then', 'different']);
    assert.deepEqual(
      old.facts.slice(0, 2).map(({ value, remark }) => [value, remark]),
      [
        ['reader', 'get'],
        ['a cache was allowed to answer', undefined],
      ],
    );
    assert.equal(old.sections[0]?.title, 'What it did not see');
    assert.deepEqual([old.diff?.before.token, old.diff?.after.token], [first.token, second.token]);
    assert.deepEqual(
      old.related.map(({ event }) => event),
      [first.seq, second.seq],
    );
    assert.equal(old.object.name, name.name);
    const newest = read(second.token, second.seq + 1);
    assert.deepEqual(given(newest), [second.token, 'the newest that was known then', 'same']);
    assert.equal(newest.diff, undefined);
    assert.deepEqual(given(read('other', second.seq)), ['other', 'this version was not seen otherwise', 'muted']);
    assert.deepEqual(given(read('', second.seq, { given: [], code: 404 })), [
      'it was not there (404)',
      undefined,
      'muted',
    ]);
    const many = [first.token, second.token].map((token, index) => ({
      namespace: name.namespace,
      name: index === 0 ? 'other' : name.name,
      uid,
      token,
    }));
    const event = { given: many } as Partial<ReadEvent>;
    assert.deepEqual(given(read('', second.seq + 1, event)), [second.token, 'the newest that was known then', 'same']);
  });

  it('of a refused write say how the version that it was based on is known, and how sure that is', () => {
    const event = log.find((one) => one.type === 'write' && one.outcome === 'version-conflict');
    assert.ok(event?.type === 'write' && event.basedOn !== undefined);
    const { basedOn, ...unsaid } = event;
    const remarkOf = (write: WriteEvent): string | undefined =>
      describeEvent(context, write, undefined)?.facts.find((fact) => fact.label === 'read version')?.remark;
    assert.equal(remarkOf(event), 'as its token says');
    assert.equal(remarkOf(unsaid), 'as its token says');
    assert.equal(
      remarkOf({ ...event, via: 'recorder', basedOn: { ...basedOn, known: 'given' } }),
      'most likely: the last that its client was given',
    );
    assert.equal(
      remarkOf({ ...event, via: 'write', basedOn: { ...basedOn, known: 'given' } }),
      'as the writer itself noted',
    );
    assert.equal(
      remarkOf({ ...event, basedOn: { ...basedOn, known: 'content' } }),
      'most likely: its content is nearest to it',
    );
  });

  it('of a version say what changed and between which versions a diff is', () => {
    const details = detailsOf(
      (event) => event.type === 'observed' && event.name.name === 'checkout' && event.generation === 2,
    );
    assert.equal(details.kind, 'spec');
    assert.deepEqual(details.sections[0]?.entries[0]?.lines, ['.spec.replicas 1 → 2']);
    assert.deepEqual(details.sections[1]?.entries[0]?.lines, ['.spec.replicas']);
    assert.equal(
      details.facts.find((fact) => fact.label === 'generation')?.remark,
      'observed is 1, reached after 10.0 s',
    );
    assert.ok(details.diff);
  });

  it('of the first version of an incarnation offer no diff: another incarnation is another object', () => {
    const details = detailsOf((event) => event.type === 'observed' && event.uid.startsWith('08e6aa13'));
    assert.equal(details.diff, undefined);
    assert.equal(details.facts.find((fact) => fact.label === 'uid')?.remark, 'incarnation 3 of 3');
  });

  it('of a gone incarnation offer no edit', () => {
    assert.equal(detailsOf((event) => event.type === 'observed' && event.uid.startsWith('c41b7f55')).canEdit, false);
    assert.equal(detailsOf((event) => event.type === 'absent').canEdit, false);
  });

  it('of a field conflict name whose field it is', () => {
    const details = detailsOf((event) => event.type === 'write' && event.outcome === 'field-conflict');
    assert.deepEqual(details.sections[0]?.entries[0]?.lines, [
      '.spec.size',
      'conflict with "resizer" using example.org/v1',
    ]);
  });

  it('reached by a finding say the finding first, with its remedy and its evidence', () => {
    const last = findings.find((one) => one.id === 'lost-update')?.events.at(-1);
    const details = detailsOf((event) => event.seq === last, 'lost-update');
    assert.deepEqual(
      details.finding?.sections.map((section) => section.title),
      ['Finding: lost-update', 'What to do'],
    );
    assert.equal(details.finding?.id, 'lost-update');
    assert.equal(details.finding.evidence.length, 1);
    const [proof] = details.finding.evidence;
    assert.match(proof?.label ?? '', /^14:\d\d:\d\d\.\d{3} \S+ · \.data\.dark /, 'when, who, and what of its fields');
    assert.match(details.text, new RegExp(`^lost-update: .*\n${proof?.label.slice(0, 12)}`));
  });

  it('exist for every event that has a mark, and as text never hold undefined', () => {
    for (const event of log) {
      const details = describeEvent(context, event, undefined);
      if (event.type === 'gap') assert.equal(details, undefined);
      else assert.doesNotMatch(details?.text ?? 'undefined', /undefined|\[object/);
    }
  });
});

describe('words', () => {
  it('are filled in, translated where there is a translation, and English where there is none', () => {
    assert.equal(english('{0} of {1}, {0}, {2}', 1, 'b'), '1 of b, 1, {2}');
    assert.equal(translateWith({ 'Open diff': 'Vergleichen' })('Open diff'), 'Vergleichen');
    assert.equal(translateWith({})('toString'), 'toString');
    assert.equal(fillIn('{0}', ['{1}']), '{1}');
  });
});
