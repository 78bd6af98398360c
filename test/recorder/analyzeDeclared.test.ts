import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { associationNote } from '../../src/core/associations.ts';
import { printTraceLine } from '../../src/core/trace.ts';
import type { TraceEvent } from '../../src/core/traceEvent.ts';
import { configMap, data, Scenario } from '../findings/scenario.ts';
import { run, told } from './cli.ts';

describe('analyze knows what was declared', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'analyze-declared-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function file(name: string, content: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  }
  const trace = (events: readonly TraceEvent[]): Promise<string> =>
    file(
      'trace.jsonl',
      [{ trace: 'object-versions', version: 1, createdAt: 1, creator: 'test' } as const, ...events]
        .map((item) => `${printTraceLine(item).trimEnd()}\n`)
        .join(''),
    );

  it('of things outside of the cluster from the trace itself, as the window it was exported from', async () => {
    const s = new Scenario();
    s.stream(configMap(), 'U1', 'v1', data({ a: '1' }));
    const declared = { cluster: 'c1', name: configMap(), uid: 'U1', what: 'disk', id: 'd-1', declaredAt: 1 };
    s.events.push({ ...associationNote(declared, false, s.at), seq: s.events.length + 1 });
    s.gone(configMap(), 'U1');
    s.stream(configMap(), 'U2', 'v2', data({ a: '1' }));
    const ran = await run(['analyze', await trace(s.events), '-o', 'json']);
    assert.deepEqual(
      told(ran.stdout).filter((id) => id !== 'recreated'),
      ['stale-reference/association'],
    );
  });

  it('of responsibilities from a file, as the setting has them', async () => {
    const s = new Scenario();
    const toy = configMap('toy');
    s.stream(toy, 'U1', 'v1', data({ size: '1' }), { kind: 'ConfigMap' });
    const stored = data({ size: '2' });
    const result = { uid: 'U1', token: 'v2' };
    s.write({ client: 'A', manager: 'hand' }, toy, 'replace', { preconditions: { token: 'v1' }, result, stored });
    const path = await trace(s.events);
    assert.deepEqual(told((await run(['analyze', path, '-o', 'json'])).stdout), []);
    const declared = await file(
      'who.yaml',
      '- {kind: ConfigMap, path: .data.size, manager: sizer, reason: it sizes}\n',
    );
    const args = ['analyze', path, '-o', 'json', '--responsibilities', declared];
    assert.deepEqual(told((await run(args)).stdout), ['responsibility-breach']);
    assert.equal((await run([...args, '--fail-on', 'responsibility-breach'])).code, 10);
    const wrong = await file('wrong.yaml', '- {kind: ConfigMap, path: ".data[", manager: sizer, reason: it sizes}\n');
    const refused = await run(['analyze', path, '--responsibilities', wrong]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /wrong\.yaml: 1: \.data\[/);
  });
});
