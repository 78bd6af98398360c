import type { Document, Node, Pair } from 'yaml';
import { isAlias, isMap, isScalar } from 'yaml';
import type { YamlText } from './yamlText.ts';

/** Something at a place of a YAML text. Lines and columns count from 1, offsets from 0; `end` is behind the last letter. */
export interface YamlProblem {
  readonly code:
    | 'syntax'
    | 'duplicate-key'
    | 'several-documents'
    | 'key'
    | 'number'
    | 'tag'
    | 'alias'
    | 'merge'
    | 'directive'
    | 'character'
    | 'ambiguous';
  /** One sentence. */
  readonly message: string;
  readonly line: number;
  readonly column: number;
  readonly start: number;
  readonly end: number;
}

/** Collects what is wrong with a text, and checks what does not need the values. */
export class YamlChecks {
  readonly problems: YamlProblem[] = [];
  protected readonly document: YamlText;

  constructor(document: YamlText) {
    this.document = document;
  }

  /** Letters that Kubernetes does not read. */
  checkLetters(): void {
    const { text } = this.document;
    FORBIDDEN.lastIndex = 0;
    for (let found = FORBIDDEN.exec(text); found !== null; found = FORBIDDEN.exec(text)) {
      if (found.index === 0 && found[0] === '\uFEFF') continue;
      const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      this.refuse(
        'character',
        `The letter U+${code} is not allowed here; write it in double quotes as an escape.`,
        found.index,
        found.index + 1,
      );
    }
  }

  /** What the parser found. */
  takeErrors(document: Document.Parsed): void {
    for (const { message, pos, code } of [...document.errors, ...document.warnings]) {
      this.refuse(
        code === 'TAG_RESOLVE_FAILED' ? 'tag' : 'syntax',
        `${message.replace(/[.\s]*$/, '')}.`,
        pos[0],
        pos[1],
      );
    }
  }

  /** A further document. */
  refuseDocument(document: Document.Parsed): void {
    const start = document.contents?.range?.[0] ?? document.range[0];
    this.refuse(
      'several-documents',
      'A second document begins here; only one object can be edited at a time.',
      start,
      start + 1,
    );
  }

  /** Directives, and an end of a document before its beginning. */
  checkHead(document: Document.Parsed | undefined): void {
    const { text } = this.document;
    const head = document === undefined || isEmpty(document) ? text.length : (document.contents?.range?.[0] ?? 0);
    for (const found of text.matchAll(/^(?:%.*|\.\.\..*)$/gm)) {
      if (found.index >= head && found[0].startsWith('.')) continue;
      if (/^%YAML\s+1\.1\s*$/.test(found[0])) continue;
      this.refuse(
        'directive',
        `Kubernetes does not read this here: ${found[0].trim()}.`,
        found.index,
        found.index + found[0].length,
      );
    }
  }

  /** Where a token may begin, the Kubernetes reader takes no tab, not even on an empty line. */
  checkTabs(root: Node | null): void {
    const { text } = this.document;
    for (const found of text.matchAll(/^ *(?:- +)*-? *\t/gm)) {
      const at = found.index + found[0].length - 1;
      if (!isInside(root, at) && !this.problems.some((problem) => problem.start === at))
        this.refuse('character', 'A tab may not stand here; indent with spaces.', at, at + 1);
    }
  }

  /** The Kubernetes reader ends a block of text at the root with its first line that is not indented; it is never an object. */
  checkRoot(root: Node | null): void {
    if (isScalar(root) && root.type?.startsWith('BLOCK_') === true)
      this.refuseNode('syntax', 'This is text and no object.', root);
  }

  protected refuseNode(code: YamlProblem['code'], message: string, node: Node): void {
    this.refuse(code, message, ...rangeOf(node));
  }

  protected refuse(code: YamlProblem['code'], message: string, start: number, end: number): void {
    this.problems.push(this.problem(code, message, start, end));
  }

  protected problem(code: YamlProblem['code'], message: string, start: number, end: number): YamlProblem {
    return { code, message, ...this.document.positionAt(start), start, end: Math.max(end, start) };
  }
}

/** Whether a document holds nothing. */
export function isEmpty(document: Document.Parsed): boolean {
  const { contents } = document;
  return (
    contents === null ||
    (isScalar(contents) && contents.source === '' && contents.tag === undefined && contents.anchor === undefined)
  );
}

/** Whether an offset is inside of a scalar or a flow collection. */
function isInside(node: Node | null, offset: number): boolean {
  if (node === null || isAlias(node)) return false;
  const [start, end] = rangeOf(node);
  if (offset < start || offset >= end) return false;
  if (isScalar(node) || node.flow === true) return true;
  const inner = isMap(node)
    ? (node.items as Pair<Node, Node | null>[]).flatMap(({ key, value }) => [key, value])
    : (node.items as Node[]);
  return inner.some((one) => isInside(one, offset));
}

/** Where a node's own text is. */
export function rangeOf(node: Node): [number, number] {
  return node.range === undefined || node.range === null ? [0, 0] : [node.range[0], node.range[1]];
}

/**
 * Letters that the Kubernetes reader refuses, and those that it takes for line breaks where readers of YAML 1.2 do not
 * (U+0085, U+2028, U+2029).
 */
const FORBIDDEN = /[^\t\n\r\x20-\x7E\u00A0-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}]/gu;
