import type { Json } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { plainText } from '../schema/plainText.ts';

/**
 * What a simple JSONPath of a printer column finds: fields, positions, `[*]` and filters such as
 * `.status.conditions[?(@.type=="Ready")].status`. Source: the JSONPath page of the Kubernetes documentation.
 */
export function findByJsonPath(root: Json, path: string): Json[] {
  let found: Json[] = [root];
  for (const step of path.matchAll(/\.([A-Za-z0-9_$-]+(?:\\\.[A-Za-z0-9_/$-]+)*)|\[([^\]]*(?:\]\)[^\]]*)?)\]/g)) {
    const [, field, bracket] = step;
    found = found.flatMap((value) =>
      field === undefined ? inBracket(value, bracket ?? '') : atField(value, field.replaceAll('\\.', '.')),
    );
  }
  return found;
}

function atField(value: Json, name: string): Json[] {
  if (!isJsonObject(value) || !Object.hasOwn(value, name)) return [];
  const item = value[name];
  return item === undefined ? [] : [item];
}

function inBracket(value: Json, inner: string): Json[] {
  const quoted = /^['"](.*)['"]$/.exec(inner)?.[1];
  if (quoted !== undefined) return atField(value, quoted);
  if (inner === '*') return Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
  if (!Array.isArray(value)) return [];
  if (/^-?\d+$/.test(inner)) {
    const item = value.at(Number(inner));
    return item === undefined ? [] : [item];
  }
  const filter = /^\?\(@\.([\w.-]+)\s*(==|!=)\s*["']?([^"')]*)["']?\)$/.exec(inner);
  if (filter === null) return [];
  const [, name = '', operator, wanted] = filter;
  return value.filter((item) => {
    const [actual] = findByJsonPath(item, `.${name}`);
    return (plainText(actual) === wanted) === (operator === '==');
  });
}
