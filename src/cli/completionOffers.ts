import { homedir } from 'node:os';
import type { CliIo } from './io.ts';

/** A word that may stand there, and what it is. */
export interface Candidate {
  readonly word: string;
  readonly about?: string;
}

/** What was typed before. */
export interface Asked {
  /** The values of options, by their long names. */
  readonly values: ReadonlyMap<string, string>;
  /** The arguments. */
  readonly others: readonly string[];
  readonly env: CliIo['env'];
}

/** What an option, by its long name, or an argument, by its own, takes besides choices that it lists itself. */
const known: Readonly<Record<string, (asked: Asked) => Promise<readonly Candidate[]>>> = {
  lesson: async () => {
    const { builtInLessons } = await import('../lab/lessonFiles.ts');
    return builtInLessons().map(({ id, title }) => ({ word: id, about: title }));
  },
  '--skip': async ({ others: [lesson] }) => {
    const { findLesson } = await import('../lab/lessonFiles.ts');
    return findLesson(lesson ?? '').steps.map(({ id, title }) => ({ word: id, about: title }));
  },
  '--language': async ({ others: [lesson] }) => {
    const { builtInLessons, findLesson } = await import('../lab/lessonFiles.ts');
    const lessons = lesson === undefined ? builtInLessons() : [findLesson(lesson)];
    return [...new Set(['en', ...lessons.flatMap(({ translations }) => [...translations.keys()])])].map(asWord);
  },
  '--fail-on': async () => {
    const { findingIds, severities, severityOf } = await import('../core/findings/finding.ts');
    return [
      { word: 'any', about: 'every finding' },
      ...severities.map((word) => ({ word, about: 'and what is graver' })),
      ...findingIds.map((word) => ({ word, about: severityOf[word] })),
    ];
  },
  '--context': async ({ values, env }) => {
    const { loadKubeconfig } = await import('../kube/kubeconfig.ts');
    const file = values.get('--kubeconfig');
    const home = env['HOME'] ?? homedir();
    const { contexts } = loadKubeconfig({ ...(file === undefined ? {} : { paths: [file] }), env, home });
    return contexts.map(({ name }) => asWord(name));
  },
};

/** Options that take several with commas between them. */
const lists = new Set(['--fail-on']);

/** What may stand in place of `typed` where `name` takes a value: nothing where that is not known, or cannot be read. */
export async function offers(
  { name, choices }: { name: string; choices: readonly string[] | undefined },
  typed: string,
  asked: Asked,
): Promise<readonly Candidate[]> {
  const before = lists.has(name) ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const found =
    choices?.map(asWord) ??
    // A shell is not told why there is nothing to offer: the command itself says it.
    (await known[name]?.(asked).catch(() => [])) ??
    [];
  return found.map((item) => ({ ...item, word: before + item.word })).filter(({ word }) => word.startsWith(typed));
}

function asWord(word: string): Candidate {
  return { word };
}
