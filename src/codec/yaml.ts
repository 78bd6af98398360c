import type { Document, Node, Pair, Scalar } from 'yaml';
import { isAlias, isMap, isScalar, isSeq, parseAllDocuments } from 'yaml';
import type { Json, JsonObject } from './json.ts';
import { setOwn } from './json.ts';
import { readsDifferently, resolvePlain } from './yamlScalar.ts';
import { isEmpty, rangeOf, YamlChecks, type YamlProblem } from './yamlChecks.ts';
import { YamlText } from './yamlText.ts';

export type { YamlProblem } from './yamlChecks.ts';

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
  reader.checkHead(first);
  reader.checkTabs(first?.contents ?? null);
  reader.checkRoot(first?.contents ?? null);
  const value = reader.problems.length > 0 || first === undefined ? null : reader.read(first.contents);
  const inOrder = (a: YamlProblem, b: YamlProblem): number => a.start - b.start;
  const problems = reader.problems.sort(inOrder);
  return { value: problems.length > 0 ? undefined : value, document, problems, hints: reader.hints.sort(inOrder) };
}

class Reader extends YamlChecks {
  readonly hints: YamlProblem[] = [];
  private readonly open = new Set<Node>();
  private aliasDepth = 0;
  private flowDepth = 0;
  private unfolded = 0;

  read(node: Node | null): Json {
    if (node === null) return null;
    if (this.aliasDepth > 0 && (this.unfolded += 1) > MAX_UNFOLDED) {
      if (this.unfolded === MAX_UNFOLDED + 1)
        this.refuseNode('alias', 'The aliases unfold to more than can be sent.', node);
      return null;
    }
    this.checkProps(node);
    if (isAlias(node)) return this.readAlias(node, (target) => this.read(target)) ?? null;
    if (isScalar(node)) return this.readScalar(node);
    this.open.add(node);
    if (node.flow === true) this.flowDepth += 1;
    const value = isMap(node) ? this.readMap(node.items as Pair<Node, Node | null>[]) : this.readList(node);
    if (node.flow === true) this.flowDepth -= 1;
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
    this.checkBlock(node);
    const text = node.value;
    if (typeof text !== 'string') return null;
    this.checkPlainInFlow(node);
    if (node.type !== 'PLAIN' || node.tag !== undefined) return this.isCutOff(node) ? text.replace(/\n$/, '') : text;
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

  /** Inside of braces and brackets, readers disagree on where plain text with these letters ends. */
  private checkPlainInFlow(node: Scalar): void {
    if (this.flowDepth === 0 || node.type !== 'PLAIN' || this.aliasDepth > 0) return;
    const [start, end] = rangeOf(node);
    const source = this.document.text.slice(start, end);
    const isUnclear =
      source.includes('?') || source.startsWith(':') || /^:[,[\]{}]/.test(this.document.text.slice(end, end + 2));
    if (isUnclear)
      this.refuseNode(
        'character',
        'Write this in quotes: inside of braces or brackets it is not read the same everywhere.',
        node,
      );
  }

  /** A tab at the start of a block's first line is text to some readers and indentation to Kubernetes. */
  private checkBlock(node: Scalar): void {
    if (node.type?.startsWith('BLOCK_') !== true) return;
    const [start, end] = rangeOf(node);
    const isTabbed = /^[|>].*\r?\n(?: *\r?\n)* *\t/.test(this.document.text.slice(start, end));
    if (isTabbed)
      this.refuseNode('character', 'The first line of this text begins with a tab; write it in double quotes.', node);
  }

  /** A block at the very end of a text without a last line break has none either. */
  private isCutOff(node: Scalar): boolean {
    const { text } = this.document;
    if (node.type?.startsWith('BLOCK_') !== true || text.endsWith('\n') || rangeOf(node)[1] !== text.length)
      return false;
    if (/[\n][ \t]*$/.test(text))
      this.refuseNode('syntax', 'The last line of this text is blank and has no line break.', node);
    return true;
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
      this.checkExplicitKey(pair);
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

  /** Behind `? key` the `:` stands on a line of its own; otherwise readers disagree on where the key ends. */
  private checkExplicitKey(pair: Pair<Node, Node | null>): void {
    const mark = pair.srcToken?.start.find((token) => token.type === 'explicit-key-ind');
    if (mark === undefined) return;
    const rest = this.document.text.slice(rangeOf(pair.key)[1]);
    const colon = /^[ \t]*\r?\n( *):(?:\s|$)/.exec(rest);
    const isBelow = colon !== null && (colon[1] ?? '').length === this.document.positionAt(mark.offset).column - 1;
    if (!isBelow) this.refuseNode('key', 'Write this key without the question mark.', pair.key);
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
    this.checkPlainInFlow(node);
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
        if (places.has(key))
          this.refuseNode(
            'merge',
            `This merge sets "${key}", which is set before it; readers disagree on which wins.`,
            pair.key,
          );
        merged.add(key);
        places.set(key, undefined);
        setOwn(map, key, item);
      }
    }
  }
}

function isMergeKey(key: Node): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.value === '<<' && key.tag === undefined;
}
