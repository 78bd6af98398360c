import type { Document, Node, Pair, Scalar } from 'yaml';
import { isAlias, isMap, isScalar, isSeq, parseAllDocuments } from 'yaml';
import type { Json, JsonObject } from './json.ts';
import { setOwn } from './json.ts';
import { readsDifferently, resolvePlain } from './yamlScalar.ts';
import { YamlText } from './yamlText.ts';

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

/** A YAML text as Kubernetes reads it. */
export interface YamlReading {
  /** The value; undefined where there are problems, so that nothing is made of a text that two readers take differently. */
  readonly value: Json | undefined;
  /** Where things are in the text; for `editYaml` and for markers. */
  readonly document: YamlText;
  /** Why the text is refused, in order of place. A doubled key has two, one at each place. */
  readonly problems: YamlProblem[];
  /** Places where a reader of YAML 1.2 would read something else than Kubernetes does; the value is Kubernetes'. */
  readonly hints: YamlProblem[];
}

/** How many nodes aliases may unfold to. */
const MAX_UNFOLDED = 200_000;

/**
 * Reads YAML exactly as the API server and kubectl do (sigs.k8s.io/yaml), or refuses with the place. Refused, because
 * somebody would lose something: doubled keys, several documents, tags other than `!!str`, merges that override,
 * keys that are no text, numbers that JSON cannot hold, letters that the Kubernetes reader does not allow.
 * Anchors, aliases and merge keys are read, and stay in the text as they are.
 */
export function parseYaml(text: string): YamlReading {
  const documents = parseAllDocuments(text, {
    schema: 'failsafe',
    version: '1.1',
    uniqueKeys: false,
    keepSourceTokens: true,
    prettyErrors: false,
    logLevel: 'silent',
  });
  const list: Document.Parsed[] = 'empty' in documents ? [] : documents;
  const [first, ...others] = list;
  const document = new YamlText(text, first);
  const reader = new Reader(document);
  reader.checkLetters();
  for (const one of list) reader.takeErrors(one);
  for (const other of others) if (!isEmpty(other)) reader.refuseDocument(other);
  if (first !== undefined) reader.checkDirectives(first);
  const value = reader.problems.length > 0 || first === undefined ? null : reader.read(first.contents);
  const inOrder = (a: YamlProblem, b: YamlProblem): number => a.start - b.start;
  const problems = reader.problems.sort(inOrder);
  return { value: problems.length > 0 ? undefined : value, document, problems, hints: reader.hints.sort(inOrder) };
}

function isEmpty(document: Document.Parsed): boolean {
  const { contents } = document;
  return contents === null || (isScalar(contents) && contents.source === '' && contents.tag === undefined && contents.anchor === undefined);
}

class Reader {
  readonly problems: YamlProblem[] = [];
  readonly hints: YamlProblem[] = [];
  private readonly document: YamlText;
  private readonly open = new Set<Node>();
  private aliasDepth = 0;
  private unfolded = 0;

  constructor(document: YamlText) {
    this.document = document;
  }

  checkLetters(): void {
    const { text } = this.document;
    FORBIDDEN.lastIndex = 0;
    for (let found = FORBIDDEN.exec(text); found !== null; found = FORBIDDEN.exec(text)) {
      if (found.index === 0 && found[0] === '\uFEFF') continue;
      const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      this.refuse('character', `The letter U+${code} is not allowed here; write it in double quotes as an escape.`, found.index, found.index + 1);
    }
  }

  takeErrors(document: Document.Parsed): void {
    for (const { message, pos, code } of [...document.errors, ...document.warnings]) {
      this.refuse(code === 'TAG_RESOLVE_FAILED' ? 'tag' : 'syntax', `${message.replace(/[.\s]*$/, '')}.`, pos[0], pos[1]);
    }
  }

  refuseDocument(document: Document.Parsed): void {
    const start = document.contents?.range?.[0] ?? document.range[0];
    this.refuse('several-documents', 'A second document begins here; only one object can be edited at a time.', start, start + 1);
  }

  checkDirectives(document: Document.Parsed): void {
    const head = this.document.text.slice(0, document.contents?.range?.[0] ?? document.range[1]);
    for (const found of head.matchAll(/^%(YAML|TAG).*$/gm)) {
      if (/^%YAML\s+1\.1\s*$/.test(found[0])) continue;
      this.refuse('directive', `Kubernetes does not read this directive: ${found[0].trim()}.`, found.index, found.index + found[0].length);
    }
  }

  read(node: Node | null): Json {
    if (node === null) return null;
    if (this.aliasDepth > 0 && (this.unfolded += 1) > MAX_UNFOLDED) {
      if (this.unfolded === MAX_UNFOLDED + 1) this.refuseNode('alias', 'The aliases unfold to more than can be sent.', node);
      return null;
    }
    this.checkProps(node);
    if (isAlias(node)) return this.readAlias(node, (target) => this.read(target)) ?? null;
    if (isScalar(node)) return this.readScalar(node);
    this.open.add(node);
    const value = isMap(node) ? this.readMap(node.items as Pair<Node, Node | null>[]) : this.readList(node);
    this.open.delete(node);
    return value;
  }

  private readList(node: Node): Json[] {
    return isSeq(node) ? node.items.map((item) => this.read(item as Node | null)) : [];
  }

  private checkProps(node: Node): void {
    const tag = isAlias(node) ? undefined : node.tag;
    const allowed = isScalar(node) ? ['tag:yaml.org,2002:str'] : ['tag:yaml.org,2002:map', 'tag:yaml.org,2002:seq'];
    if (tag !== undefined && !allowed.includes(tag)) {
      this.refuseNode('tag', `The tag ${tag} is not read the same everywhere; write the value without it.`, node);
    }
    const anchor = isAlias(node) ? node.source : node.anchor;
    if (anchor !== undefined && !/^[\w-]+$/.test(anchor)) {
      this.refuseNode('alias', `The anchor "${anchor}" has letters that Kubernetes does not read.`, node);
    }
  }

  private readAlias<T>(node: Node, use: (target: Node) => T): T | undefined {
    const { parsed } = this.document;
    const target = isAlias(node) && parsed !== undefined ? node.resolve(parsed) : undefined;
    if (target === undefined) {
      this.refuseNode('alias', 'This alias names no anchor before it.', node);
      return undefined;
    }
    if (this.open.has(target)) {
      this.refuseNode('alias', 'This alias is inside of what it stands for.', node);
      return undefined;
    }
    this.aliasDepth += 1;
    const value = use(target);
    this.aliasDepth -= 1;
    return value;
  }

  private readScalar(node: Scalar): Json {
    const text = node.value;
    if (typeof text !== 'string') return null;
    if (node.type !== 'PLAIN' || node.tag !== undefined) return text;
    const plain = resolvePlain(text);
    switch (plain.kind) {
      case 'null':
        return null;
      case 'bool':
      case 'float':
        this.hint(node, text, plain.value);
        return plain.value;
      case 'int': {
        const value = Number.isSafeInteger(Number(plain.value)) ? Number(plain.value) : plain.value;
        this.hint(node, text, value);
        return value;
      }
      case 'text':
        this.hint(node, text, text);
        return text;
      case 'refused':
        this.refuseNode('number', `This cannot be sent: ${plain.why}. Quote it if it is meant as text.`, node);
        return null;
    }
    return null;
  }

  private hint(node: Node, text: string, value: string | number | bigint | boolean): void {
    if (!readsDifferently(text)) return;
    const read = typeof value === 'string' ? `the text "${value}"` : String(value);
    const message = `Kubernetes reads ${text} as ${read}, other readers do not. Quote it if it is meant as text.`;
    if (this.aliasDepth === 0) this.hints.push(this.problem('ambiguous', message, ...rangeOf(node)));
  }

  private readMap(pairs: readonly Pair<Node, Node | null>[]): JsonObject {
    const map: JsonObject = {};
    /** Where each key was set; undefined where a merge set it. */
    const places = new Map<string, Node | undefined>();
    for (const pair of pairs) {
      if (isMergeKey(pair.key)) {
        this.merge(pair, map, places);
        continue;
      }
      const key = this.readKey(pair.key);
      const value = this.read(pair.value);
      if (key === undefined) continue;
      const earlier = places.get(key);
      if (earlier !== undefined) this.refuseDoubled(key, earlier, pair.key);
      places.set(key, pair.key);
      setOwn(map, key, value);
    }
    return map;
  }

  private refuseDoubled(key: string, first: Node, second: Node): void {
    if (this.aliasDepth > 0) return;
    const message = (other: Node): string =>
      `The key "${key}" is here twice (also in line ${this.document.lineAt(rangeOf(other)[0])}); one of them would be lost.`;
    const [start] = rangeOf(first);
    if (!this.problems.some((problem) => problem.code === 'duplicate-key' && problem.start === start)) {
      this.refuseNode('duplicate-key', message(second), first);
    }
    this.refuseNode('duplicate-key', message(first), second);
  }

  private readKey(node: Node): string | undefined {
    if (isAlias(node)) return this.readAlias(node, (target) => this.readKey(target));
    if (!isScalar(node)) {
      this.refuseNode('key', 'A key must be text.', node);
      return undefined;
    }
    this.checkProps(node);
    const text = String(node.value);
    if (node.type !== 'PLAIN' || node.tag !== undefined) return text;
    const plain = resolvePlain(text);
    switch (plain.kind) {
      case 'text':
        return text;
      case 'bool':
        this.hint(node, text, plain.value);
        return String(plain.value);
      case 'int':
        if (plain.value > 2n ** 63n - 1n) break;
        this.hint(node, text, plain.value);
        return plain.value.toString();
      case 'null':
      case 'float':
      case 'refused':
        break;
    }
    this.refuseNode('key', `The key ${text === '' ? 'is empty' : `${text} is not text`}; write it in quotes.`, node);
    return undefined;
  }

  /** `<<` sets the keys of other maps, which keys after it may override; anything else is read differently by readers. */
  private merge(pair: Pair<Node, Node | null>, map: JsonObject, places: Map<string, Node | undefined>): void {
    const sources = pair.value === null ? [] : isSeq(pair.value) ? (pair.value.items as Node[]) : [pair.value];
    const merged = new Set<string>();
    if (sources.length === 0) this.refuseNode('merge', 'Only maps can be merged.', pair.key);
    for (const source of sources) {
      const value = this.read(source);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        this.refuseNode('merge', 'Only maps can be merged.', source);
        continue;
      }
      for (const [key, item] of Object.entries(value)) {
        if (merged.has(key)) continue;
        if (places.has(key)) this.refuseNode('merge', `This merge sets "${key}", which is set before it; readers disagree on which wins.`, pair.key);
        merged.add(key);
        places.set(key, undefined);
        setOwn(map, key, item);
      }
    }
  }

  private refuseNode(code: YamlProblem['code'], message: string, node: Node): void {
    this.refuse(code, message, ...rangeOf(node));
  }

  private refuse(code: YamlProblem['code'], message: string, start: number, end: number): void {
    this.problems.push(this.problem(code, message, start, end));
  }

  private problem(code: YamlProblem['code'], message: string, start: number, end: number): YamlProblem {
    return { code, message, ...this.document.positionAt(start), start, end: Math.max(end, start) };
  }
}

function isMergeKey(key: Node): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.value === '<<' && key.tag === undefined;
}

function rangeOf(node: Node): [number, number] {
  return node.range === undefined || node.range === null ? [0, 0] : [node.range[0], node.range[1]];
}

/**
 * Letters that the Kubernetes reader refuses, and those that it takes for line breaks where readers of YAML 1.2 do not
 * (U+0085, U+2028, U+2029).
 */
const FORBIDDEN = /[^\t\n\r\x20-\x7E\u00A0-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}]/gu;
