import { equalJson, isJsonObject, type Json, type JsonObject } from '../../codec/json.ts';
import { contentAfter, contentOf } from './leaves.ts';
import type { ObservedEvent, WriteEvent } from '../traceEvent.ts';
import type { LastBody, ObjectState, VersionRecord } from './objectState.ts';

/**
 * The content seen last of each of the objects that were seen last. The next one of an object is compared with it, and shares
 * what is the same, so that a version costs what it changed. Bounded by what the contents hold: the object that was seen
 * longest ago loses its content, and is as one whose content was never seen.
 */
export class Contents {
  /** How many values each holds. */
  private readonly held = new Map<ObjectState, number>();
  private readonly max: number;
  private total = 0;

  constructor(maxValues: number) {
    this.max = maxValues;
  }

  /**
   * Whether a sight shows the object in the API version in which its contents are compared: that of its first stream or, as
   * long as there is none, of its first sight. Contents that were taken in another one before are dropped.
   */
  suits(object: ObjectState, { apiVersion, stream }: ObservedEvent): boolean {
    if (apiVersion === undefined || apiVersion === object.form) return true;
    const isFirst = object.form === undefined || (stream !== undefined && !object.streamed);
    if (!isFirst) return false;
    if (object.form !== undefined) this.drop(object, object.versions);
    object.form = apiVersion;
    return true;
  }

  /** The content of a body that an object was seen with. Its owners are no content; they are kept beside it. */
  take(object: ObjectState, body: JsonObject): LastBody {
    const { content, managedFields } = splitOwners(body);
    const known = object.lastBody;
    const next = known === undefined ? contentOf(content) : contentAfter(known, content);
    const { body: shared, leaves } = next;
    const owners = sharedItems(known?.managedFields, managedFields);
    const taken: LastBody = { body: shared, leaves, managedFields: owners, mentionsUids: object.mentionsUids };
    object.lastBody = taken;
    const values = known === undefined ? valuesIn(body) : (this.held.get(object) ?? 0);
    this.forget(object);
    this.held.set(object, values);
    this.total += values;
    while (this.total > this.max && this.held.size > 1) this.dropOldest();
    return taken;
  }

  /**
   * The same write, without the owners, whose body shares with the content seen last what is the same. Only a replacement is
   * mostly the same; a patch is as small as it can be.
   */
  sharing(object: ObjectState, write: WriteEvent): WriteEvent {
    const { lastBody } = object;
    const { body } = write;
    if (lastBody === undefined || write.verb !== 'replace' || !isJsonObject(body)) return write;
    return { ...write, body: contentAfter(lastBody, splitOwners(body).content).body };
  }

  /** Nothing of an object is held any more. */
  forget(object: ObjectState): void {
    this.total -= this.held.get(object) ?? 0;
    this.held.delete(object);
  }

  private dropOldest(): void {
    const [oldest] = this.held.keys();
    if (oldest === undefined) return;
    this.drop(
      oldest,
      oldest.versions.filter((version) => version.judged),
    );
  }

  private drop(object: ObjectState, versions: readonly VersionRecord[]): void {
    this.forget(object);
    object.lastBody = undefined;
    for (const version of versions)
      Object.assign(version, { leaves: undefined, body: undefined, managedFields: undefined });
  }
}

/** A body's content, and its owners apart from it. */
export function splitOwners(body: JsonObject): { content: JsonObject; managedFields: readonly Json[] | undefined } {
  const { metadata } = body;
  if (!isJsonObject(metadata) || !Array.isArray(metadata['managedFields']))
    return { content: body, managedFields: undefined };
  const { managedFields, ...rest } = metadata;
  return { content: { ...body, metadata: rest }, managedFields };
}

function sharedItems(
  before: readonly Json[] | undefined,
  now: readonly Json[] | undefined,
): readonly Json[] | undefined {
  if (before === undefined || now === undefined) return now;
  return now.map((item) => before.find((old) => equalJson(old, item)) ?? item);
}

/** How many values a value is made of, itself included. */
function valuesIn(value: Json): number {
  let count = 1;
  if (Array.isArray(value)) for (const item of value) count += valuesIn(item);
  else if (isJsonObject(value)) for (const name in value) count += valuesIn(value[name] ?? null);
  return count;
}
