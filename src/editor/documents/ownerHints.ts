import { InlayHint, l10n, languages, Position, type Disposable, type InlayHintsProvider, type Range } from 'vscode';
import { isJsonObject, type JsonObject } from '../../codec/json.ts';
import { parseYaml } from '../../codec/yaml.ts';
import { describeOwner, ownersOf, type FieldOwner } from '../../core/ownership.ts';
import { parsePath, type Path } from '../../codec/path.ts';
import { breachesOf, type Responsibility } from '../../core/responsibility.ts';
import type { Editor } from '../app/editor.ts';
import { languageId, scheme } from '../app/ids.ts';
import type { TraceSources } from '../trace/traceSources.ts';
import { parseAddress, type DocumentAddress } from './address.ts';
import { yamlSteps } from './yamlPlaces.ts';

/**
 * Shows, at the end of a line of an object's text, which field managers own the field that stands there, and who is declared
 * responsible for it.
 */
export function registerOwnerHints(
  editor: Pick<Editor, 'live'>,
  sources: TraceSources,
  responsibilities: () => readonly Responsibility[],
): Disposable {
  const provider: InlayHintsProvider = {
    provideInlayHints(document, range) {
      const object = objectOf(editor, sources, parseAddress(document.uri), document.uri);
      const metadata = object?.['metadata'];
      const managed = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
      if (object === undefined || !Array.isArray(managed)) return [];
      const reading = parseYaml(document.getText());
      const rules = responsibilities();
      const lines = new Map<number, Line>();
      for (const owner of ownersOf(managed)) {
        for (const path of owner.paths) {
          const line = lineOf(reading, path);
          if (line === undefined || !isInside(range, line)) continue;
          const { owners, responsible } = lines.get(line) ?? { owners: new Map(), responsible: new Map() };
          owners.set(describeOwner(owner), owner);
          for (const rule of responsibleFor(rules, object, path)) responsible.set(rule.manager, rule.reason);
          lines.set(line, { owners, responsible });
        }
      }
      return [...lines].map(([line, what]) => hint(document.lineAt(line).range.end, what));
    },
  };
  return languages.registerInlayHintsProvider({ scheme, language: languageId }, provider);
}

/** What is told at the end of a line: its owners by their description, and reasons by who is responsible. */
interface Line {
  readonly owners: Map<string, FieldOwner>;
  readonly responsible: Map<string, string>;
}

function objectOf(
  editor: Pick<Editor, 'live'>,
  sources: TraceSources,
  address: DocumentAddress,
  uri: Parameters<Editor['live']['find']>[0],
): JsonObject | undefined {
  if (address.type === 'live') return editor.live.find(uri)?.stored;
  if (address.type === 'version')
    return sources.find(address.object.cluster, address.object.uid, address.token)?.version.body;
  return undefined;
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

function hint(end: Position, { owners, responsible }: Line): InlayHint {
  const names = [...new Set([...owners.values()].map(({ manager }) => manager))];
  const others = [...responsible.keys()].filter((name) => !names.includes(name));
  const label = [names.join(', '), ...others.map((name) => l10n.t('{0} is responsible', name))].join(' · ');
  const made = new InlayHint(new Position(end.line, end.character), label);
  made.paddingLeft = true;
  made.tooltip = [
    ...[...owners].map(([words, { time }]) =>
      time === undefined ? words : l10n.t('{0}, since {1} or earlier', words, time),
    ),
    ...[...responsible].map(([name, reason]) => l10n.t('{0} is responsible: {1}', name, reason)),
  ].join('\n');
  return made;
}
