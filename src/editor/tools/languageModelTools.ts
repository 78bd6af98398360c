import {
  LanguageModelTextPart,
  LanguageModelToolResult,
  lm,
  l10n,
  type Disposable,
  type LanguageModelTool,
} from 'vscode';
import type { Finding } from '../../core/findings/finding.ts';
import type { NameHistory } from '../../core/history.ts';
import type { WriteEvent } from '../../core/traceEvent.ts';
import type { Editor } from '../app/editor.ts';
import { badgesOf, currentIncarnation, describeActor, describeChange, newestVersion } from '../tree/wording.ts';

/** Names of the tools, as package.json contributes them. All of them only read the log of this window. */
export const toolNames = {
  objects: 'objectVersions_list_objects',
  findings: 'objectVersions_list_findings',
  conflict: 'objectVersions_explain_conflict',
} as const;

const ROWS = 200;
/** Versions that others made meanwhile, of one conflict at most. */
const PROGRESS = 20;

/** What a model may ask about: words of names, and how many rows at most. */
interface Query {
  readonly query?: string;
  readonly limit?: number;
}

/**
 * Tools for language models: read-only, asked for one by one, and without the content of objects; what a finding says of
 * fields that actors fight over has their last values where they are short and no Secret's.
 */
export function registerTools(editor: Pick<Editor, 'session' | 'watches'>): Disposable[] {
  const { session } = editor;
  const names = (query: Query): NameHistory[] =>
    [...session.history.names.values()].filter((history) => hasWords(query, nameOf(history)));
  return [
    register(toolNames.objects, l10n.t('List watched objects'), (query) =>
      names(query).slice(0, rowsOf(query)).map(describeObject),
    ),
    register(toolNames.findings, l10n.t('List findings'), (query) =>
      session
        .findings()
        .filter(({ id, kind, object }) => hasWords(query, `${id}/${kind ?? ''} ${object.namespace}/${object.name}`))
        .slice(0, rowsOf(query))
        .map(describeFinding),
    ),
    register(toolNames.conflict, l10n.t('Explain conflicts'), (query) =>
      names(query)
        .flatMap(conflictsOf)
        .sort((one, other) => other.write.at - one.write.at)
        .slice(0, rowsOf(query))
        .map(({ history, write }) => describeConflict(history, write)),
    ),
  ];
}

function hasWords({ query = '' }: Query, text: string): boolean {
  const words = query.toLowerCase().split(/\s+/);
  return words.every((word) => text.toLowerCase().includes(word));
}

function rowsOf({ limit = ROWS }: Query): number {
  return Math.max(1, Math.min(limit, ROWS));
}

function register(name: string, title: string, answer: (query: Query) => unknown[]): Disposable {
  const tool: LanguageModelTool<Query> = {
    prepareInvocation: () => ({
      invocationMessage: title,
      confirmationMessages: {
        title,
        message: l10n.t(
          'Names, UIDs, version tokens and field paths of watched objects go to the language model, and short values of fields that actors fight over; other contents do not.',
        ),
      },
    }),
    invoke: ({ input }) => new LanguageModelToolResult([new LanguageModelTextPart(JSON.stringify(answer(input)))]),
  };
  return lm.registerTool(name, tool);
}

function nameOf({ name }: NameHistory): string {
  return `${name.resource} ${name.namespace === '' ? '' : `${name.namespace}/`}${name.name}`;
}

function describeObject(history: NameHistory): unknown {
  const current = currentIncarnation(history);
  const version = current === undefined ? undefined : newestVersion(current);
  return {
    object: nameOf(history),
    incarnations: history.incarnations.length,
    uid: current?.uid,
    gone: current?.end !== undefined,
    terminating: current?.terminatingAt !== undefined,
    generation: version?.generation,
    observedGeneration: version?.observedGeneration,
    lastChange:
      current === undefined || version === undefined
        ? undefined
        : {
            what: describeChange(current, version),
            at: new Date(version.at).toISOString(),
            by: describeActor(version.actor),
            paths: version.changed?.paths.slice(0, 50),
          },
  };
}

function describeFinding({
  id,
  kind,
  severity,
  object,
  actors,
  fields,
  count,
  firstAt,
  lastAt,
  explanation,
  remedy,
}: Finding): unknown {
  return { id, kind, severity, object, actors, fields, count, firstAt, lastAt, explanation, remedy };
}

function conflictsOf(history: NameHistory): { history: NameHistory; write: WriteEvent }[] {
  return history.writes
    .filter(
      (write) =>
        write.outcome === 'version-conflict' || write.outcome === 'field-conflict' || write.outcome === 'uid-mismatch',
    )
    .map((write) => ({ history, write }));
}

function describeConflict(history: NameHistory, write: WriteEvent): unknown {
  const incarnation = history.incarnations.find(({ uid }) => uid === write.basedOn?.uid);
  const badges = incarnation === undefined ? undefined : badgesOf(incarnation);
  const index = incarnation?.versions.findIndex(({ token }) => token === write.basedOn?.token) ?? -1;
  const since =
    index < 0 ? [] : (incarnation?.versions.slice(index + 1) ?? []).filter((version) => version.at <= write.at);
  return {
    object: nameOf(history),
    writer: describeActor(write.actor),
    outcome: write.outcome,
    at: new Date(write.at).toISOString(),
    basedOnVersion:
      write.basedOn === undefined ? undefined : (badges?.get(write.basedOn.token)?.code ?? 'not observed'),
    wanted: write.paths,
    progressMeanwhile: since.slice(-PROGRESS).map((version) => ({
      by: describeActor(version.actor),
      changed: version.changed?.paths.slice(0, 50),
    })),
    wonBy: write.wonBy,
    advice:
      'Read the object again and compute the change from what is read. Replacing only the token would undo the progress of the others.',
  };
}
