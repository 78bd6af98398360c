import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { systemClock } from '../../src/base/clock.ts';
import { registerCommands } from '../../src/cli/commands.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');
let shown = '';
const program = new Command('object-versions').exitOverride().configureOutput({ writeOut: (text) => (shown += text) });
registerCommands(program, {
  stdout: () => undefined,
  stderr: () => undefined,
  stdin: process.stdin,
  env: {},
  clock: systemClock,
  signal: new AbortController().signal,
  exit: () => undefined,
});

/** The commands that do something, by the words that name them. */
function leaves(command: Command, path: readonly string[] = []): [string, Command][] {
  return command
    .createHelp()
    .visibleCommands(command)
    .flatMap((child): [string, Command][] => {
      const words = [...path, child.name()];
      if (child.name() === 'help') return [];
      return child.commands.length > 0 && child.registeredArguments.length === 0
        ? leaves(child, words)
        : [[words.join(' '), child]];
    });
}

function helpOf(command: Command): string {
  shown = '';
  command.outputHelp();
  return shown;
}

describe('the help of each command', () => {
  for (const [name, command] of leaves(program)) {
    it(`of ${name} ends with examples that it understands, and a page that is there`, () => {
      const help = helpOf(command);
      const examples = [...help.matchAll(/^ {2}(?:source <\()?object-versions (.+?)\)?$/gm)].map(([, line = '']) =>
        line.replace(/ +#.*| > \S+$/, ''),
      );
      assert.ok(examples.length > 0, help);
      for (const example of examples) {
        const words = example.match(/'[^']*'|\S+/g)?.map((word) => word.replaceAll("'", '')) ?? [];
        assert.equal(words.slice(0, name.split(' ').length).join(' '), name);
        assert.deepEqual(command.parseOptions(words.slice(name.split(' ').length)).unknown, [], example);
      }
      const page = /^More: docs\/(\S+)$/m.exec(help)?.[1];
      assert.ok(page !== undefined && existsSync(join(docs, page)), help);
    });

    it(`of ${name} shows no default that says nothing`, () => {
      assert.doesNotMatch(helpOf(command), /default: \[\]/);
    });
  }
});
