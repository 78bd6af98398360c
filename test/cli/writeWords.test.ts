import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { at, Caller, CONFIG_MAPS, configMap } from '../sandbox/apiCalls.ts';
import { BundledCli, type CliResult } from '../write/runCli.ts';

describe('what the command line says of a write', function () {
  this.timeout(60_000);
  let sandbox: Sandbox;
  let caller: Caller;
  let folder: string;
  let cli: BundledCli;
  before(async () => {
    sandbox = await startSandbox();
    caller = new Caller(sandbox);
    folder = await mkdtemp(join(tmpdir(), 'object-versions-words-'));
    await writeFile(join(folder, 'kubeconfig'), sandbox.kubeconfig);
    cli = await BundledCli.make();
  });
  after(async () => {
    caller?.close();
    await cli?.dispose();
    await sandbox?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const run = (...args: string[]): Promise<CliResult> => cli.run([...args, '--kubeconfig', join(folder, 'kubeconfig')]);
  const made = async (name: string): Promise<string> => {
    const { body } = await caller.send('POST', CONFIG_MAPS, configMap(name));
    return String(at(body, 'metadata.resourceVersion'));
  };

  it('a kind without observedGeneration has nothing to wait for, and the write is done', async () => {
    await made('unobserved');
    const { code, stdout } = await run('modify', 'cm', 'unobserved', '--set', 'data.k="w"', '--wait');
    assert.deepEqual(
      [code, stdout.split('\n')],
      [
        0,
        [
          'configmaps default/unobserved: written',
          '  The kind ConfigMap has no observedGeneration: there is nothing to wait for.',
          '',
        ],
      ],
    );
  });

  it('a kind that reports none says so when the time is over', async () => {
    const labels = { app: 'a' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    const body = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'unreported' },
      spec: { selector: { matchLabels: labels }, template },
    };
    await caller.send('POST', '/apis/apps/v1/namespaces/default/deployments', body);
    const late = await run('modify', 'deploy', 'unreported', '--set', 'spec.replicas=3', '--wait', '--timeout', '2');
    assert.equal(late.code, 9);
    assert.match(late.stdout, /observed: timed-out\. It reports no observedGeneration so far\./);
  });

  it('a field conflict is told once, with what is to be added to the command', async () => {
    const token = await made('owned');
    const command = ['modify', 'cm', 'owned', '--set', 'data.k="w"', '--strategy', 'apply', '--field-manager', 'ada'];
    const refused = await run(...command);
    assert.deepEqual([refused.code, refused.stderr], [3, '']);
    assert.equal(refused.stdout.match(/\.data\.k is owned by tester/g)?.length, 1);
    assert.doesNotMatch(refused.stdout, /conflict with/);
    const added = /^ {4}(--on-field-conflict '(\.data\.k=take-over)' --shown-token (\S+))$/m.exec(refused.stdout);
    assert.equal(added?.[3], token);
    const taken = await run(...command, '--on-field-conflict', added[2] ?? '', '--shown-token', token);
    assert.deepEqual([taken.code, taken.stdout], [0, 'configmaps default/owned: written\n']);
  });

  it('a lost answer that was settled is told as settled', async () => {
    await made('lost');
    sandbox.faults.add({ kind: 'lost-answer', times: 1, match: { resource: 'configmaps', verb: 'update' } });
    const { code, stdout } = await run('modify', 'cm', 'lost', '--set', 'data.k="w"');
    assert.equal(code, 0);
    assert.match(stdout, /^ {2}attempt 1: uncertain, settled by reading: stored$/m);
  });

  it('a delete of another UID claims no more than was seen', async () => {
    await made('other');
    const { code, stdout } = await run('delete', 'cm', 'other', '--uid', '0000');
    assert.equal(code, 8);
    assert.match(stdout, /has another UID now: the incarnation that was meant is not there, and nothing was deleted/);
  });
});
