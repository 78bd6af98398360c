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

/** What a model may ask about: words of names, and how many rows at most. */
interface Query {
  readonly query?: string;
  readonly limit?: number;
}

/** Tools for language models: read-only, asked for one by one, and never with the content of an object. */
export function registerTools(editor: Pick<Editor, 'session' | 'watches'>): Disposable[] {
  const { session } = editor;
  const names = (query: Query): NameHistory[] => {
    const words = (query.query ?? '')
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    const matching = [...session.history.names.values()].filter((history) =>
      words.every((word) => nameOf(history).toLowerCase().includes(word)),
    );
    return matching.slice(0, Math.min(query.limit ?? ROWS, ROWS));
  };
  return [
    register(toolNames.objects, l10n.t('List watched objects'), (query) => names(query).map(describeObject)),
    register(toolNames.findings, l10n.t('List findings'), (query) =>
      session
        .findings()
        .filter(
          (finding) => (query.query ?? '') === '' || `${finding.id} ${finding.object.name}`.includes(query.query ?? ''),
        )
        .slice(0, query.limit ?? ROWS)
        .map(describeFinding),
    ),
    register(toolNames.conflict, l10n.t('Explain conflicts'), (query) => names(query).flatMap(describeConflicts)),
  ];
}

function register(name: string, title: string, answer: (query: Query) => unknown[]): Disposable {
  const tool: LanguageModelTool<Query> = {
    prepareInvocation: () => ({
      invocationMessage: title,
      confirmationMessages: {
        title,
        message: l10n.t(
          'Names, UIDs, version tokens and field paths of watched objects go to the language model; contents of objects do not.',
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
      version === undefined
        ? undefined
        : {
            what: describeChange(version),
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

function describeConflicts(history: NameHistory): unknown[] {
  return history.writes
    .filter(
      (write) =>
        write.outcome === 'version-conflict' || write.outcome === 'field-conflict' || write.outcome === 'uid-mismatch',
    )
    .map((write) => describeConflict(history, write));
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
    progressMeanwhile: since.map((version) => ({
      by: describeActor(version.actor),
      changed: version.changed?.paths.slice(0, 50),
    })),
    wonBy: write.wonBy,
    advice:
      'Read the object again and compute the change from what is read. Replacing only the token would undo the progress of the others.',
  };
}
