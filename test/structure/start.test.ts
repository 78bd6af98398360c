import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

describe('npm start', () => {
  let clone: string;
  // As in a fresh clone: nothing is installed, and nothing is there that could be.
  before(() => {
    clone = mkdtempSync(join(tmpdir(), 'object-versions-clone-'));
    cpSync(join(import.meta.dirname, '..', '..', 'scripts'), join(clone, 'scripts'), { recursive: true });
  });
  after(() => rmSync(clone, { recursive: true }));

  const start = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, [join(clone, 'scripts', 'start.mjs'), ...args], { encoding: 'utf8' });

  it('says how it is used when it is asked', () => {
    const { status, stdout, stderr } = start('--help');
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^usage: npm start -- \[options\]/);
  });

  for (const [what, args, said] of [
    ['an option that there is not', ['--nope'], /Unknown option '--nope'/],
    [
      'a kubeconfig that is not there',
      ['--kubeconfig', '/nonexistent/kubeconfig'],
      /ENOENT.*\/nonexistent\/kubeconfig/,
    ],
    ['a port that is none', ['--port', 'x'], /"x" is no port/],
  ] as const)
    it(`${what} ends it before anything is installed or built, in words`, () => {
      const { status, stdout, stderr } = start(...args);
      assert.deepEqual([status, stdout], [2, '']);
      assert.match(stderr, said);
      assert.match(stderr, /usage: npm start/);
      assert.doesNotMatch(stderr, /^ +at /m, 'no stack');
      assert.doesNotMatch(stderr, /installing|building/);
    });
});
