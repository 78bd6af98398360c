import type { Command } from 'commander';

interface Help {
  readonly examples: readonly string[];
  /** The page of the documentation, below `docs`. */
  readonly page: string;
}

/** What `--help` of each command ends with, by the words that name it. */
const helps: Readonly<Record<string, Help>> = {
  sandbox: {
    examples: [
      'object-versions sandbox --kubeconfig sandbox.yaml',
      'object-versions sandbox --scenario contention --seed 7',
    ],
    page: 'sandbox.md',
  },
  get: {
    examples: ['object-versions get deploy,cm -n shop', 'object-versions get cm/settings -n shop -o json'],
    page: 'command-line.md',
  },
  watch: {
    examples: ['object-versions watch cm -n shop', 'object-versions watch deploy,cm -A --trace seen.jsonl'],
    page: 'command-line.md',
  },
  modify: {
    examples: [
      'object-versions modify deploy/web -n shop --set spec.replicas=3 --wait',
      'object-versions modify cm settings -n shop --set \'data.level="debug"\' --remove data.old',
      'object-versions modify cm settings -n shop --script add-one.mjs',
    ],
    page: 'safe-write.md',
  },
  delete: {
    examples: ['object-versions delete cm settings -n shop --uid UID   # the UID as "get" prints it'],
    page: 'safe-write.md',
  },
  record: {
    examples: [
      'object-versions record --fail-on lost-update -- make test-e2e',
      'object-versions record --client operator --trace run.jsonl   # serves until interrupted',
    ],
    page: 'recorder.md',
  },
  analyze: {
    examples: ['object-versions analyze run.jsonl', 'object-versions analyze audit.log.gz --format html > report.html'],
    page: 'findings/README.md',
  },
  'lab modular': { examples: ['object-versions lab modular --m 12 --a 5'], page: 'lessons.md' },
  'lab replay': {
    examples: ['object-versions lab replay', 'object-versions lab replay run.jsonl   # a recording of yours'],
    page: 'lessons.md',
  },
  'lab contention': {
    examples: ['object-versions lab contention --actors 8 --strategy token-swap'],
    page: 'lessons.md',
  },
  'lab lesson': {
    examples: ['object-versions lab lesson   # lists them', 'object-versions lab lesson name-and-uid'],
    page: 'lessons.md',
  },
  completion: { examples: ['source <(object-versions completion bash)'], page: 'command-line.md' },
};

/** Adds examples and the page of the documentation to the help of every command below `command`. */
export function addExamples(command: Command, path: readonly string[] = []): void {
  for (const child of command.commands) {
    const words = [...path, child.name()];
    const help = helps[words.join(' ')];
    if (help !== undefined) child.addHelpText('after', textOf(help));
    addExamples(child, words);
  }
}

function textOf({ examples, page }: Help): string {
  return `\nExamples:\n${examples.map((line) => `  ${line}\n`).join('')}\nMore: docs/${page}`;
}
