import { Range, type TextDocument } from 'vscode';
import { isJsonObject, equalJson, type Json } from '../../codec/json.ts';
import { hasKey, parsePath, type Path } from '../../codec/path.ts';
import type { YamlReading } from '../../codec/yaml.ts';
import type { YamlStep } from '../../codec/yamlText.ts';

/**
 * The steps into a YAML text that lead where a path leads in its value, as far as they go: an item that is not there any
 * more leaves the path at its list.
 */
export function yamlSteps(value: Json | undefined, path: Path): YamlStep[] {
  const steps: YamlStep[] = [];
  let here = value;
  for (const step of path) {
    const next = stepInto(here, step);
    if (next === undefined) return steps;
    steps.push(next);
    here =
      typeof next === 'number'
        ? Array.isArray(here)
          ? here[next]
          : undefined
        : isJsonObject(here)
          ? here[next]
          : undefined;
    if (here === undefined) return steps.slice(0, -1);
  }
  return steps;
}

function stepInto(value: Json | undefined, step: Path[number]): YamlStep | undefined {
  if ('field' in step) return isJsonObject(value) ? step.field : undefined;
  if (!Array.isArray(value)) return 'index' in step && isJsonObject(value) ? String(step.index) : undefined;
  const index =
    'index' in step
      ? step.index
      : value.findIndex((item) => ('value' in step ? equalJson(item, step.value) : hasKey(item, step.key)));
  return index < 0 || index >= value.length ? undefined : index;
}

/** A server prints keys of maps in brackets without quotes: `data[not a key]`. */
function quotedKeys(field: string): string {
  return field.replaceAll(/\[([^\]"=]*)\]/g, (whole, key: string) =>
    /^\d+$/.test(key) ? whole : `[${JSON.stringify(key)}]`,
  );
}

/**
 * Where a field that a server names (`spec.ports[0].port`, `.data.k`, `metadata.labels[app]`) stands in a text; the nearest
 * place around it where the field itself is not there, the first line where nothing of it is.
 */
export function rangeOfField(reading: YamlReading, field: string | undefined, document: TextDocument): Range {
  const parsed = parsePath(quotedKeys(field ?? ''));
  const path = 'path' in parsed ? parsed.path : [];
  for (let steps = yamlSteps(reading.value, path); steps.length > 0; steps = steps.slice(0, -1)) {
    const range = reading.document.rangeAt(steps, 'key') ?? reading.document.rangeAt(steps);
    if (range !== undefined) return new Range(document.positionAt(range.start), document.positionAt(range.end));
  }
  return document.lineAt(0).range;
}
