import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { terminalEnv } from '../../scripts/bootstrap.mjs';
import { findCommandLine } from '../../src/editor/labs/commandLine.ts';

const root = join(import.meta.dirname, '..', '..');

describe('object-versions in a terminal', () => {
  const node = dirname(process.execPath);
  const runs = (PATH: string): string =>
    spawnSync('object-versions', ['--version'], { env: { ...process.env, PATH }, encoding: 'utf8' }).stdout;
  let empty: string;
  before(() => {
    empty = mkdtempSync(join(tmpdir(), 'object-versions-terminal-'));
  });
  after(() => rmSync(empty, { recursive: true, force: true }));

  it('is found beside an extension that runs from a clone', function () {
    if (process.platform === 'win32') this.skip();
    const found = findCommandLine(root, { PATH: node });
    assert.ok(found.kind === 'beside', found.kind);
    assert.match(runs(found.path), /^\d+\.\d+\.\d+/);
    assert.deepEqual(findCommandLine(root, { PATH: found.path }), { kind: 'there' });
  });

  it('is on the PATH of what npm start opens', function () {
    if (process.platform === 'win32') this.skip();
    const { PATH = '' } = terminalEnv();
    assert.match(runs([PATH, node].join(delimiter)), /^\d+\.\d+\.\d+/);
    assert.deepEqual(findCommandLine(empty, { PATH }), { kind: 'there' });
  });

  it('is missing beside an installed extension, whose package does not hold it', () => {
    assert.deepEqual(findCommandLine(empty, { PATH: node }), { kind: 'missing' });
  });
});
