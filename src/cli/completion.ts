import { Argument, type Command } from 'commander';
import type { CliIo } from './io.ts';

/** The shells that `completion` writes a script for. */
const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/**
 * Each script asks the hidden command `complete` with the words typed so far and offers what it prints, a line each; where
 * it prints nothing the shell offers files.
 */
const scripts: Record<Shell, string> = {
  bash: `_object_versions() {
  local IFS=$'\\n'
  COMPREPLY=($(object-versions complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _object_versions object-versions
`,
  zsh: `#compdef object-versions
_object_versions() {
  local -a found
  found=(\${(f)"$(object-versions complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -- $found; else _files; fi
}
compdef _object_versions object-versions
`,
  fish: `complete -c object-versions -a '(object-versions complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
};

/**
 * What kubectl's completion is told in the last line: to offer no files besides (4), or only them (0).
 * Source: cobra, "Active completions: directives" (`ShellCompDirective`); kubectl, `plugin_completion.go`.
 */
const directives = { noFiles: ':4', files: ':0' } as const;

/** Registers `completion` and the hidden `complete` that its scripts and kubectl ask. */
export function registerCompletion(program: Command, io: CliIo): void {
  program
    .command('completion')
    .description('prints a script that completes commands and options in your shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText('after', '\nFor bash: source <(object-versions completion bash)')
    .action((shell: Shell) => io.stdout(scripts[shell]));
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .option('--directive', 'ends with a line for cobra, as kubectl asks a plugin')
    .allowUnknownOption()
    .action((words: string[], options: { directive?: true }) => {
      const found = candidates(program, words);
      const last = found.length === 0 ? directives.files : directives.noFiles;
      const lines = options.directive === true ? [...found, last] : found;
      io.stdout(lines.map((line) => `${line}\n`).join(''));
    });
}

/** What may stand in place of the last word: subcommands, options, or an option's choices. */
export function candidates(program: Command, words: readonly string[]): string[] {
  const typed = words.at(-1) ?? '';
  let command = program;
  for (const word of words.slice(0, -1)) command = command.commands.find((item) => item.name() === word) ?? command;
  const help = command.createHelp();
  const before = words.at(-2);
  const option = command.options.find((item) => item.long === before || item.short === before);
  if (option !== undefined && (option.required || option.optional)) return matching(option.argChoices ?? [], typed);
  if (typed.startsWith('-'))
    return matching(
      help.visibleOptions(command).flatMap((item) => item.long ?? []),
      typed,
    );
  const choices = command.registeredArguments.flatMap((argument) => argument.argChoices ?? []);
  return matching([...help.visibleCommands(command).map((item) => item.name()), ...choices], typed);
}

function matching(words: readonly string[], start: string): string[] {
  return words.filter((word) => word.startsWith(start));
}
