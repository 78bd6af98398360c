import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { JsonObject } from '../../src/codec/json.ts';
import { sarifErrors } from '../findings/sarif/sarifErrors.ts';
import { run, told, type Ran } from './cli.ts';

interface SarifResult {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: readonly {
    readonly physicalLocation?: unknown;
    readonly logicalLocations?: readonly { readonly fullyQualifiedName: string }[];
  }[];
  readonly partialFingerprints: Readonly<Record<string, string>>;
}

interface Report {
  readonly findings: readonly unknown[];
}

function resultsOf(sarif: string): string[][] {
  const { runs } = JSON.parse(sarif) as { runs: { results: SarifResult[] }[] };
  return runs.flatMap(({ results }) => results.map(({ ruleId, message }) => [ruleId, message.text]));
}

type Level = 'Metadata' | 'Request' | 'RequestResponse';

/** Writes an audit log as an API server does, one request a line. */
class AuditLog {
  readonly lines: string[] = [];
  at = Date.UTC(2026, 0, 1);

  add(
    user: string,
    verb: string,
    more: {
      level?: Level;
      ref?: JsonObject;
      code?: number;
      status?: JsonObject;
      query?: string;
      request?: JsonObject;
      response?: JsonObject;
      stage?: string;
    },
  ): this {
    this.at += 100;
    const time = new Date(this.at).toISOString().replace('Z', '000Z');
    const level = more.level ?? 'RequestResponse';
    const ref = { resource: 'configmaps', namespace: 'lab', name: 'demo', apiVersion: 'v1', ...more.ref };
    this.lines.push(
      JSON.stringify({
        kind: 'Event',
        apiVersion: 'audit.k8s.io/v1',
        level,
        auditID: String(this.lines.length),
        stage: more.stage ?? 'ResponseComplete',
        requestURI: `/api/v1/namespaces/lab/${ref.resource}/${ref.name}${more.query ?? ''}`,
        verb,
        user: { username: user },
        userAgent: `${user}/v1`,
        objectRef: ref,
        responseStatus: { metadata: {}, code: more.code ?? 200, ...more.status },
        ...(more.request === undefined || level === 'Metadata' ? {} : { requestObject: more.request }),
        ...(more.response === undefined || level !== 'RequestResponse' ? {} : { responseObject: more.response }),
        requestReceivedTimestamp: time,
        stageTimestamp: time,
      }),
    );
    return this;
  }

  get text(): string {
    return this.lines.map((line) => `${line}\n`).join('');
  }
}

const uid = (letter: string): string => `${letter.repeat(8)}-0000-4000-8000-000000000000`;
const object = (token: string, data: JsonObject, own = uid('a'), name = 'demo'): JsonObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'lab', uid: own, resourceVersion: token },
  data,
});

/** A1: content of an older read with a newer token. */
function tokenSwap(level: Level = 'RequestResponse'): AuditLog {
  return new AuditLog()
    .add('alice', 'get', { level, response: object('1', { ann: '1' }) })
    .add('bob', 'get', { level, response: object('1', { ann: '1' }) })
    .add('bob', 'update', {
      level,
      ref: { uid: uid('a'), resourceVersion: '1' },
      request: object('1', { ann: '1', bob: '1' }),
      response: object('2', { ann: '1', bob: '1' }),
    })
    .add('alice', 'get', { level, response: object('2', { ann: '1', bob: '1' }) })
    .add('alice', 'update', {
      level,
      ref: { uid: uid('a'), resourceVersion: '2' },
      request: object('2', { ann: '1', cyd: '1' }),
      response: object('3', { ann: '1', cyd: '1' }),
    });
}

describe('analyze', function () {
  this.timeout(120_000);
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'analyze-test-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function file(name: string, content: string | Buffer): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  }

  async function analysed(content: string, ...args: string[]): Promise<Ran> {
    return run(['analyze', await file('audit.log', content), '--format', 'json', ...args]);
  }

  it('finds a token swap in an audit log, plain, packed, and from standard input', async () => {
    const { text } = tokenSwap();
    assert.deepEqual(told((await analysed(text)).stdout), ['lost-update/token-swap']);
    const packed = await run(['analyze', await file('audit.log.gz', gzipSync(text)), '-o', 'json']);
    assert.deepEqual(told(packed.stdout), ['lost-update/token-swap']);
    const piped = await run(['analyze', '-', '-o', 'json'], {}, gzipSync(text));
    assert.deepEqual(told(piped.stdout), ['lost-update/token-swap']);
  });

  it('reads a pipe that has a name, plain and packed, without ending what writes to it', async function () {
    if (process.platform === 'win32') this.skip();
    const path = join(folder, 'pipe');
    spawnSync('mkfifo', [path]);
    for (const content of [tokenSwap().text, gzipSync(tokenSwap().text)]) {
      const writing = writeFile(path, content);
      const ran = await run(['analyze', path, '-o', 'json']);
      await writing;
      assert.deepEqual(told(ran.stdout), ['lost-update/token-swap']);
    }
  });

  it('says what a lower level cannot tell, and guesses nothing', async () => {
    const ran = await analysed(tokenSwap('Metadata').text);
    assert.deepEqual(told(ran.stdout), []);
    const report = JSON.parse(ran.stdout) as { notAnalysed: { withoutBodies: number }; notes: string[] };
    assert.equal(report.notAnalysed.withoutBodies, 5);
    assert.ok(report.notes.some((note) => note.includes('Metadata')));
  });

  it('finds a hot loop at the level Metadata', async () => {
    const log = new AuditLog();
    for (let index = 0; index < 15; index += 1) {
      log.add('alice', 'update', {
        level: 'Metadata',
        ref: { resourceVersion: '7' },
        code: 409,
        status: {
          status: 'Failure',
          reason: 'Conflict',
          message:
            'Operation cannot be fulfilled on configmaps "demo": the object has been modified; please apply your changes to the latest version and try again',
        },
      });
    }
    assert.deepEqual(told((await analysed(log.text)).stdout), ['hot-conflict-loop']);
  });

  it('merges the files of two servers by time', async () => {
    const { lines } = tokenSwap();
    const one = await file('one.log', `${lines.filter((_line, index) => index % 2 === 0).join('\n')}\n`);
    const two = await file('two.log', `${lines.filter((_line, index) => index % 2 === 1).join('\n')}\n`);
    const ran = await run(['analyze', two, one, '-o', 'json']);
    assert.deepEqual(told(ran.stdout), ['lost-update/token-swap']);
    assert.ok(
      (JSON.parse(ran.stdout) as { notes: string[] }).notes.some((note) => note.includes('several API servers')),
    );
  });

  it('exits with 10 on what it is told to fail on, unless that is allowed and has not expired', async () => {
    const { text } = tokenSwap();
    assert.equal((await analysed(text, '--fail-on', 'lost-update')).code, 10);
    assert.equal((await analysed(text, '--fail-on', 'lost-update/finalizer,recreated')).code, 0);
    assert.equal((await analysed(text, '--fail-on', 'error')).code, 10);
    const entry = (expires: string): string =>
      `- id: lost-update\n  resource: configmaps\n  name: de*\n  reason: known\n  expires: ${expires}\n`;
    assert.equal(
      (await analysed(text, '--fail-on', 'any', '--allow', await file('allow.yaml', entry('2999-01-01')))).code,
      0,
    );
    const expired = await analysed(text, '--fail-on', 'any', '--allow', await file('allow.yaml', entry('2020-01-01')));
    assert.equal(expired.code, 10);
    assert.ok(expired.stdout.includes('has expired'));
    assert.equal(
      (await analysed(text, '--allow', await file('allow.yaml', '- id: lost-update\n  expires: 2999-01-01\n'))).code,
      2,
    );
    assert.equal((await analysed(text, '--fail-on', 'nonsense')).code, 2);
  });

  it('prints SARIF, JUnit, text and one HTML file without any script', async () => {
    const path = await file('audit.log', tokenSwap().text);
    const sarif = JSON.parse((await run(['analyze', path, '--format', 'sarif'])).stdout) as {
      version: string;
      runs: [{ tool: { driver: { name: string; rules: { id: string }[] } }; results: SarifResult[] }];
    };
    assert.equal(sarif.version, '2.1.0');
    assert.deepEqual(sarifErrors(sarif), []);
    // What code scanning asks for beyond the schema: a place in a file, and a fingerprint of its own for each result.
    const { tool, results } = sarif.runs[0];
    for (const result of results) {
      assert.equal(tool.driver.rules[result.ruleIndex]?.id, result.ruleId);
      assert.ok(result.message.text.length > 20);
      const { physicalLocation, logicalLocations } = result.locations[0] ?? {};
      assert.deepEqual(physicalLocation, { artifactLocation: { uri: 'audit.log' }, region: { startLine: 1 } });
      assert.equal(logicalLocations?.[0]?.fullyQualifiedName, 'configmaps lab/demo');
      assert.match(result.partialFingerprints['primaryLocationLineHash'] ?? '', /^[0-9a-f]+:1$/);
    }
    assert.deepEqual(
      sarif.runs[0].results.map((result) => [result.ruleId, result.level]),
      [['lost-update', 'error']],
    );
    const junit = (await run(['analyze', path, '--format', 'junit'])).stdout;
    assert.match(junit, /<testsuite [^>]*failures="1"/);
    const html = (await run(['analyze', path, '--format', 'html'])).stdout;
    assert.match(html, /<svg/);
    assert.match(html, /1 finding in 10 events, 2026-01-01\./);
    const names = [...html.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, name]) => name);
    assert.deepEqual(names.slice(names.indexOf('demo')), ['demo', 'lab · 2 actors', 'alice', 'bob', names.at(-1)]);
    assert.match(html, /<a href="#f0"><g><title>event \d+: bob replace/);
    assert.match(
      html,
      /<li class="accepted">event \d+: [\d:.]+ <b>bob<\/b> replace of version <span class="badge c\d" title="token &quot;1&quot;">[a-z]{2}·[\da-f]{2}<\/span>: accepted, now <span [^>]*"token &quot;2&quot;">/,
    );
    assert.match(html, /<li class="refused">|<li class="read">/);
    assert.ok(!html.includes('<script') && !/https?:\/\//.test(html));
    const text = (await run(['analyze', path])).stdout;
    assert.match(text, /error: lost-update \(token-swap\) on configmaps lab\/demo/);
    const page = /Each has a page: "Explain Finding" in the editor, or (\S+)\.$/m.exec(text)?.[1] ?? '';
    assert.match(await readFile(page, 'utf8'), /^# lost-update/);
    assert.match(text, /\.data\.bob/);
  });

  it('shards give together what one run gives, references between objects of different shards too', async () => {
    const log = tokenSwap();
    log.add('bob', 'delete', {
      ref: { name: 'other' },
      response: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: 'other', uid: uid('b') },
      },
    });
    const before = new AuditLog().add('bob', 'create', {
      ref: { name: 'other' },
      code: 201,
      response: object('1', {}, uid('b'), 'other'),
    });
    log.add('bob', 'create', { ref: { name: 'other' }, code: 201, response: object('8', {}, uid('c'), 'other') });
    for (let index = 0; index < 6; index += 1)
      log.add('bob', 'create', {
        ref: { name: `registry-${index}` },
        code: 201,
        response: object('9', { lb: `uid=${uid('b')}` }, uid(String(index)), `registry-${index}`),
      });
    const path = await file('all.log', before.text + log.text);
    const whole = told((await run(['analyze', path, '-o', 'json'])).stdout);
    assert.deepEqual(whole, ['lost-update/token-swap', ...Array.from({ length: 6 }, () => 'stale-reference')]);
    const shards: string[] = [];
    for (const index of [1, 2, 3])
      shards.push(
        await file(
          `shard-${index}.json`,
          (await run(['analyze', path, '--shard', `${index}/3`, '--format', 'json'])).stdout,
        ),
      );
    const merged = await run(['analyze', '--merge', ...shards, '--format', 'json', '--fail-on', 'lost-update']);
    assert.equal(merged.code, 10, merged.stderr);
    assert.deepEqual(told(merged.stdout), whole);
    const one = JSON.parse((await run(['analyze', path, '-o', 'json'])).stdout) as Report;
    const all = JSON.parse(merged.stdout) as Report;
    const texts = (report: Report): string[] => report.findings.map((finding) => JSON.stringify(finding)).sort();
    assert.deepEqual(texts(all), texts(one));
    assert.deepEqual({ ...all, findings: [] }, { ...one, findings: [] });
    for (const format of ['text', 'html', 'sarif', 'junit']) {
      const own = (await run(['analyze', path, '--format', format])).stdout;
      const put = (await run(['analyze', '--merge', ...shards, '--format', format])).stdout;
      // Code scanning is told in which file: a merge knows the files of the shards only.
      if (format === 'sarif') assert.deepEqual(resultsOf(put), resultsOf(own));
      else assert.equal(put, own, format);
    }
    assert.equal((await run(['analyze', '--merge', shards[0] ?? '', '--format', 'json'])).code, 2);
  });

  it('counts lines that are no JSON and a torn last line, reads the rest, and refuses what is no log at all', async () => {
    const { lines } = tokenSwap();
    const ran = await analysed(
      `${lines[0] ?? ''}\nnot json\n${lines.slice(1).join('\n')}\n${(lines[0] ?? '').slice(0, 50)}`,
    );
    assert.deepEqual(told(ran.stdout), ['lost-update/token-swap']);
    const { notAnalysed } = JSON.parse(ran.stdout) as { notAnalysed: { unreadableLines: number; tornLines: number } };
    assert.deepEqual([notAnalysed.unreadableLines, notAnalysed.tornLines], [1, 1]);
    assert.equal((await analysed('hello\nworld\n')).code, 1);
    for (const nothing of ['', '\n\n']) {
      const empty = await analysed(nothing, '--fail-on', 'any');
      assert.equal(empty.code, 1);
      assert.match(empty.stderr, /audit\.log is empty/);
    }
    assert.equal((await run(['analyze', join(folder, 'none.log')])).code, 1);
    const [whole, empty] = [join(folder, 'whole.log'), join(folder, 'rotated.log')];
    await writeFile(whole, `${lines.join('\n')}\n`);
    await writeFile(empty, '');
    for (const files of [
      [whole, empty],
      [empty, whole],
    ]) {
      const among = await run(['analyze', ...files, '--format', 'json']);
      assert.equal(among.code, 0, among.stderr);
      assert.deepEqual(told(among.stdout), ['lost-update/token-swap']);
      assert.ok((JSON.parse(among.stdout) as { notes: string[] }).notes.includes(`${empty} is empty.`), among.stdout);
    }
    assert.equal((await run(['analyze', empty, empty])).code, 1);
  });

  it("never prints a Secret's value", async () => {
    const secret = (token: string, value: string): JsonObject => ({
      kind: 'Secret',
      apiVersion: 'v1',
      metadata: { name: 's', namespace: 'lab', uid: uid('d'), resourceVersion: token },
      data: { password: value },
    });
    const ref = { resource: 'secrets', name: 's' };
    const log = new AuditLog()
      .add('alice', 'get', { ref, response: secret('1', 'b2xk') })
      .add('bob', 'update', { ref, request: secret('1', 'bmV3'), response: secret('2', 'bmV3') });
    log.add('alice', 'update', { ref, request: secret('', 'b2xk'), response: secret('3', 'b2xk') });
    const ran = await analysed(log.text);
    assert.deepEqual(told(ran.stdout), ['lost-update/unconditional-overwrite']);
    assert.ok(!ran.stdout.includes('b2xk') && !ran.stdout.includes('bmV3'));
  });
});
