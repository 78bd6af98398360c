import { isJsonObject, setOwn, stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import {
  anonymousItem,
  defined,
  FREE_MAPS,
  isFree,
  KEPT_FIELDS,
  KUBERNETES_PROGRAMS,
  optional,
  TIME,
  UID,
  UIDS,
} from './anonymizeRules.ts';
import { hashText } from './hash.ts';
import { formatPath, parsePath, type Path, type PathStep } from '../codec/path.ts';
import type { Actor, NewTraceEvent, ObjectName, TraceEvent, TraceHeader, WriteEvent } from './traceEvent.ts';

/**
 * Replaces names and values of a trace so that it can be shared, and the same one always by the same: objects stay apart,
 * tokens stay equal or different, references still hold or dangle, and every finding is found again. Kept: times, kinds and
 * resources, verbs, outcomes, the names of fields that Kubernetes defines, field managers of Kubernetes' own programs,
 * numbers and booleans outside of free data. Replaced: names, namespaces, UIDs, tokens, clusters, users, other programs,
 * label and annotation values, data of ConfigMaps and Secrets, every other text. Dropped: messages of servers, notes of
 * people and bodies that were not analysed. `secret` makes the replacements of one export unguessable from another's.
 */
export class Anonymizer {
  private readonly secret: string;
  private readonly known = new Map<string, string>();
  private readonly counters = new Map<string, number>();

  constructor(secret: string) {
    this.secret = secret;
  }

  /** The header with its clusters renamed. */
  header(header: TraceHeader): TraceHeader {
    const clusters = Object.fromEntries(
      Object.keys(header.clusters ?? {}).map((id) => [this.id(id), { label: this.clusterLabel(this.id(id)) }]),
    );
    return {
      trace: header.trace,
      version: header.version,
      createdAt: header.createdAt,
      creator: header.creator,
      clusters,
    };
  }

  /** One event with everything replaced. */
  event<E extends TraceEvent | NewTraceEvent>(event: E): E {
    return { ...this.replaced(event), cluster: this.id(event.cluster) } as E;
  }

  /** What a cluster is called under its new id. */
  clusterLabel(replacedId: string): string {
    return this.word('cluster', replacedId);
  }

  private replaced(event: TraceEvent | NewTraceEvent): object {
    switch (event.type) {
      case 'observed': {
        const { labels, annotations, leaves, body, managedFields, ownerReferences, stream, finalizers, ...rest } =
          event;
        return defined({
          ...rest,
          name: this.name(event.name),
          uid: this.id(event.uid),
          token: this.token(event.token),
          stream: optional(stream, (id) => this.word('stream', id)),
          labels: optional(labels, (map) => this.texts(map)),
          annotations: optional(annotations, (map) => this.texts(map)),
          finalizers: optional(finalizers, (list) => list.map((text) => this.qualified(text))),
          managedFields: optional(managedFields, (list) => list.map((entry) => this.managedFields(entry))),
          ownerReferences: optional(ownerReferences, (list) =>
            list.map((entry) => this.value(entry, ['ownerReferences'])),
          ),
          leaves: optional(leaves, (map) => this.leaves(map)),
          body: optional(body, (object) => this.object(object)),
        });
      }
      case 'absent': {
        const { uid, token, stream, body, ...rest } = event;
        return defined({
          ...rest,
          name: this.name(event.name),
          uid: optional(uid, (id) => this.id(id)),
          token: optional(token, (text) => this.token(text)),
          stream: optional(stream, (id) => this.word('stream', id)),
          body: optional(body, (object) => this.object(object)),
        });
      }
      case 'gap': {
        const { detail: _detail, ...rest } = event;
        return { ...rest, gap: this.word('gap', event.gap), scope: this.scope(event.scope) };
      }
      case 'read': {
        const { request: _request, ...rest } = event;
        const given = event.given.map((one) => ({
          ...one,
          namespace: this.word('ns', one.namespace),
          name: this.word('name', one.name),
          uid: this.id(one.uid),
          token: this.token(one.token),
        }));
        return { ...rest, actor: this.actor(event.actor), scope: this.scope(event.scope), given };
      }
      case 'write':
        return this.write(event);
      case 'note':
        return defined({
          ...event,
          text: this.word('note', event.text),
          name: optional(event.name, (name) => this.name(name)),
          association: optional(event.association, ({ what, id, uid, ended }) => ({
            what: this.word('what', what),
            id: this.word('id', id),
            uid: this.id(uid),
            ...(ended === undefined ? {} : { ended }),
          })),
        });
    }
  }

  private write(event: WriteEvent | (NewTraceEvent & { type: 'write' })): object {
    const {
      message: _message,
      notAnalysed,
      body,
      result,
      basedOn,
      preconditions,
      causes,
      paths,
      wonBy,
      write,
      ...rest
    } = event;
    return defined({
      ...rest,
      actor: this.actor(event.actor),
      name: this.name(event.name),
      notAnalysed,
      write: optional(write, (id) => this.word('write', id)),
      preconditions: optional(preconditions, (given) =>
        defined({
          uid: optional(given.uid, (id) => this.id(id)),
          token: optional(given.token, (text) => this.token(text)),
        }),
      ),
      basedOn: optional(basedOn, (base) => ({ ...base, uid: this.id(base.uid), token: this.token(base.token) })),
      result: optional(result, (made) => ({ ...made, uid: this.id(made.uid), token: this.token(made.token) })),
      causes: optional(causes, (list) =>
        list.map(({ reason, field }) => defined({ reason, field: optional(field, (text) => this.pathText(text)) })),
      ),
      paths: optional(paths, (list) => list.map((text) => this.pathText(text))),
      wonBy: optional(wonBy, (list) =>
        list.map((winner) => ({
          ...winner,
          manager: this.program(winner.manager),
          fields: winner.fields.map((text) => this.pathText(text)),
        })),
      ),
      body: optional(body, (content) => this.value(content, [])),
    });
  }

  /** A user and a program of one name stay of one name: who fights in one finding is who takes over in another. */
  private actor(actor: Actor): object {
    return defined({
      client: optional(actor.client, (text) => this.program(text)),
      user: optional(actor.user, (text) => this.word('actor', text)),
      agent: optional(actor.agent, (text) => this.program(text.split(/[/ ]/, 1)[0] ?? '')),
      manager: optional(actor.manager, (text) => this.program(text)),
    });
  }

  private name(name: ObjectName): ObjectName {
    return { ...name, namespace: this.word('ns', name.namespace), name: this.word('name', name.name) };
  }

  private scope<S extends { namespace?: string; name?: string }>(scope: S): S {
    return defined({
      ...scope,
      namespace: optional(scope.namespace, (text) => this.word('ns', text)),
      name: optional(scope.name, (text) => this.word('name', text)),
    }) as S;
  }

  /** Programs that come with Kubernetes are no secret and carry meaning. */
  private program(text: string): string {
    return KUBERNETES_PROGRAMS.test(text) ? text : this.word('actor', text);
  }

  private object(object: JsonObject): JsonObject {
    return this.value(object, []) as JsonObject;
  }

  /** `at` is the names of the fields above, list items left out. */
  private value(value: Json, at: readonly string[]): Json {
    if (typeof value === 'string') return this.text(value, at);
    if (Array.isArray(value)) {
      if (at.at(-1) === 'managedFields') return value.map((entry) => this.managedFields(entry));
      return value.map((item) => this.value(item, at));
    }
    if (!isJsonObject(value)) return isFree(at) ? null : value;
    const copy: JsonObject = {};
    for (const [field, member] of Object.entries(value)) {
      setOwn(copy, this.fieldName(field, at), this.value(member, [...at, field]));
    }
    return copy;
  }

  private text(text: string, at: readonly string[]): string {
    const field = at.at(-1) ?? '';
    if (text === '' || KEPT_FIELDS.has(field)) return text;
    if (this.known.has(`uid ${text}`) || field === 'uid' || UID.test(text)) return this.id(text);
    if (field === 'resourceVersion') return this.token(text);
    if (field === 'namespace') return this.word('ns', text);
    if (field === 'name' || field === 'generateName' || /[a-z]Name$/.test(field)) return this.word('name', text);
    if (field === 'manager') return this.program(text);
    if (TIME.test(text)) return text;
    return at.at(-2) === undefined || isFree(at) ? this.word('text', text) : this.withIds(text);
  }

  /** A text that holds a UID of an object still holds the replacement of it: stale references stay visible. */
  private withIds(text: string): string {
    const ids = text.match(UIDS);
    if (ids === null) return this.word('text', text);
    return [this.word('text', text), ...ids.map((id) => this.id(id))].join(' ');
  }

  /** Keys of maps that people fill are names of theirs; fields of Kubernetes are not. */
  private fieldName(field: string, at: readonly string[]): string {
    return FREE_MAPS.has(at.at(-1) ?? '') ? this.qualified(field) : field;
  }

  /** `example.org/team` is replaced on both sides; what is Kubernetes' own stays. */
  private qualified(text: string): string {
    return /(^|\.)(kubernetes|k8s)\.io\//.test(text) ? text : this.word('key', text);
  }

  private texts(map: Readonly<Record<string, string>>): Record<string, string> {
    const entries = Object.entries(map).map(([key, text]) => [this.qualified(key), this.withIds(text)] as const);
    return Object.fromEntries(entries);
  }

  private leaves(map: Readonly<Record<string, string>>): Record<string, string> {
    const entries = Object.entries(map).map(
      ([path, hash]) => [this.pathText(path), hashText(this.secret + hash)] as const,
    );
    return Object.fromEntries(entries);
  }

  private pathText(text: string): string {
    const parsed = parsePath(text);
    return 'path' in parsed ? formatPath(this.path(parsed.path)) : this.word('path', text);
  }

  private path(path: Path): Path {
    const fields: string[] = [];
    return path.map((step): PathStep => {
      if ('field' in step) {
        const renamed = this.fieldName(step.field, fields);
        fields.push(step.field);
        return { field: renamed };
      }
      if ('key' in step) return { key: this.value(step.key, [...fields, 'key']) as JsonObject };
      if ('value' in step) return { value: typeof step.value === 'string' ? this.qualified(step.value) : step.value };
      return step;
    });
  }

  /** The structure of FieldsV1 is paths: `f:` names, `k:` and `v:` JSON. */
  private managedFields(entry: Json): Json {
    if (!isJsonObject(entry)) return null;
    const { fieldsV1, manager, ...rest } = entry;
    const copy: JsonObject = { ...rest };
    if (typeof manager === 'string') copy['manager'] = this.program(manager);
    if (isJsonObject(fieldsV1)) copy['fieldsV1'] = this.fieldSet(fieldsV1, []);
    return copy;
  }

  private fieldSet(fields: JsonObject, at: readonly string[]): JsonObject {
    const copy: JsonObject = {};
    for (const [key, member] of Object.entries(fields)) {
      const [renamed, next] = this.fieldSetKey(key, at);
      setOwn(copy, renamed, isJsonObject(member) ? this.fieldSet(member, next) : member);
    }
    return copy;
  }

  private fieldSetKey(key: string, at: readonly string[]): [string, readonly string[]] {
    if (key.startsWith('f:')) {
      const field = key.slice(2);
      return [`f:${this.fieldName(field, at)}`, [...at, field]];
    }
    const parsed = parsePath(`${key.startsWith('k:') ? '' : '.'}x[=${key.slice(2)}]`);
    const step = 'path' in parsed ? parsed.path.at(-1) : undefined;
    if (step === undefined || !('value' in step)) return [key, at];
    const content = key.startsWith('k:')
      ? this.value(step.value, [...at, 'key'])
      : anonymousItem(step.value, (text) => this.qualified(text));
    return [`${key.slice(0, 2)}${stringifyJson(content)}`, at];
  }

  /** A UID, or a cluster's id: same length of meaning, other digits. */
  private id(text: string): string {
    if (text === '') return '';
    const key = `uid ${text}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const digits = [0, 1, 2, 3]
      .map((seed) => hashText(`${this.secret} ${text}`, seed))
      .join('')
      .padEnd(32, '0');
    const made = `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
    this.known.set(key, made);
    return made;
  }

  private token(text: string): string {
    return text === '' ? '' : this.word('v', text);
  }

  /** `name-1`, `name-2` … in the order in which they come. */
  private word(kind: string, text: string): string {
    if (text === '') return '';
    const key = `${kind} ${text}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const count = (this.counters.get(kind) ?? 0) + 1;
    this.counters.set(kind, count);
    const made = `${kind}-${count}`;
    this.known.set(key, made);
    return made;
  }
}
