import type { Document, Node, YAMLError } from 'yaml';
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml';
import type { Json, JsonObject } from '../../codec/json.ts';
import { isJsonObject, setOwn } from '../../codec/json.ts';
import { resolvePlain } from '../../codec/yamlScalar.ts';
import { badRequest, type StatusError } from '../status.ts';
import type { FieldValidation } from './decode.ts';
import { plainText } from '../schema/plainText.ts';

/** A YAML body as the server reads it: lenient, the last of doubled keys wins, the others are named. */
export interface YamlBody {
  readonly value: Json;
  /** `line 7: key "k" already set in map`. */
  readonly duplicates: readonly string[];
}

const MAX_NODES = 100_000;

/** Reads a YAML (or JSON) body; a text that is neither gives the parser's sentence. */
export function readYaml(text: string): YamlBody | { problem: string } {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, {
    schema: 'failsafe',
    version: '1.1',
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
    lineCounter: lines,
  });
  const documents: Document.Parsed[] = 'empty' in parsed ? [] : parsed;
  const [first] = documents;
  const [error] = first?.errors ?? [];
  if (error !== undefined) return { problem: yamlProblem(error, lines, text) };
  const reader = new Reader(first, lines);
  const value = reader.read(first?.contents ?? null);
  return reader.problem === undefined ? { value, duplicates: reader.duplicates } : { problem: reader.problem };
}

class Reader {
  readonly duplicates: string[] = [];
  problem: string | undefined;
  private readonly document: Document.Parsed | undefined;
  private readonly lines: LineCounter;
  private nodes = 0;

  constructor(document: Document.Parsed | undefined, lines: LineCounter) {
    this.document = document;
    this.lines = lines;
  }

  read(node: Node | null | undefined): Json {
    this.nodes += 1;
    if (node === null || node === undefined || this.nodes > MAX_NODES) return null;
    if (isAlias(node)) {
      const target = this.document === undefined ? undefined : node.resolve(this.document);
      if (target === undefined) this.problem ??= `yaml: unknown anchor '${node.source}' referenced`;
      return this.read(target);
    }
    if (isSeq(node)) return node.items.map((item) => this.read(item as Node));
    if (isMap(node)) return this.map(node.items as { key: Node; value: Node | null }[]);
    return isScalar(node) ? this.scalar(node.value, node.type, node.tag) : null;
  }

  private map(pairs: readonly { readonly key: Node; readonly value: Node | null }[]): JsonObject {
    const out: JsonObject = {};
    for (const { key, value } of pairs) {
      const name = keyText(this.read(key));
      if (Object.hasOwn(out, name)) {
        const line = this.lines.linePos(key.range?.[0] ?? 0).line;
        this.duplicates.push(`line ${line}: key "${name}" already set in map`);
      }
      setOwn(out, name, this.read(value));
    }
    return out;
  }

  private scalar(value: unknown, type: string | undefined, tag: string | undefined): Json {
    const text = typeof value === 'string' ? value : '';
    if (type !== 'PLAIN' || tag === 'tag:yaml.org,2002:str' || tag === '!!str') return text;
    const plain = resolvePlain(text);
    switch (plain.kind) {
      case 'null':
        return null;
      case 'bool':
      case 'float':
        return plain.value;
      case 'int':
        return Number.isSafeInteger(Number(plain.value)) ? Number(plain.value) : plain.value;
      case 'text':
        return text;
      case 'refused':
        this.problem ??= `json: unsupported value: ${text}`;
        return null;
    }
  }
}

function keyText(key: Json): string {
  if (typeof key === 'string') return key;
  return key === null ? 'null' : plainText(key);
}

/** The parser's sentences by what went wrong; `scanner` errors count lines from one, those of the parser from zero. */
const SENTENCES: readonly (readonly [pattern: RegExp, sentence: string, scanner: boolean])[] = [
  [/Flow sequence|end with a \]|\]/, "did not find expected ',' or ']'", false],
  [/Flow map|end with a \}|\}/, "did not find expected ',' or '}'", false],
  [/Nested mappings|Implicit keys|compact mappings/, 'mapping values are not allowed in this context', true],
  [/All mapping items|Implicit map keys|same column/, 'did not find expected key', false],
  [/sequence items|block sequence/i, "did not find expected '-' indicator", false],
  [/closing .?quote|Missing closing/, 'found unexpected end of stream', true],
  [/reserved character|Tabs are not allowed|tab/i, 'found character that cannot start any token', true],
  [/Unresolved alias/, 'unknown anchor referenced', false],
];

function yamlProblem(error: YAMLError, lines: LineCounter, text: string): string {
  const isCutOff = error.pos[0] >= text.trimEnd().length && /[[{,]\s*$/.test(text);
  if (isCutOff) return `yaml: line ${lines.linePos(text.length).line}: did not find expected node content`;
  const [, sentence, isScanner] = SENTENCES.find(([pattern]) => pattern.test(error.message)) ?? [
    undefined,
    'did not find expected node content',
    false,
  ];
  const line = lines.linePos(Math.max(error.pos[0], error.pos[1] - 1)).line - 1;
  return line === 0 ? `yaml: ${sentence}` : `yaml: line ${isScanner ? line + 1 : line}: ${sentence}`;
}

/** The configuration of an apply, and what a strict reader objects to. */
export interface ApplyBody {
  readonly config: JsonObject;
  readonly warnings: readonly string[];
  /** What a strict reader answers: 400 for doubled keys, once the configuration could be merged. */
  readonly refusal: StatusError | undefined;
}

/**
 * Reads the body of an apply: YAML, of which JSON is a part.
 * @throws StatusError 400 for text that is no YAML map
 */
export function parseApplyBody(text: string, fieldValidation: FieldValidation): ApplyBody {
  const yaml = readYaml(text);
  if ('problem' in yaml) throw badRequest(`error decoding YAML: error converting YAML to JSON: ${yaml.problem}`);
  const { value, duplicates } = yaml;
  if (value !== null && !isJsonObject(value)) {
    const name = Array.isArray(value)
      ? 'array'
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value === 'string'
          ? 'string'
          : 'number';
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${name} into Go value of type map[string]interface {}`,
    );
  }
  const refusal =
    fieldValidation === 'Strict' && duplicates.length > 0
      ? badRequest(
          `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${duplicates.join('\n  ')}`,
        )
      : undefined;
  return { config: value ?? {}, warnings: fieldValidation === 'Ignore' ? [] : duplicates, refusal };
}
