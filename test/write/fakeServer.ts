import type { ServerReply, ServerRequest } from '../../src/base/server.ts';
import {
  cloneJson,
  equalJson,
  isJsonObject,
  parseJson,
  stringifyJson,
  type Json,
  type JsonObject,
} from '../../src/codec/json.ts';
import { FakeFields } from './fakeFields.ts';

/** A version that was stored, and by what. */
export interface Commit {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly uid: string;
  readonly token: string;
  readonly object: JsonObject;
  /** The version before, in the same life. */
  readonly before: JsonObject | undefined;
  readonly request: ServerRequest | undefined;
}

/** Ways in which servers differ. */
export interface FakeServerOptions {
  /** A PUT or an apply to a name that is free creates, as for Leases and Services, unless it carries a UID. */
  readonly upserts?: boolean;
  /** Tokens begin again with every life, as they may where storage was restored. */
  readonly tokensRepeat?: boolean;
  /** Nobody may watch. */
  readonly noWatch?: boolean;
  /** All that happens, happens within one second: the times of `managedFields` tell nothing apart. */
  readonly oneSecond?: boolean;
}

/** What a server of one object of the core group answers; the rules are those of the real one, as far as a writer meets them. */
export class FakeServer {
  readonly commits: Commit[] = [];
  now = 1_700_000_000_000;
  private readonly name: string;
  private revision = 0;
  private lives = 0;
  private current: JsonObject | undefined;
  private readonly fields = new FakeFields();

  private readonly options: FakeServerOptions;

  constructor(options: FakeServerOptions = {}, name = 'demo') {
    this.options = options;
    this.name = name;
  }

  get object(): JsonObject | undefined {
    return this.current;
  }

  /** Begins a life of the object. */
  create(content: JsonObject, manager = 'creator'): JsonObject {
    this.lives += 1;
    if (this.options.tokensRepeat === true) this.revision = 0;
    const metadata = isJsonObject(content['metadata']) ? content['metadata'] : {};
    const created: JsonObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      ...content,
      metadata: { ...metadata, name: this.name, namespace: 'lab', uid: `uid-${this.lives}` },
    };
    return this.store(undefined, created, { manager, operation: 'Update' }, undefined, 'ADDED');
  }

  /** Ends the life of the object. */
  remove(): void {
    if (this.current === undefined) return;
    const last = this.current;
    this.current = undefined;
    const object = withMeta(last, { resourceVersion: this.nextToken() });
    this.commits.push({
      type: 'DELETED',
      uid: uidOf(last),
      token: tokenOf(object),
      object,
      before: last,
      request: undefined,
    });
  }

  /** Somebody else's update of the object. */
  update(change: (object: JsonObject) => JsonObject, manager = 'other', subresource?: string): JsonObject {
    if (this.current === undefined) throw new Error('There is nothing to update.');
    const actor = { manager, operation: 'Update' as const, ...(subresource === undefined ? {} : { subresource }) };
    return this.store(this.current, change(cloneJson(this.current)), actor, undefined, 'MODIFIED');
  }

  /** What a read may be given by a server that is one version behind; undefined where there is no older one. */
  lagging(): ServerReply | undefined {
    const older = this.commits.at(-2);
    if (older === undefined) return undefined;
    return older.type === 'DELETED' ? this.notFound() : reply(200, older.object);
  }

  /** Answers a request, at once. */
  answer(request: ServerRequest): ServerReply {
    if (request.method === 'GET') return request.query?.['watch'] === 'true' ? this.watch(request) : this.get();
    if (request.method === 'DELETE') return this.delete(request);
    if (request.method === 'PUT') return this.put(request);
    if (request.method === 'PATCH') return this.patch(request);
    return status(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
  }

  private get(): ServerReply {
    return this.current === undefined ? this.notFound() : reply(200, this.current);
  }

  private watch(request: ServerRequest): ServerReply {
    if (this.options.noWatch === true)
      return status(403, 'Forbidden', 'configmaps is forbidden', { kind: 'configmaps' });
    const from = this.commits.findLastIndex(({ token }) => token === request.query?.['resourceVersion']);
    if (from < 0) return status(410, 'Expired', 'too old resource version', undefined);
    const lines = this.commits.slice(from + 1).map(({ type, object }) => stringifyJson({ type, object }));
    return { status: 200, headers: {}, body: lines.map((line) => `${line}\n`).join('') };
  }

  private delete(request: ServerRequest): ServerReply {
    const { current } = this;
    if (current === undefined) return this.notFound();
    const options = parseJson(request.body ?? '{}') as JsonObject;
    const preconditions = isJsonObject(options['preconditions']) ? options['preconditions'] : {};
    const { uid, resourceVersion } = preconditions;
    const conflict = (why: string): ServerReply =>
      status(409, 'Conflict', `Operation cannot be fulfilled on ConfigMap "${this.name}": ${why}`, {
        name: this.name,
        kind: 'ConfigMap',
      });
    if (typeof uid === 'string' && uid !== uidOf(current)) {
      return conflict(
        `the UID in the precondition (${uid}) does not match the UID in record (${uidOf(current)}). The object might have been deleted and then recreated`,
      );
    }
    if (typeof resourceVersion === 'string' && resourceVersion !== tokenOf(current)) {
      return conflict(
        `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${tokenOf(current)}). The object might have been modified`,
      );
    }
    this.remove();
    return reply(200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' });
  }

  private put(request: ServerRequest): ServerReply {
    const body = parseJson(request.body ?? '') as JsonObject;
    const sent = metaOf(body);
    if (this.current === undefined) {
      if (typeof sent['uid'] === 'string') return this.uidConflict(sent['uid'], '');
      return this.options.upserts === true ? reply(201, this.upsert(body, request)) : this.notFound();
    }
    if (typeof sent['uid'] === 'string' && sent['uid'] !== uidOf(this.current))
      return this.uidConflict(sent['uid'], uidOf(this.current));
    return this.conditional(request, body, { manager: managerOf(request), operation: 'Update' });
  }

  private patch(request: ServerRequest): ServerReply {
    const body = parseJson(request.body ?? '');
    const type = request.headers?.['content-type'] ?? '';
    if (this.current === undefined) {
      const uid = isJsonObject(body) ? metaOf(body)['uid'] : undefined;
      if (type !== 'application/apply-patch+yaml') return this.notFound();
      if (typeof uid !== 'string') return reply(201, this.upsert(body as JsonObject, request));
      const message = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      return status(409, 'Conflict', message, { name: this.name, kind: 'configmaps' });
    }
    const manager = managerOf(request);
    if (type === 'application/apply-patch+yaml') return this.apply(request, body as JsonObject, manager);
    const patched =
      type === 'application/json-patch+json'
        ? jsonPatch(this.current, body as JsonObject[])
        : mergePatch(this.current, body);
    if (patched === undefined)
      return status(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
    const uid = metaOf(patched as JsonObject)['uid'];
    if (uid !== uidOf(this.current)) return this.immutableUid(text(uid));
    return this.conditional(request, patched as JsonObject, { manager, operation: 'Update' });
  }

  private apply(request: ServerRequest, body: JsonObject, manager: string): ServerReply {
    const current = this.current as JsonObject;
    const { uid, resourceVersion } = metaOf(body);
    const conflicts = this.fields.conflicts(current, body, manager);
    if (conflicts.length > 0 && request.query?.['force'] !== 'true') {
      return status(409, 'Conflict', `Apply failed with ${conflicts.length} conflicts`, { causes: conflicts });
    }
    if (typeof uid === 'string' && uid !== uidOf(current)) return this.immutableUid(uid);
    if (typeof resourceVersion === 'string' && resourceVersion !== tokenOf(current)) return this.versionConflict();
    const merged = this.fields.merge(current, body, manager);
    if (equalJson(merged, current)) return reply(200, current);
    return reply(200, this.store(current, merged, { manager, operation: 'Apply', body }, request, 'MODIFIED'));
  }

  private conditional(
    request: ServerRequest,
    body: JsonObject,
    actor: { manager: string; operation: 'Update' },
  ): ServerReply {
    const current = this.current as JsonObject;
    const token = metaOf(body)['resourceVersion'];
    if (typeof token === 'string' && token !== '' && token !== tokenOf(current)) return this.versionConflict();
    const desired = withMeta(body, { uid: uidOf(current), resourceVersion: tokenOf(current) });
    // Managed fields that a request changes are taken as given; those it only repeats are the server's own affair.
    const given = metaOf(body)['managedFields'];
    const released = Array.isArray(given) && !equalJson(given, metaOf(current)['managedFields']);
    if (!released && equalJson(content(desired), content(current))) return reply(200, current);
    const owned = released ? withMeta(current, { managedFields: given.filter(hasManager) }) : current;
    return reply(200, this.store(current, desired, actor, request, 'MODIFIED', owned));
  }

  private store(
    before: JsonObject | undefined,
    desired: JsonObject,
    actor: { manager: string; operation: 'Apply' | 'Update'; subresource?: string; body?: JsonObject },
    request: ServerRequest | undefined,
    type: 'ADDED' | 'MODIFIED',
    owned = before,
  ): JsonObject {
    const time = new Date(this.now).toISOString().replace(/\.\d+Z$/, 'Z');
    const managedFields = this.fields.after(owned, desired, actor, time);
    const object = withMeta(desired, { resourceVersion: this.nextToken(), managedFields });
    this.current = object;
    this.commits.push({ type, uid: uidOf(object), token: tokenOf(object), object, before, request });
    return object;
  }

  private upsert(body: JsonObject, request: ServerRequest): JsonObject {
    const { resourceVersion: _ignored, ...metadata } = metaOf(body);
    this.lives += 1;
    const created = withMeta({ ...body, metadata }, { name: this.name, namespace: 'lab', uid: `uid-${this.lives}` });
    return this.store(undefined, created, { manager: managerOf(request), operation: 'Update' }, request, 'ADDED');
  }

  /** Tokens that nobody can put in order. */
  private nextToken(): string {
    this.revision += 1;
    return `t${(this.revision * 7919) % 10_007}`;
  }

  private notFound(): ServerReply {
    return status(404, 'NotFound', `configmaps "${this.name}" not found`, { name: this.name, kind: 'configmaps' });
  }

  private versionConflict(): ServerReply {
    const message = `Operation cannot be fulfilled on configmaps "${this.name}": the object has been modified; please apply your changes to the latest version and try again`;
    return status(409, 'Conflict', message, { name: this.name, kind: 'configmaps' });
  }

  private uidConflict(sent: string, stored: string): ServerReply {
    const why = `StorageError: invalid object, Code: 4, Key: /registry/configmaps/lab/${this.name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${sent}, UID in object meta: ${stored}`;
    return status(409, 'Conflict', `Operation cannot be fulfilled on configmaps "${this.name}": ${why}`, {
      name: this.name,
      kind: 'configmaps',
    });
  }

  private immutableUid(sent: string): ServerReply {
    const message = `Invalid value: "${sent}": field is immutable`;
    return status(422, 'Invalid', `ConfigMap "${this.name}" is invalid: metadata.uid: ${message}`, {
      name: this.name,
      kind: 'ConfigMap',
      causes: [{ reason: 'FieldValueInvalid', message, field: 'metadata.uid' }],
    });
  }
}

/** A reply with a JSON body. */
export function reply(code: number, body: JsonObject): ServerReply {
  return { status: code, headers: { 'content-type': 'application/json' }, body: stringifyJson(body) };
}

/** A reply with a Status object. */
export function status(code: number, reason: string, message: string, details: JsonObject | undefined): ServerReply {
  const body: JsonObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  return reply(code, details === undefined ? body : { ...body, details });
}

function managerOf(request: ServerRequest): string {
  return request.query?.['fieldManager'] ?? 'unknown';
}

/** One empty entry stands for none. */
function hasManager(entry: Json): boolean {
  return isJsonObject(entry) && typeof entry['manager'] === 'string';
}

function metaOf(object: JsonObject): JsonObject {
  const metadata = object['metadata'];
  return isJsonObject(metadata) ? metadata : {};
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function uidOf(object: JsonObject): string {
  return text(metaOf(object)['uid']);
}

function tokenOf(object: JsonObject): string {
  return text(metaOf(object)['resourceVersion']);
}

function withMeta(object: JsonObject, more: JsonObject): JsonObject {
  return { ...object, metadata: { ...metaOf(object), ...more } };
}

function content(object: JsonObject): JsonObject {
  return withMeta(object, { managedFields: null, resourceVersion: null });
}

/** What a JSON merge patch (RFC 7396) makes of a value. */
export function mergePatch(target: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const result: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key] ?? null, value);
  }
  return result;
}

/** A JSON Patch of maps; undefined where an operation fails. */
export function jsonPatch(target: JsonObject, operations: readonly JsonObject[]): JsonObject | undefined {
  const result = cloneJson(target);
  for (const { op, path, value } of operations) {
    const steps = text(path)
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = steps.pop() ?? '';
    let parent: Json | undefined = result;
    for (const step of steps)
      parent = isJsonObject(parent) ? parent[step] : Array.isArray(parent) ? parent[Number(step)] : undefined;
    if (Array.isArray(parent)) {
      const at = Number(last);
      if (op === 'test' && !equalJson(parent[at], value)) return undefined;
      if (op === 'replace') parent[at] = value ?? null;
      if (op === 'add') parent.splice(at, 0, value ?? null);
      if (op === 'remove') parent.splice(at, 1);
    } else if (isJsonObject(parent)) {
      if (op === 'test' && !equalJson(parent[last], value)) return undefined;
      if (op === 'replace' || op === 'add') parent[last] = value ?? null;
      if (op === 'remove') delete parent[last];
    } else return undefined;
  }
  return result;
}
