import assert from 'node:assert/strict';
import { Command } from 'commander';
import { systemClock } from '../../src/base/clock.ts';
import { registerCommands } from '../../src/cli/commands.ts';
import { candidates } from '../../src/cli/completion.ts';

const program = new Command('object-versions');
registerCommands(program, {
  stdout: () => undefined,
  stderr: () => undefined,
  stdin: process.stdin,
  env: {},
  clock: systemClock,
  signal: new AbortController().signal,
  exit: () => undefined,
});

describe('shell completion', () => {
  it('offers commands, subcommands, options and their choices', () => {
    assert.deepEqual(candidates(program, ['mod']), ['modify']);
    assert.deepEqual(candidates(program, ['lab', 'c']), ['contention']);
    assert.deepEqual(candidates(program, ['lab', 'contention', '--strategy', '']), [
      'naive',
      'token-swap',
      'read-modify-write',
      'apply',
    ]);
    assert.ok(candidates(program, ['sandbox', '--s']).includes('--scenario'));
    assert.deepEqual(candidates(program, ['completion', 'f']), ['fish']);
  });

  it('offers nothing where a file is wanted, so that the shell does', () => {
    assert.deepEqual(candidates(program, ['get', '--kubeconfig', '']), []);
  });

  it('never offers the hidden command', () => {
    assert.ok(!candidates(program, ['']).includes('complete'));
  });
});
