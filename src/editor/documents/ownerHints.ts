import {
  env,
  EventEmitter,
  InlayHint,
  l10n,
  languages,
  Position,
  window,
  type Disposable,
  type InlayHintsProvider,
  type Range,
} from 'vscode';
import { toDisposable } from '../../base/disposable.ts';
import { isJsonObject, type JsonObject } from '../../codec/json.ts';
import { parseYaml } from '../../codec/yaml.ts';
import type { Incarnation } from '../../core/history.ts';
import type { TraceEvent } from '../../core/traceEvent.ts';
import { lastChanges, type LastChange } from '../../core/lastChange.ts';
import { describeOwner, ownersOf, type FieldOwner } from '../../core/ownership.ts';
import { formatPath, parsePath, type Path } from '../../codec/path.ts';
import { breachesOf, type Responsibility } from '../../core/responsibility.ts';
import { identityOf } from '../../write/target.ts';
import type { Editor } from '../app/editor.ts';
import { languageId, scheme } from '../app/ids.ts';
import type { TraceSources } from '../trace/traceSources.ts';
import { badgesOf, describeActor } from '../tree/wording.ts';
import { parseAddress, type DocumentAddress } from './address.ts';
import { yamlSteps } from './yamlPlaces.ts';
import { inWords } from '../../base/message.ts';
import { translated } from '../app/translated.ts';

/** What is told of time in inlays: a little while back the clock, before that the day too. */
const DAY_MS = 86_400_000;

/**
 * Shows, at the end of a line of an object's text, which field managers own the field that stands there, who is declared
 * responsible for it, and who changed it last, as far as that was observed.
 */
export function registerOwnerHints(
  editor: Pick<Editor, 'live' | 'clock' | 'clusters' | 'session'>,
  sources: TraceSources,
  responsibilities: () => readonly Responsibility[],
): Disposable {
  const changed = new EventEmitter<void>();
  const provider: InlayHintsProvider = {
    onDidChangeInlayHints: changed.event,
    provideInlayHints(document, range) {
      const shown = shownIn(editor, sources, parseAddress(document.uri), document.uri);
      const metadata = shown?.object['metadata'];
      const managed = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
      if (shown === undefined || !Array.isArray(managed)) return [];
      const reading = parseYaml(document.getText());
      const rules = responsibilities();
      const lines = new Map<number, Line>();
      for (const owner of ownersOf(managed)) {
        for (const path of owner.paths) {
          const number = lineOf(reading, path);
          if (number === undefined || !isInside(range, number)) continue;
          const line: Line = lines.get(number) ?? { owners: new Map(), responsible: new Map() };
          line.owners.set(describeOwner(owner, translated), owner);
          for (const rule of responsibleFor(rules, shown.object, path))
            line.responsible.set(rule.manager, inWords(rule.reason, translated));
          if (!owner.containers.has(formatPath(path))) line.path = path;
          lines.set(number, line);
        }
      }
      const changes = changesOf(shown, lines);
      const now = editor.clock.now();
      return [...lines].map(([number, line]) =>
        hint(document.lineAt(number).range.end, line, wordsOf(changes.get(line), shown.incarnation, now)),
      );
    },
  };
  // Who made a version may become known after it was seen.
  const telling = editor.session.onDidChange(({ events }) => {
    const open = window.visibleTextEditors.filter(({ document }) => document.uri.scheme === scheme);
    const uids = new Set(open.flatMap(({ document: { uri } }) => editor.live.find(uri)?.address.uid ?? []));
    const isAbout = (event: TraceEvent): boolean =>
      event.type === 'observed' ? uids.has(event.uid) : event.type === 'write' && uids.has(event.result?.uid ?? '');
    if (uids.size > 0 && events.some(isAbout)) changed.fire();
  });
  const registered = languages.registerInlayHintsProvider({ scheme, language: languageId }, provider);
  return toDisposable(() => {
    telling.dispose();
    registered.dispose();
    changed.dispose();
  });
}

/** What is told at the end of a line: its owners by their description, and reasons by who is responsible. */
interface Line {
  readonly owners: Map<string, FieldOwner>;
  readonly responsible: Map<string, string>;
  /** The field whose value stands on the line. */
  path?: Path;
}

/** An object as a document shows it, with what is known of its incarnation. */
interface Shown {
  readonly object: JsonObject;
  readonly token: string;
  readonly incarnation: Incarnation | undefined;
}

function shownIn(
  editor: Pick<Editor, 'live' | 'clusters'>,
  sources: TraceSources,
  address: DocumentAddress,
  uri: Parameters<Editor['live']['find']>[0],
): Shown | undefined {
  if (address.type === 'version') {
    const { token } = address;
    const found = sources.find(address.object.cluster, address.object.uid, token);
    const object = found?.version.body;
    return object === undefined ? undefined : { object, token, incarnation: found?.incarnation };
  }
  const document = address.type === 'live' ? editor.live.find(uri) : undefined;
  if (document === undefined) return undefined;
  const { uid, token } = identityOf(document.stored);
  const cluster = editor.clusters.get(document.address.cluster)?.id ?? document.address.cluster;
  const incarnation = sources.find(cluster, uid, token)?.incarnation;
  return { object: document.stored, token, incarnation };
}

function changesOf({ incarnation, token }: Shown, lines: ReadonlyMap<number, Line>): Map<Line, LastChange> {
  const valued = [...lines.values()].flatMap((line) => (line.path === undefined ? [] : [{ line, path: line.path }]));
  if (incarnation === undefined) return new Map();
  const paths = valued.map(({ path }) => path);
  const changes = lastChanges(incarnation, token, paths);
  return new Map(
    changes.flatMap((change, index) => (valued[index] === undefined ? [] : [[valued[index].line, change]])),
  );
}

/** Who changed a field last, for the line and for its tooltip; nothing where the log does not know the version at all. */
function wordsOf(
  change: LastChange | undefined,
  incarnation: Incarnation | undefined,
  now: number,
): { readonly label: string; readonly tooltip: string } | undefined {
  if (change === undefined || incarnation === undefined) return undefined;
  const { how, version } = change;
  const time = timeText(version.at, now);
  const actor = describeActor(version.actor);
  const badge = badgesOf(incarnation).get(version.token)?.code ?? '';
  switch (how) {
    case 'changed':
      return {
        label: l10n.t('changed by {0} at {1}', actor, time),
        tooltip: l10n.t('Changed last in version {0}, seen {1}, by {2}.', badge, time, actor),
      };
    case 'created':
      return {
        label: l10n.t('as created by {0} at {1}', actor, time),
        tooltip: l10n.t('Unchanged since the creation in version {0}, seen {1}, by {2}.', badge, time, actor),
      };
    case 'unknown':
      return {
        label: l10n.t('last change unknown, before {0}', time),
        tooltip: l10n.t(
          'It was so already in version {0}, seen {1}; what was before that was not observed.',
          badge,
          time,
        ),
      };
  }
}

/** A time in the words of the person's language. */
function timeText(at: number, now: number): string {
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
  const date = now - at < DAY_MS ? {} : ({ month: 'short', day: 'numeric' } as const);
  return new Intl.DateTimeFormat(env.language, { ...date, ...time }).format(at);
}

/** The line, from 0, on which a path's key stands; undefined where the text does not have the whole path. */
function lineOf({ value, document }: ReturnType<typeof parseYaml>, path: Path): number | undefined {
  const steps = yamlSteps(value, path);
  if (steps.length < path.length || steps.length === 0) return undefined;
  const place = document.rangeAt(steps, 'key');
  return place === undefined ? undefined : document.lineAt(place.start) - 1;
}

/** The declarations that hold for a field as it is: made of the field itself, or of what holds it. */
function responsibleFor(rules: readonly Responsibility[], object: JsonObject, path: Path): Responsibility[] {
  const { apiVersion, kind } = object;
  const [group = '', version] = typeof apiVersion === 'string' ? apiVersion.split('/') : [];
  const qualified = `${typeof kind === 'string' ? kind : ''}${version === undefined ? '' : `.${group}`}`;
  return breachesOf(rules, qualified, object, [path], '').flatMap(({ responsibility }) => {
    const declared = parsePath(responsibility.path);
    return 'path' in declared && declared.path.length <= path.length ? [responsibility] : [];
  });
}

function isInside(range: Range, line: number): boolean {
  return line >= range.start.line && line <= range.end.line;
}

function hint(end: Position, { owners, responsible }: Line, change: ReturnType<typeof wordsOf>): InlayHint {
  const names = [...new Set([...owners.values()].map(({ manager }) => manager))];
  const others = [...responsible.keys()].filter((name) => !names.includes(name));
  const parts = [names.join(', '), ...others.map((name) => l10n.t('{0} is responsible', name))];
  // Spaces and a sign keep it apart from the value, which it might be read as a part of.
  const label = `\u2003◂ ${[...parts, ...(change === undefined ? [] : [change.label])].join(' · ')}`;
  const made = new InlayHint(new Position(end.line, end.character), label);
  made.paddingLeft = true;
  made.tooltip = [
    ...[...owners].map(([words, { time }]) =>
      time === undefined ? words : l10n.t('{0}, since {1} or earlier', words, time),
    ),
    ...[...responsible].map(([name, reason]) => l10n.t('{0} is responsible: {1}', name, reason)),
    ...(change === undefined ? [] : [change.tooltip]),
  ].join('\n');
  return made;
}
