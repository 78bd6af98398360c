import { message, type Words } from '../base/message.ts';
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';

import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Node, type YAMLMap } from 'yaml';

import { AppError } from '../base/appError.ts';
import { isJsonObject, type JsonObject } from '../codec/json.ts';

/** A cluster of a kubeconfig. */
export interface ClusterEntry {
  readonly name: string;
  /** `file:line` of the entry. */
  readonly at: string;
  readonly server: string;
  readonly caFile?: string;
  /** Base64 of PEM. */
  readonly caData?: string;
  readonly insecure: boolean;
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
  readonly disableCompression: boolean;
}

/** A program that gives credentials. Source: Kubernetes documentation, "client-go credential plugins". */
export interface ExecEntry {
  readonly apiVersion: string;
  /** A plain name is looked for on the PATH; anything else is absolute. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly provideClusterInfo: boolean;
  readonly installHint?: string;
  readonly interactiveMode?: string;
}

/** A user of a kubeconfig. Secret members are never shown or logged. */
export interface UserEntry {
  readonly name: string;
  readonly at: string;
  readonly certFile?: string;
  readonly certData?: string;
  readonly keyFile?: string;
  readonly keyData?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly authProvider?: JsonObject;
  readonly exec?: ExecEntry;
  readonly impersonate?: Impersonation;
}

/** Whom a user acts as. */
export interface Impersonation {
  readonly user?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A context of a kubeconfig; `user` is '' where it names none. */
export interface ContextEntry {
  readonly name: string;
  readonly at: string;
  readonly cluster: string;
  readonly user: string;
  readonly namespace?: string;
}

/** One kubeconfig file. */
export interface KubeconfigFile {
  readonly path: string;
  readonly clusters: readonly ClusterEntry[];
  readonly users: readonly UserEntry[];
  readonly contexts: readonly ContextEntry[];
  readonly currentContext: string | undefined;
}

/**
 * Reads one file; undefined if it does not exist.
 * @throws AppError `kubeconfig-missing` where it may not be read, `kubeconfig-malformed` with file and line
 */
export function readKubeconfigFile(path: string): KubeconfigFile | undefined {
  const absolute = resolve(path);
  let text: string;
  try {
    text = readFileSync(absolute, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new AppError(
      'kubeconfig-missing',
      message`The kubeconfig ${absolute} cannot be read (${code ?? message`unknown reason`}).`,
      {
        advice: message`Check that it is a file and that you may read it.`,
        details: { path: absolute },
        cause: error,
      },
    );
  }
  return new FileParser(absolute, text).parse();
}

const STRING_FIELDS_OF_USER = [
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'token',
  'tokenFile',
  'username',
  'password',
  'as',
  'as-uid',
] as const;

class FileParser {
  private readonly path: string;
  private readonly text: string;
  private readonly lines = new LineCounter();

  constructor(path: string, text: string) {
    this.path = path;
    this.text = text;
  }

  parse(): KubeconfigFile {
    const document = parseDocument(this.text, { lineCounter: this.lines, uniqueKeys: true, schema: 'core' });
    const problem = document.errors[0];
    if (problem !== undefined)
      throw this.malformed(
        problem.message.split('\n')[0]?.replace(/ at line \d+.*$/s, '') ?? message`it is not YAML`,
        problem.pos[0],
      );
    const root = document.contents;
    if (root === null) return { path: this.path, clusters: [], users: [], contexts: [], currentContext: undefined };
    if (!isMap(root)) throw this.malformed(message`it is not a map of clusters, users and contexts`, 0);
    const current = this.string(root, 'current-context');
    return {
      path: this.path,
      clusters: this.named(root, 'clusters', 'cluster', (name, at, body) => this.cluster(name, at, body)),
      users: this.named(root, 'users', 'user', (name, at, body) => this.user(name, at, body)),
      contexts: this.named(root, 'contexts', 'context', (name, at, body) => this.context(name, at, body)),
      currentContext: current === '' ? undefined : current,
    };
  }

  private named<T>(
    root: YAMLMap,
    list: string,
    member: string,
    make: (name: string, at: string, body: YAMLMap) => T,
  ): T[] {
    const items = root.get(list, true);
    if (items === undefined || isNull(items)) return [];
    if (!isSeq(items)) throw this.malformed(message`"${list}" is not a list`, startOf(items));
    const seen = new Set<string>();
    return items.items.map((item, index) => {
      if (!isMap(item)) throw this.malformed(message`${list}[${index}] is not a map`, startOf(item));
      const name = this.string(item, 'name');
      if (name === undefined || name === '')
        throw this.malformed(message`${list}[${index}] has no name`, startOf(item));
      if (seen.has(name)) throw this.malformed(message`${list} holds the name "${name}" twice`, startOf(item));
      seen.add(name);
      const body = item.get(member, true);
      if (body !== undefined && !isNull(body) && !isMap(body))
        throw this.malformed(message`"${member}" of "${name}" is not a map`, startOf(body));
      return make(name, `${this.path}:${this.lineOf(startOf(item))}`, isMap(body) ? body : emptyMap());
    });
  }

  private cluster(name: string, at: string, body: YAMLMap): ClusterEntry {
    return {
      name,
      at,
      server: (this.string(body, 'server') ?? '').replace(/\/+$/, ''),
      insecure: this.flag(body, 'insecure-skip-tls-verify'),
      disableCompression: this.flag(body, 'disable-compression'),
      ...present('caFile', this.file(body, 'certificate-authority')),
      ...present('caData', this.string(body, 'certificate-authority-data')),
      ...present('tlsServerName', this.string(body, 'tls-server-name')),
      ...present('proxyUrl', this.string(body, 'proxy-url')),
    };
  }

  private user(name: string, at: string, body: YAMLMap): UserEntry {
    const text: Partial<Record<(typeof STRING_FIELDS_OF_USER)[number], string>> = {};
    for (const field of STRING_FIELDS_OF_USER) {
      const value = this.string(body, field);
      if (value !== undefined && value !== '') text[field] = value;
    }
    const provider = this.map(body, 'auth-provider');
    const exec = this.map(body, 'exec');
    return {
      name,
      at,
      ...present('certFile', this.absolute(text['client-certificate'])),
      ...present('certData', text['client-certificate-data']),
      ...present('keyFile', this.absolute(text['client-key'])),
      ...present('keyData', text['client-key-data']),
      ...present('token', text.token),
      ...present('tokenFile', this.absolute(text.tokenFile)),
      ...present('username', text.username),
      ...present('password', text.password),
      ...present('authProvider', provider === undefined ? undefined : asObject(provider)),
      ...present('exec', exec === undefined ? undefined : this.exec(exec)),
      ...present('impersonate', this.impersonation(body, text.as, text['as-uid'])),
    };
  }

  private impersonation(body: YAMLMap, user: string | undefined, uid: string | undefined): Impersonation | undefined {
    const groups = this.texts(body, 'as-groups');
    const extraMap = this.map(body, 'as-user-extra');
    const extra: Record<string, readonly string[]> = {};
    for (const pair of extraMap?.items ?? []) {
      const key = String(isScalar(pair.key) ? pair.key.value : pair.key);
      if (extraMap !== undefined) extra[key] = this.texts(extraMap, key);
    }
    const found = {
      ...present('user', user),
      ...present('uid', uid),
      ...(groups.length === 0 ? {} : { groups }),
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
    };
    return Object.keys(found).length === 0 ? undefined : found;
  }

  private exec(body: YAMLMap): ExecEntry {
    const command = this.string(body, 'command');
    if (command === undefined || command === '') throw this.malformed(message`"exec" has no command`, startOf(body));
    const env: Record<string, string> = {};
    const list = body.get('env', true);
    for (const item of isSeq(list) ? list.items : []) {
      if (!isMap(item)) throw this.malformed(message`"env" of "exec" is not a list of names and values`, startOf(item));
      const name = this.string(item, 'name');
      if (name !== undefined) env[name] = this.string(item, 'value') ?? '';
    }
    return {
      apiVersion: this.string(body, 'apiVersion') ?? '',
      command: /[\\/]/.test(command) ? (this.absolute(command) ?? command) : command,
      args: this.texts(body, 'args'),
      env,
      provideClusterInfo: this.flag(body, 'provideClusterInfo'),
      ...present('installHint', this.string(body, 'installHint')),
      ...present('interactiveMode', this.string(body, 'interactiveMode')),
    };
  }

  private context(name: string, at: string, body: YAMLMap): ContextEntry {
    const namespace = this.string(body, 'namespace');
    return {
      name,
      at,
      cluster: this.string(body, 'cluster') ?? '',
      user: this.string(body, 'user') ?? '',
      ...(namespace === undefined || namespace === '' ? {} : { namespace }),
    };
  }

  private string(map: YAMLMap, field: string): string | undefined {
    const node = map.get(field, true);
    if (node === undefined || isNull(node)) return undefined;
    if (isScalar(node) && typeof node.value === 'string') return node.value;
    throw this.malformed(message`"${field}" is not text (numbers and such need quotes)`, startOf(node));
  }

  private texts(map: YAMLMap, field: string): string[] {
    const node = map.get(field, true);
    if (node === undefined || isNull(node)) return [];
    if (!isSeq(node)) throw this.malformed(message`"${field}" is not a list`, startOf(node));
    return node.items.map((item) => {
      if (isScalar(item) && typeof item.value === 'string') return item.value;
      throw this.malformed(
        message`"${field}" holds something that is not text (numbers and such need quotes)`,
        startOf(item),
      );
    });
  }

  private flag(map: YAMLMap, field: string): boolean {
    const node = map.get(field, true);
    if (node === undefined || isNull(node)) return false;
    if (isScalar(node) && typeof node.value === 'boolean') return node.value;
    throw this.malformed(message`"${field}" is neither true nor false`, startOf(node));
  }

  private map(map: YAMLMap, field: string): YAMLMap | undefined {
    const node = map.get(field, true);
    if (node === undefined || isNull(node)) return undefined;
    if (isMap(node)) return node;
    throw this.malformed(message`"${field}" is not a map`, startOf(node));
  }

  private file(map: YAMLMap, field: string): string | undefined {
    return this.absolute(this.string(map, field));
  }

  private absolute(file: string | undefined): string | undefined {
    if (file === undefined || file === '') return undefined;
    return isAbsolute(file) ? file : join(dirname(this.path), file);
  }

  private lineOf(offset: number): number {
    return this.lines.linePos(offset).line;
  }

  private malformed(what: Words, offset: number): AppError {
    const line = this.lineOf(offset);
    return new AppError(
      'kubeconfig-malformed',
      message`The kubeconfig is malformed at ${this.path}:${line}: ${what}.`,
      {
        advice: message`Correct that line, or name another file.`,
        details: { path: this.path, line },
      },
    );
  }
}

function present<K extends string, T>(key: K, value: T | undefined): { [P in K]?: T } {
  return (value === undefined || value === '' ? {} : { [key]: value }) as { [P in K]?: T };
}

function isNull(node: unknown): boolean {
  return node === null || (isScalar(node) && node.value === null);
}

function startOf(node: unknown): number {
  return (node as Node | undefined)?.range?.[0] ?? 0;
}

function emptyMap(): YAMLMap {
  return parseDocument('{}').contents as unknown as YAMLMap;
}

function asObject(map: YAMLMap): JsonObject {
  const value: unknown = map.toJSON();
  return isJsonObject(value) ? value : {};
}
