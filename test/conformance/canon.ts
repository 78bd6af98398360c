import type { Reply, Step } from './exchange.ts';
import { isRecord, selectParts } from './pointer.ts';

/** A reply in canonical form. */
export interface CanonicalStep {
  readonly id: string;
  readonly status: number;
  readonly headers: unknown;
  readonly end?: string;
  readonly body?: unknown;
}

interface Context {
  readonly list?: boolean;
  readonly bookmark?: boolean;
  readonly keepList?: boolean;
}

type ClassName = 'rv' | 'uid' | 'list' | 'rand';

const TIME = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?[+-]\d\d:?\d\d)?( UTC)?Z?/g;
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/**
 * Replaces everything that a server may choose freely by a stable label, so that two servers' answers can be compared.
 * Tokens are opaque: only which are equal is kept. What the case's text spells out stays as it is.
 */
export class Canon {
  private readonly source: string;
  private readonly words: Map<string, string>;
  private readonly classes: Record<ClassName, Map<string, string>> = {
    rv: new Map(),
    uid: new Map(),
    list: new Map(),
    rand: new Map(),
  };

  constructor(source: string, names: Readonly<Record<string, string>>) {
    this.source = source;
    this.words = new Map(Object.entries(names));
  }

  /** The canonical form of one step's reply. */
  reply(reply: Reply, step: Step): CanonicalStep {
    const picked = step.only === undefined ? reply.body : selectParts(reply.body, step.only);
    this.learn(picked);
    const body = this.value(picked, '', step.keepListRV === true ? { keepList: true } : {});
    return {
      id: step.id,
      status: reply.status,
      headers: this.value(reply.headers, '', {}),
      ...(reply.end === undefined ? {} : { end: reply.end }),
      ...(body === undefined ? {} : { body }),
    };
  }

  private label(kind: ClassName, value: string): string {
    const known = this.classes[kind];
    const label = known.get(value) ?? `${kind}#${known.size + 1}`;
    known.set(value, label);
    return label;
  }

  private isLiteral(value: string): boolean {
    return this.source.includes(`"${value}"`);
  }

  private uid(value: string): string {
    return value === '' || this.isLiteral(value) ? value : this.label('uid', value);
  }

  /** Learns uids and generated names first, so that messages which name them can be rewritten. */
  private learn(value: unknown): void {
    if (Array.isArray(value)) {
      for (const item of value) this.learn(item);
      return;
    }
    if (!isRecord(value)) return;
    const metadata = isRecord(value['metadata']) ? value['metadata'] : {};
    const { generateName, name } = metadata;
    if (
      typeof generateName === 'string' &&
      typeof name === 'string' &&
      name.startsWith(generateName) &&
      !this.isLiteral(name)
    ) {
      this.words.set(name, `${generateName}<${this.label('rand', name)}>`);
    }
    for (const key of Object.keys(value).sort()) {
      const item = value[key];
      if (key !== 'uid' || typeof item !== 'string') this.learn(item);
      else if (this.uid(item) !== item && item.length > 7) this.words.set(item, this.uid(item));
    }
  }

  private text(text: string): string {
    let result = text;
    for (const [from, to] of this.words) result = result.replaceAll(from, to);
    return result
      .replace(TIME, (time) => (this.source.includes(time) || time.startsWith('2006-01-02') ? time : '<time>'))
      .replace(UUID, (uuid) => (this.source.includes(uuid) ? uuid : this.label('uid', uuid)))
      .replace(
        /(ResourceVersion in (?:the )?(?:precondition|record)[ :]+\(?)(\d+)/g,
        (_all, lead: string, token: string) => lead + (this.classes.rv.get(token) ?? token),
      )
      .replace(/in scheme ".*?"/g, 'in scheme "<scheme>"')
      .replace(/(Invalid value: )"(\{\\*"|map\[).*"(?=: )/s, '$1"<object>"')
      .replace(/\n@@ [^]*$/, '\n<diff>')
      .replace(/(too old resource version: \d+ \()\d+/g, '$1<list-rv>')
      .replace(/(resource version: \d+, current: )\d+/gi, '$1<list-rv>');
  }

  private value(value: unknown, key: string, context: Context): unknown {
    if (typeof value === 'string') return this.string(value, key, context);
    if (Array.isArray(value)) return this.array(value, key, context);
    if (!isRecord(value)) return value;
    const bookmark = context.bookmark === true || value['type'] === 'BOOKMARK';
    const source = sortedMessage(value);
    const result: Record<string, unknown> = {};
    for (const name of Object.keys(source).sort()) {
      const list =
        name === 'metadata'
          ? Array.isArray(source['items']) || source['kind'] === 'Table' || bookmark
          : context.list === true;
      result[this.text(name)] = this.value(source[name], name, { ...context, list, bookmark });
    }
    return result;
  }

  private string(value: string, key: string, context: Context): string {
    if (key === 'resourceVersion') {
      if (value === '') return value;
      if (context.list !== true) return this.label('rv', value);
      return context.keepList === true ? this.label('list', value) : '<list-rv>';
    }
    if (key === 'uid') return this.uid(value);
    if (key === 'continue' && value !== '') return '<continue>';
    if (key === 'storageVersionHash') return '<hash>';
    if (key === 'cells' && /^(\d+[smhd])+$/.test(value)) return '<age>';
    if (/^clusterIPs?$/.test(key) && value !== '' && value !== 'None' && !this.isLiteral(value)) return '<ip>';
    return this.text(value);
  }

  private array(values: readonly unknown[], key: string, context: Context): unknown[] {
    const items = values.map((item) => this.value(item, key, { ...context, list: false }));
    const field = (item: unknown, name: string): string =>
      isRecord(item) && typeof item[name] === 'string' ? item[name] : '';
    if (key === 'managedFields') {
      const order = (item: unknown): string =>
        [
          ...['manager', 'operation', 'subresource', 'apiVersion'].map((name) => field(item, name)),
          JSON.stringify(item),
        ].join('\0');
      return items.sort((a, b) => (order(a) < order(b) ? -1 : 1));
    }
    if (key !== 'causes') return items;
    const order = (item: unknown): string => ['field', 'reason', 'message'].map((name) => field(item, name)).join('\0');
    return items.sort((a, b) => (order(a) < order(b) ? -1 : 1));
  }
}

/** `X is invalid: [e1, e2]` with the errors in the order of their fields; the server's order may be random. */
function sortedMessage(status: Record<string, unknown>): Record<string, unknown> {
  const { message, details } = status;
  const causes = isRecord(details) && Array.isArray(details['causes']) ? details['causes'].filter(isRecord) : [];
  if (causes.length < 2 || typeof message !== 'string' || !message.endsWith(']')) return status;
  const [head, list] = message.slice(0, -1).split(/ is invalid: \[(.*)/s);
  const parts = [...new Set(causes.map((cause) => `${String(cause['field'])}: ${String(cause['message'])}`))].sort();
  return list?.length === parts.join(', ').length
    ? { ...status, message: `${head ?? ''} is invalid: [${parts.join(', ')}]` }
    : status;
}
