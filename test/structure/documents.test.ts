import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { systemClock } from '../../src/base/clock.ts';
import { registerCommands } from '../../src/cli/commands.ts';
import { exitCodes } from '../../src/cli/exitCodes.ts';
import type { CliIo } from '../../src/cli/io.ts';
import { contentionStrategies } from '../../src/lab/contention.ts';
import { builtInLessons } from '../../src/lab/lessonFiles.ts';
import { replaySteps } from '../../src/lab/replaySteps.ts';
import { findingIds } from '../../src/core/findings/finding.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

describe('the documents', () => {
  it('explain every error code', () => {
    const codes = [
      ...(/type ErrorCode =([^;]+);/.exec(read('src/base/appError.ts'))?.[1] ?? '').matchAll(/'([\w-]+)'/g),
    ].map((found) => found[1]);
    assert.ok(codes.length > 10);
    const page = read('docs/errors.md');
    assert.deepEqual(
      codes.filter((code) => !page.includes(`| \`${code}\` |`)),
      [],
    );
  });

  it('list every exit code', () => {
    const page = read('docs/command-line.md');
    assert.deepEqual(
      Object.values(exitCodes).filter((code) => !page.includes(`| ${code} |`)),
      [],
    );
  });

  it('list every command and option', () => {
    const io: CliIo = {
      stdout: () => undefined,
      stderr: () => undefined,
      stdin: process.stdin,
      env: {},
      clock: systemClock,
      signal: new AbortController().signal,
      exit: () => undefined,
    };
    const program = new Command('object-versions');
    registerCommands(program, io);
    const page = read('docs/command-line.md');
    const missing = program.commands
      .flatMap((command) => [command, ...command.commands])
      .filter((command) => command.name() !== 'complete')
      .flatMap((command) => [
        ...(page.includes(command.name()) ? [] : [command.name()]),
        ...command.options.flatMap(({ long }) => (long === undefined || page.includes(long) ? [] : [long])),
      ]);
    assert.deepEqual(missing, []);
  });

  it('have a page for every finding', () => {
    assert.ok(findingIds.length > 15);
    assert.deepEqual(
      findingIds.filter((id) => !existsSync(join(root, 'docs/findings', `${id}.md`))),
      [],
    );
  });

  it('name for each sentence of the contract steps that there are, and use every step of every lesson', () => {
    const table = /## What is learnt where\n([\s\S]*?)\n## /.exec(read('docs/teaching.md'))?.[1] ?? '';
    const known = new Set([
      ...builtInLessons().flatMap(({ id, steps }) => steps.map((step) => `${id}/${step.id}`)),
      ...replaySteps.map(({ id }) => id),
    ]);
    const named = table.split('\n').flatMap((row) => {
      let lesson = '';
      return [...row.matchAll(/`([\w-]*\/)?([\w-]+)`/g)].map(([, before, name = '']) => {
        if (before === undefined) return name;
        if (before !== '/') lesson = before.slice(0, -1);
        return `${lesson}/${name}`;
      });
    });
    assert.deepEqual(
      named.filter((name) => !known.has(name) && !contentionStrategies.some((strategy) => strategy === name)),
      [],
    );
    assert.deepEqual(
      [...known].filter((name) => name.includes('/') && !named.includes(name)),
      [],
    );
  });

  it('link only to what is there', () => {
    const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root });
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map((found) => found[1] ?? '')
        .filter((link) => !/^[a-z]+:/.test(link) && !existsSync(join(root, dirname(page), link)))
        .map((link) => `${page}: ${link}`),
    );
    assert.deepEqual(broken, []);
  });
});
