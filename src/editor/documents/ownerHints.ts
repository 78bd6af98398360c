import { InlayHint, l10n, languages, Position, type Disposable, type InlayHintsProvider, type Range } from 'vscode';
import { isJsonObject, type JsonObject } from '../../codec/json.ts';
import { parseYaml } from '../../codec/yaml.ts';
import { describeOwner, ownersOf, type FieldOwner } from '../../core/ownership.ts';
import type { Path } from '../../codec/path.ts';
import type { Editor } from '../app/editor.ts';
import { languageId, scheme } from '../app/ids.ts';
import type { TraceSources } from '../trace/traceSources.ts';
import { parseAddress, type DocumentAddress } from './address.ts';
import { yamlSteps } from './yamlPlaces.ts';

/** Shows, at the end of a line of an object's text, which field managers own the field that stands there. */
export function registerOwnerHints(editor: Pick<Editor, 'live'>, sources: TraceSources): Disposable {
  const provider: InlayHintsProvider = {
    provideInlayHints(document, range) {
      const object = objectOf(editor, sources, parseAddress(document.uri), document.uri);
      const metadata = object?.['metadata'];
      const managed = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
      if (object === undefined || !Array.isArray(managed)) return [];
      const reading = parseYaml(document.getText());
      const lines = new Map<number, Map<string, FieldOwner>>();
      for (const owner of ownersOf(managed)) {
        for (const path of owner.paths) {
          const line = lineOf(reading, path);
          if (line === undefined || !isInside(range, line)) continue;
          const owners = lines.get(line) ?? new Map<string, FieldOwner>();
          owners.set(describeOwner(owner), owner);
          lines.set(line, owners);
        }
      }
      return [...lines].map(([line, owners]) => hint(document.lineAt(line).range.end, owners));
    },
  };
  return languages.registerInlayHintsProvider({ scheme, language: languageId }, provider);
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

function isInside(range: Range, line: number): boolean {
  return line >= range.start.line && line <= range.end.line;
}

function hint(end: Position, owners: ReadonlyMap<string, FieldOwner>): InlayHint {
  const names = [...new Set([...owners.values()].map(({ manager }) => manager))];
  const made = new InlayHint(new Position(end.line, end.character), names.join(', '));
  made.paddingLeft = true;
  made.tooltip = [...owners]
    .map(([words, { time }]) => (time === undefined ? words : l10n.t('{0}, since {1} or earlier', words, time)))
    .join('\n');
  return made;
}
