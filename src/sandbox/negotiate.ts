import { parseJson, stringifyJson, type Json } from '../codec/json.ts';
import { printGoYaml } from './goYaml.ts';
import { failure, type StatusError } from './status.ts';

/** In which form an answer is wanted. */
export interface Output {
  readonly format: 'json' | 'yaml';
  /** `as=Table` and its like; undefined for the object itself. */
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined;
  /** Version of meta.k8s.io for `as`. */
  readonly metaVersion: 'v1' | 'v1beta1';
  /** Two spaces of indentation. */
  readonly pretty: boolean;
}

/** What an error is answered in when nothing was negotiated. */
export const plainJson: Output = { format: 'json', as: undefined, metaVersion: 'v1', pretty: false };

const PRODUCED = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const STREAMS = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];

/** The router's check of built-in routes, which looks at media types only. Throws 406. */
export function checkAcceptable(accept: string | undefined, streams: boolean): void {
  if (accept === undefined || accept === '') return;
  const types = accept.split(',').map((clause) => (clause.split(';')[0] ?? '').trim());
  if (types.some((type) => type === '*/*' || PRODUCED.includes(type))) return;
  throw notAcceptable(streams ? [...PRODUCED, ...STREAMS] : PRODUCED);
}

/** The 406 of a route that produces only these. */
export function notAcceptable(produced: readonly string[]): StatusError {
  return failure(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${produced.join(', ')}`, {});
}

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/**
 * Chooses the form of an answer from the Accept header; the clauses are tried by falling quality. Protobuf, which this
 * server does not write, is passed over. Throws 406. Source: apiserver's NegotiateMediaTypeOptions.
 */
export function negotiate(
  accept: string | undefined,
  options: { transforms: boolean; query?: URLSearchParams; agent?: string },
): Output {
  const pretty = isPretty(options.query, options.agent);
  if (accept === undefined || accept === 'application/json' || accept.trim() === '') return { ...plainJson, pretty };
  const clauses = accept
    .split(',')
    .map(readClause)
    .sort((a, b) => b.quality - a.quality);
  for (const clause of clauses) {
    const format = formatOf(clause.type);
    if (format === undefined) continue;
    const as = clause.parameters.get('as');
    if (as === undefined) return { format, as: undefined, metaVersion: 'v1', pretty };
    const version = clause.parameters.get('v');
    const known = as === 'Table' || as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList';
    if (!options.transforms || !known || clause.parameters.get('g') !== 'meta.k8s.io') continue;
    if (version === 'v1' || version === 'v1beta1') return { format, as, metaVersion: version, pretty };
  }
  throw failure(406, 'NotAcceptable', `only the following media types are accepted: ${PRODUCED.join(', ')}`);
}

function readClause(text: string): Clause {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const equals = part.indexOf('=');
    if (equals > 0) parameters.set(part.slice(0, equals).trim(), part.slice(equals + 1).trim());
  }
  const quality = Number(parameters.get('q') ?? '1');
  return { type, parameters, quality: Number.isNaN(quality) ? 1 : quality };
}

function formatOf(type: string): Output['format'] | undefined {
  if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'json';
  return type === 'application/yaml' ? 'yaml' : undefined;
}

/** Browsers, curl and wget get indented JSON unless the query says otherwise. */
function isPretty(query: URLSearchParams | undefined, agent = ''): boolean {
  const asked = query?.get('pretty') ?? undefined;
  if (asked !== undefined) return asked !== '0' && asked.toLowerCase() !== 'false';
  return agent.startsWith('curl') || agent.startsWith('Wget') || agent.startsWith('Mozilla/5.0');
}

/** Prints JSON; the quick way where there is no integer beyond 2^53. */
export function printJson(value: Json, space?: number): string {
  try {
    return JSON.stringify(value, undefined, space);
  } catch (error) {
    if (error instanceof TypeError) return stringifyJson(value, space);
    throw error;
  }
}

/** An answer's text in the form wanted; `text` is its compact JSON. */
export function formatText(text: string, output: Output): string {
  if (output.format === 'yaml') return printGoYaml(parseJson(text));
  return output.pretty ? printJson(parseJson(text), 2) : text;
}

/** The media type of a form. */
export function mediaType(output: Output): string {
  return output.format === 'yaml' ? 'application/yaml' : 'application/json';
}
