import { Argument, type Command, type Option } from 'commander';
import { offers, type Candidate } from './completionOffers.ts';
import { completionScripts, type Shell } from './completionScripts.ts';
import type { CliIo } from './io.ts';

/**
 * What kubectl's completion is told in the last line: to offer no files besides (4), or only them (0).
 * Source: cobra, "Active completions: directives" (`ShellCompDirective`); kubectl, `plugin_completion.go`.
 */
const directives = { noFiles: ':4', files: ':0' } as const;

/** Registers `completion` and the hidden `complete` that its scripts and kubectl ask. */
export function registerCompletion(program: Command, io: CliIo): void {
  program
    .command('completion')
    .description('prints a script that completes commands, options and what they take in your shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(completionScripts)))
    .addHelpText(
      'after',
      `
For bash: source <(object-versions completion bash)
For zsh:  source <(object-versions completion zsh), after compinit
For fish: object-versions completion fish | source`,
    )
    .action((shell: Shell) => io.stdout(completionScripts[shell]));
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .option('--about', 'says after a tab what each is')
    .option('--directive', 'ends with a line for cobra, as kubectl asks a plugin')
    .allowUnknownOption()
    .action(async (words: string[], options: { about?: true; directive?: true }) => {
      const found = await candidates(program, words, io.env);
      const last = found.length === 0 ? directives.files : directives.noFiles;
      const lines = found.map(({ word, about = '' }) =>
        options.about === true && about !== '' ? `${word}\t${about}` : word,
      );
      if (options.directive === true) lines.push(last);
      io.stdout(lines.map((line) => `${line}\n`).join(''));
    });
}

/** What the words before the one that is completed amount to. */
interface Typed {
  readonly command: Command;
  /** The value of each option so far, by its long name; the last one counts. */
  readonly values: ReadonlyMap<string, string>;
  /** What is no option and no value of one. */
  readonly others: readonly string[];
  /** The option whose value comes next. */
  readonly awaited?: Option;
  /** `--` was said: no option comes any more. */
  readonly isOver: boolean;
}

/**
 * What may stand in place of the last word: subcommands, options, and what an option or an argument takes where that is
 * known. Nothing where a file or anything else may stand.
 */
export async function candidates(
  program: Command,
  words: readonly string[],
  env: CliIo['env'],
): Promise<readonly Candidate[]> {
  const typed = words.at(-1) ?? '';
  const { command, values, others, awaited, isOver } = readWords(program, words.slice(0, -1));
  const asked = { values, others, env };
  const help = command.createHelp();
  const [name, value] = splitOption(typed);
  if (!isOver && value !== undefined) {
    const option = command.options.find((item) => item.long === name);
    if (option === undefined) return [];
    const found = await offers({ name, choices: option.argChoices }, value, asked);
    return found.map((item) => ({ ...item, word: `${name}=${item.word}` }));
  }
  if (awaited !== undefined && !(awaited.variadic && typed.startsWith('-')))
    return offers({ name: nameOf(awaited), choices: awaited.argChoices }, typed, asked);
  if (!isOver && typed.startsWith('-')) {
    const options = help
      .visibleOptions(command)
      .map((item) => ({ word: item.long ?? item.short ?? '', about: item.description }));
    return options.filter(({ word }) => word.startsWith(typed));
  }
  const commands = help
    .visibleCommands(command)
    .map((item) => ({ word: item.name(), about: help.subcommandDescription(item) }))
    .filter(({ word }) => word.startsWith(typed));
  const arguments_ = command.registeredArguments;
  const last = arguments_.at(-1);
  const argument = arguments_[others.length] ?? (last?.variadic === true ? last : undefined);
  if (argument === undefined) return commands;
  return [...commands, ...(await offers({ name: argument.name(), choices: argument.argChoices }, typed, asked))];
}

function readWords(program: Command, words: readonly string[]): Typed {
  let command = program;
  let awaited: Option | undefined;
  let isOver = false;
  const values = new Map<string, string>();
  const others: string[] = [];
  for (const word of words) {
    if (isOver) others.push(word);
    else if (word === '--') {
      isOver = true;
      awaited = undefined;
    } else if (awaited !== undefined && !(awaited.variadic && word.startsWith('-'))) {
      values.set(nameOf(awaited), word);
      if (!awaited.variadic) awaited = undefined;
    } else if (word.startsWith('-')) {
      const [name, value] = splitOption(word);
      const option = command.options.find((item) => item.long === name || item.short === name);
      awaited = option?.required === true && value === undefined ? option : undefined;
      if (option !== undefined && value !== undefined) values.set(nameOf(option), value);
    } else {
      const next = command.commands.find((item) => item.name() === word);
      if (next === undefined) others.push(word);
      command = next ?? command;
    }
  }
  return { command, values, others, isOver, ...(awaited === undefined ? {} : { awaited }) };
}

/** `--name=value` in two. */
function splitOption(word: string): [string, string?] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

function nameOf(option: Option): string {
  return option.long ?? option.short ?? '';
}
