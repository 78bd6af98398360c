import { Document, isScalar, Scalar, visit } from 'yaml';

import { withSortedKeys, type Json } from '../codec/json.ts';
import { resolvePlain } from '../codec/yamlScalar.ts';

const TIME = /^\d{4}-\d\d?-\d\d?([Tt ]|$)/;
const SEXAGESIMAL = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
/** Control characters but line breaks; go-yaml counts tabs among them. */
const UNPRINTABLE = /[^\P{Cc}\n]/u;

/**
 * Prints YAML as the API server does (sigs.k8s.io/yaml over go-yaml): keys in order, lists not indented, lines folded at
 * 80 columns, text that could be read as something else in double quotes.
 */
export function printGoYaml(value: Json): string {
  const document = new Document(withSortedKeys(value), {
    version: '1.2',
    schema: 'core',
    aliasDuplicateObjects: false,
  });
  visit(document, {
    Scalar(_key, node) {
      if (isScalar(node) && typeof node.value === 'string') node.type = styleOf(node.value);
    },
  });
  return folded(document.toString({ lineWidth: 0, indentSeq: false, singleQuote: true, flowCollectionPadding: false }));
}

const WIDTH = 80;

/** Folds long scalars where go-yaml does: at the first space behind column 80, not the last one before it. */
function folded(text: string): string {
  let literal = -1;
  return text
    .split('\n')
    .map((line) => {
      const indent = /^ *(?:- (?=(?:- )*\S+:(?: |$)))*/.exec(line)?.[0].length ?? 0;
      if (literal >= 0 && (line === '' || indent > literal)) return line;
      literal = /[:-] [|>][-+]?$/.test(line) ? indent : -1;
      return foldLine(line, indent);
    })
    .join('\n');
}

function foldLine(line: string, indent: number): string {
  const lines: string[] = [];
  let rest = line;
  for (let at = breakIn(rest); at >= 0; at = breakIn(rest)) {
    lines.push(rest.slice(0, at));
    rest = `${' '.repeat(indent + 2)}${rest.slice(at + 1)}`;
  }
  return [...lines, rest].join('\n');
}

function breakIn(line: string): number {
  const last = line.length - (/['"]$/.test(line) ? 2 : 1);
  for (let at = line.indexOf(' ', WIDTH + 1); at >= 0 && at < last; at = line.indexOf(' ', at + 1)) {
    if (line[at - 1] !== ' ' && line[at + 1] !== ' ') return at;
  }
  return -1;
}

function styleOf(text: string): Scalar.Type {
  if (UNPRINTABLE.test(text)) return Scalar.QUOTE_DOUBLE;
  if (text.includes('\n')) return Scalar.BLOCK_LITERAL;
  const plain = resolvePlain(text).kind === 'text' && !TIME.test(text) && !SEXAGESIMAL.test(text);
  return plain ? Scalar.PLAIN : Scalar.QUOTE_DOUBLE;
}
