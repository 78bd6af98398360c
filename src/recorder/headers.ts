/** Headers that belong to one connection and are never passed on. Source: RFC 9110, section 7.6.1. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const CLIENT_ONLY = new Set(['authorization', 'host']);
const BINARY = /^application\/(vnd\.kubernetes\.protobuf|cbor|cbor-seq)\b/i;
const JSON_TYPE = /^(application\/(json|\*)|\*\/\*)/i;

/** Names and values in turn, as they came. */
export type RawHeaders = readonly string[];

/** The pairs of raw headers. */
export function* headerPairs(raw: RawHeaders): Generator<[string, string]> {
  for (let index = 0; index + 1 < raw.length; index += 2) yield [raw[index] ?? '', raw[index + 1] ?? ''];
}

/** Headers of a request for the upstream: what belongs to the connection and the client's own credential is left out. */
export function requestHeaders(
  raw: RawHeaders,
  options: { host: string; extra: Readonly<Record<string, string | string[]>>; transparent: boolean; upgrade?: string },
): string[] {
  const listed = connectionListed(raw);
  const headers: string[] = ['Host', options.host];
  const present = new Set<string>();
  for (const [name, value] of headerPairs(raw)) {
    const lower = name.toLowerCase();
    present.add(lower);
    if (HOP_BY_HOP.has(lower) || CLIENT_ONLY.has(lower) || listed.has(lower)) continue;
    headers.push(name, lower === 'accept' && !options.transparent ? askForJson(value) : value);
  }
  if (options.upgrade !== undefined) headers.push('Connection', 'Upgrade', 'Upgrade', options.upgrade);
  else if (present.has('transfer-encoding')) headers.push('Transfer-Encoding', 'chunked');
  for (const [name, value] of Object.entries(options.extra)) {
    if (name !== 'authorization' && present.has(name.toLowerCase())) continue;
    for (const item of Array.isArray(value) ? value : [value]) headers.push(name, item);
  }
  return headers;
}

/** Headers of an answer for the client: all but those of the connection. */
export function responseHeaders(raw: RawHeaders): string[] {
  const listed = connectionListed(raw);
  const headers: string[] = [];
  for (const [name, value] of headerPairs(raw)) {
    const lower = name.toLowerCase();
    if (!HOP_BY_HOP.has(lower) && !listed.has(lower)) headers.push(name, value);
  }
  return headers;
}

function connectionListed(raw: RawHeaders): Set<string> {
  const listed = new Set<string>();
  for (const [name, value] of headerPairs(raw)) {
    if (name.toLowerCase() === 'connection') for (const item of value.split(',')) listed.add(item.trim().toLowerCase());
  }
  return listed;
}

/** `Accept` without binary forms, where JSON is accepted as well; unchanged where it is not. Source: RFC 9110, section 12.5.1. */
export function askForJson(accept: string): string {
  const items = accept.split(',').map((item) => item.trim());
  if (!items.some((item) => BINARY.test(item))) return accept;
  const kept = items.filter((item) => !BINARY.test(item));
  return kept.some((item) => JSON_TYPE.test(item)) ? kept.join(',') : accept;
}
