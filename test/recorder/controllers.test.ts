import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedApiServer } from '../apiserver/apiServer.ts';
import { run, told } from './cli.ts';
import { controllersProgram } from './goProgram.ts';

/** What each planted bug must be called; its correct twin must be called nothing. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  'token-swap': ['lost-update/token-swap'],
  unconditional: ['lost-update/unconditional-overwrite'],
  finalizer: ['lost-update/finalizer'],
  'list-clobber': ['lost-update/list-clobber'],
  'index-patch': ['lost-update/index-patch'],
  'hot-loop': ['hot-conflict-loop/self-conflict'],
  'already-exists': ['already-exists-loop'],
  'force-takeover': ['force-takeover'],
  fight: ['ownership-fight'],
  'update-loop': ['update-loop'],
  'no-op': ['no-op-writes'],
  'stale-delete': ['stale-incarnation-write/delete'],
  'stale-overwrite': ['stale-incarnation-write/overwrite'],
  'invented-token': ['invented-token'],
  'leader-election': [],
  contention: [],
  'informer-controller': [],
};

describe('Go controllers behind the recorder, on the real server', function () {
  this.timeout(120_000);
  let kubeconfig = '';
  let folder = '';
  let program: string | undefined;

  before(async function () {
    const server = await sharedApiServer(this);
    this.timeout(1_200_000);
    folder = await mkdtemp(join(tmpdir(), 'controllers-test-'));
    kubeconfig = await server.kubeconfig(join(folder, 'config'));
    program = await controllersProgram();
    if (program === undefined) {
      process.stderr.write('controllers: there is no Go here, so that no controller ran behind the recorder.\n');
      if (process.env['CI'] === 'true') throw new Error('The controllers need Go.');
      this.skip();
    }
  });

  after(() => rm(folder, { recursive: true, force: true }));

  for (const [scenario, expected] of Object.entries(EXPECTED)) {
    it(`${scenario}: the bug is named and nothing else, its correct twin is silent`, async () => {
      for (const variant of expected.length === 0 ? ['good'] : ['bug', 'good']) {
        const ran = await run(
          [
            'record',
            '--kubeconfig',
            kubeconfig,
            '--client',
            'controller',
            '-o',
            'json',
            '--',
            program ?? '',
            scenario,
            variant,
          ],
          { DIRECT_KUBECONFIG: kubeconfig },
        );
        assert.equal(ran.code, 0, ran.stderr);
        assert.deepEqual(told(ran.stdout), variant === 'bug' ? expected : [], `${variant}\n${ran.stdout}`);
      }
    });
  }

  it('protobuf is read as it is when the recorder leaves every byte alone', async () => {
    const ran = await run(
      [
        'record',
        '--kubeconfig',
        kubeconfig,
        '--transparent',
        '-o',
        'json',
        '--fail-on',
        'lost-update',
        '--',
        program ?? '',
        'token-swap',
        'bug',
      ],
      { DIRECT_KUBECONFIG: kubeconfig },
    );
    assert.equal(ran.code, 10, ran.stderr);
    assert.deepEqual(told(ran.stdout), ['lost-update/token-swap']);
  });
});
