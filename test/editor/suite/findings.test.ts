import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { defaultThresholds } from '../../../src/core/findings/options.ts';
import { findingIds, type Finding } from '../../../src/core/findings/finding.ts';
import type { NewTraceEvent } from '../../../src/core/traceEvent.ts';
import { findingTitle } from '../../../src/editor/findings/findingTitle.ts';
import { groupOccurrences } from '../../../src/editor/findings/occurrences.ts';
import { thresholdsFrom } from '../../../src/editor/findings/thresholds.ts';
import { readTrace } from '../../../src/editor/trace/readTrace.ts';
import { writeTrace } from '../../../src/editor/trace/writeTrace.ts';
import { Session } from '../../../src/editor/session/session.ts';
import { standingIn } from '../answers.ts';
import { closeAll, extension, folder, until } from '../extension.ts';

describe('findings and traces', () => {
  after(closeAll);

  it('thresholds come from the settings, and what is not set or makes no sense is the default', () => {
    const names = [
      'alreadyExistsLoop',
      'conflictLoop',
      'fightAlternations',
      'generationLagMs',
      'noOpWrites',
      'updateLoop',
    ] as const;
    const defaults = Object.fromEntries(names.map((name) => [name, defaultThresholds[name]]));
    assert.deepEqual(thresholdsFrom({}), defaults);
    assert.deepEqual(
      thresholdsFrom({ conflictLoopCount: 0, noOpWritesSeconds: 'many', generationLagSeconds: NaN }),
      defaults,
    );
    assert.deepEqual(thresholdsFrom({ conflictLoopCount: 3, conflictLoopSeconds: 2, generationLagSeconds: 5 }), {
      ...defaults,
      conflictLoop: { count: 3, windowMs: 2000 },
      generationLagMs: 5000,
    });
  });

  it('an imported trace leaves the hashes of its Secrets behind: its key is not ours', async () => {
    const api = await extension();
    const file = join(folder, 'with-secret.ovtrace.jsonl');
    const observed = (seq: number, resource: string, kind: string): object => {
      const metadata = { name: 'imported', namespace: 'n', uid: `uid-${resource}`, resourceVersion: 'x' };
      return {
        seq,
        at: seq,
        via: 'watch',
        cluster: 'imported',
        type: 'observed',
        name: { group: '', resource, namespace: 'n', name: 'imported' },
        uid: metadata.uid,
        token: 'x',
        kind,
        apiVersion: 'v1',
        stream: 's',
        change: 'ADDED',
        body: { apiVersion: 'v1', kind, metadata, data: { password: 'hmac:of-another-key' } },
      };
    };
    const header = { trace: 'object-versions', version: 1, createdAt: 1, creator: 'test' };
    const lines = [header, observed(1, 'secrets', 'Secret'), observed(2, 'configmaps', 'ConfigMap')];
    writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
    await vscode.commands.executeCommand('objectVersions.importTrace', vscode.Uri.file(file));
    const bodyOf = (resource: string): unknown =>
      api.history().uids.get(`imported\0uid-${resource}`)?.versions[0]?.body;
    await until('the ConfigMap with its content', () => bodyOf('configmaps'));
    assert.equal(bodyOf('secrets'), undefined);
    assert.ok(api.history().uids.has('imported\0uid-secrets'), 'that it is there is known');
  });

  it('an exported trace is told of, and opened from there', async () => {
    const target = vscode.Uri.file(join(folder, 'exported.ovtrace.jsonl'));
    const told: unknown[][] = [];
    await standingIn(
      'showInformationMessage',
      async (_real, given) => {
        told.push(given);
        return 'Open';
      },
      () =>
        standingIn(
          'showSaveDialog',
          async () => target,
          async () => vscode.commands.executeCommand('objectVersions.exportTrace'),
        ),
    );
    assert.deepEqual(told, [['Saved exported.ovtrace.jsonl.', 'Open', 'Show in Folder']]);
    await until('the trace', () =>
      vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).find(({ label }) => label === 'exported.ovtrace.jsonl'),
    );
  });

  it('a trace that is open by itself is exported, not what this window watches; to share, with other names', async () => {
    const file = join(folder, 'opened.ovtrace.jsonl');
    const cluster = 'a-cluster-of-the-trace';
    const event = {
      type: 'observed',
      seq: 1,
      at: 1000,
      via: 'watch',
      stream: 's',
      change: 'ADDED',
      cluster,
      name: { group: '', resource: 'configmaps', namespace: 'trace-only', name: 'kept' },
      uid: 'uid-kept',
      token: 'first',
    };
    const header = {
      trace: 'object-versions',
      version: 1,
      createdAt: 1,
      creator: 'test',
      clusters: { [cluster]: { label: 'theirs' } },
    };
    writeFileSync(file, [header, event].map((line) => `${JSON.stringify(line)}\n`).join(''));
    const { source } = await readTrace(file, defaultThresholds, new AbortController().signal);
    const target = join(folder, 'again.ovtrace.jsonl');
    const exported = async (shared: boolean): Promise<object[]> => {
      await writeTrace(target, source, { creator: 'test', at: 1 }, shared, new AbortController().signal);
      const lines = readFileSync(target, 'utf8').trimEnd().split('\n');
      return lines.map((line) => JSON.parse(line) as object);
    };
    const [first, ...events] = await exported(false);
    assert.deepEqual([(first as typeof header).clusters, events], [header.clusters, [event]]);
    const shared = JSON.stringify(await exported(true));
    assert.match(shared, /"resource":"configmaps"/);
    assert.doesNotMatch(shared, /trace-only|kept|theirs/);
  });

  const finding = (over: Partial<Finding>): Finding => ({
    id: 'recreated',
    severity: 'info',
    cluster: 'c',
    object: { group: '', resource: 'secrets', namespace: 'n', name: 'tls', uid: 'u1' },
    actors: ['issuer'],
    fields: [],
    count: 1,
    firstAt: 1,
    lastAt: 1,
    events: [1],
    explanation: '',
    remedy: '',
    sureness: 'certain',
    ...over,
  });

  it('what one rule says about one object is one row with its occurrences, whatever the incarnation', () => {
    const { object } = finding({});
    const all = [
      finding({ lastAt: 10 }),
      finding({ lastAt: 30, object: { ...object, uid: 'u3' }, count: 4, actors: ['other', 'issuer'] }),
      finding({ lastAt: 20, object: { ...object, uid: 'u2' } }),
      finding({ lastAt: 25, object: { ...object, name: 'else' } }),
      finding({ lastAt: 5, cluster: 'd' }),
      finding({ lastAt: 4, kind: 'k' }),
    ];
    const groups = groupOccurrences(all);
    assert.deepEqual(
      groups.map(({ newest, all: those, count, actors }) => [
        newest.lastAt,
        those.map(({ lastAt }) => lastAt),
        count,
        actors,
      ]),
      [
        [30, [30, 20, 10], 6, ['other', 'issuer']],
        [25, [25], 1, ['issuer']],
        [5, [5], 1, ['issuer']],
        [4, [4], 1, ['issuer']],
      ],
    );
  });

  it('what is found later moves no row and changes no title, whoever was last', () => {
    const web = { group: 'apps', resource: 'deployments', namespace: 'shop', name: 'web', uid: 'w' };
    const fight = finding({
      id: 'ownership-fight',
      object: web,
      actors: ['deployer', 'autoscaler'],
      fields: ['.spec.replicas'],
      firstAt: 10,
      lastAt: 20,
    });
    const takeover = finding({ id: 'force-takeover', object: web, fields: ['.spec.paused'], firstAt: 12, lastAt: 12 });
    const later = { ...fight, actors: ['autoscaler', 'deployer'], firstAt: 30, lastAt: 40, count: 4 };
    const titles = (all: readonly Finding[]): string[] => groupOccurrences(all).map(({ first }) => findingTitle(first));
    const before = titles([fight, takeover]);
    assert.deepEqual(before, ['deployer ⇄ autoscaler: .spec.replicas', 'issuer took .spec.paused by force']);
    assert.deepEqual(titles([fight, takeover, later]), before);
    for (const id of findingIds) {
      const one = findingTitle(finding({ id, fields: ['.a'], actors: ['x', 'y'], count: 2, explanation: 'e' }));
      const more = finding({ id, fields: ['.a'], actors: ['x', 'y'], count: 77, lastAt: 77_000, explanation: 'e' });
      assert.equal(findingTitle(more), one, `${id} is called the same while it goes on`);
    }
  });

  it('other thresholds hold at once: everything in the log is judged anew, in slices, and what comes meanwhile too', async () => {
    let loop = 100;
    const session = new Session(
      (error) => assert.fail(String(error)),
      () => ({ conflictLoop: { count: loop, windowMs: 60_000 } }),
    );
    const refused = (at: number): NewTraceEvent => ({
      type: 'write',
      at,
      via: 'recorder',
      cluster: 'c',
      actor: { client: 'op' },
      verb: 'replace',
      name: { group: '', resource: 'configmaps', namespace: 'n', name: 'hot' },
      preconditions: { uid: '00000000-0000-4000-8000-000000000001', token: `t${at}` },
      outcome: 'version-conflict',
      code: 409,
    });
    const loops = (): number => session.findings().filter(({ id }) => id === 'hot-conflict-loop').length;
    try {
      session.append(Array.from({ length: 12 }, (_unused, index) => refused(1000 + index * 100)));
      assert.equal(loops(), 0);
      loop = 5;
      session.judgeAnew();
      const told = new Promise<boolean>((resolve) => {
        session.onDidChange(({ findingsChanged }) => findingsChanged && resolve(true));
      });
      assert.equal(await told, true);
      assert.equal(loops(), 1);
      loop = 100;
      session.append(Array.from({ length: 5000 }, (_unused, index) => refused(3_000_000 + index * 60_000)));
      session.judgeAnew();
      session.append([refused(900_000_000)]);
      await until('that nothing is left of it', () => (loops() === 0 ? true : undefined));
    } finally {
      session.dispose();
    }
  });

  it('a finding is explained by the page of its rule, from the findings and from below an object', async () => {
    const opened = async (node: unknown): Promise<unknown> => {
      await vscode.commands.executeCommand('objectVersions.explainFinding', node);
      return until(
        'its page',
        () =>
          vscode.window.tabGroups.all
            .flatMap(({ tabs }) => tabs)
            .find(({ label }) => label.includes('recreated') || label.includes('force-takeover'))?.label,
      );
    };
    assert.match(String(await opened({ type: 'finding', finding: finding({}) })), /recreated/);
    await closeAll();
    const evidence = finding({ id: 'force-takeover' });
    assert.match(String(await opened({ type: 'detail', id: 'x', label: 'x', evidence })), /force-takeover/);
  });
});
