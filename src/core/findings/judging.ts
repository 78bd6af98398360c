import { isJsonObject } from '../../codec/json.ts';
import { unambiguousManager } from '../managerChange.ts';
import { derivedContent } from './derive.ts';
import { changedPaths } from './leaves.ts';
import type { ObjectState, VersionRecord } from './objectState.ts';
import type { Timed, VersionChange } from './rule.ts';
import { ownersStamp } from './stamp.ts';

/** How long a version waits for a stream to place it, and for the answer that names its author. */
const GRACE_MS = 2_000;
const MIN_COMPACTION = 1_024;

/**
 * Judges versions in their order, as far as they are settled: placed with their author, or waited for long enough. All wait
 * equally long from the newest time in the log when they came, so those that wait stand in the order in which they are due,
 * and no object holds up another one.
 */
export class Judging implements Timed {
  private readonly onJudged: (change: VersionChange) => void;
  private readonly waiting: { readonly due: number; readonly object: ObjectState }[] = [];
  private first = 0;

  constructor(onJudged: (change: VersionChange) => void) {
    this.onJudged = onJudged;
  }

  /** An object was seen or written: its new version waits from `now` on, and those that are settled now are judged. */
  take(object: ObjectState, version: VersionRecord, now: number): void {
    if (version.judged) return;
    if (version.due === undefined) {
      version.due = now + GRACE_MS;
      this.waiting.push({ due: version.due, object });
    }
    this.judge(object, Number.NEGATIVE_INFINITY);
  }

  /** When the version that waits longest has waited long enough; undefined where none waits. */
  due(): number | undefined {
    return this.waiting[this.first]?.due;
  }

  time(now: number): void {
    for (let item = this.waiting[this.first]; item !== undefined && item.due <= now; item = this.waiting[this.first]) {
      this.first += 1;
      this.judge(item.object, item.due);
    }
    if (this.first < MIN_COMPACTION || 2 * this.first < this.waiting.length) return;
    this.waiting.splice(0, this.first);
    this.first = 0;
  }

  /** Nothing more comes: everything that waits is judged. */
  end(): void {
    for (const { object } of this.waiting.slice(this.first)) this.finish(object);
    this.waiting.length = 0;
    this.first = 0;
  }

  /** Nothing more comes about this object. */
  finish(object: ObjectState): void {
    this.judge(object, Number.POSITIVE_INFINITY);
  }

  private judge(object: ObjectState, now: number): void {
    const { versions } = object;
    for (let index = object.judgedCount(); index < versions.length; index += 1) {
      const version = versions[index];
      if (version === undefined) continue;
      const isSettled = version.placed && version.author !== undefined;
      if (!isSettled && (version.due === undefined || version.due > now)) return;
      version.judged = true;
      const previous = versions[index - 1];
      if (version.leaves === undefined && version.write !== undefined && isInForm(object, version)) {
        Object.assign(version, derivedContent(version.write, previous));
        version.derived = version.leaves !== undefined;
      }
      if (object.isAsked) this.judgeOne(object, index, version, previous);
      // Of others only a version tells something that no write explains.
      else if (version.author === undefined)
        this.onJudged({ object, index, version, previous, changed: undefined, write: version.write });
      version.write = undefined;
      version.sentOwners = undefined;
      // Both are compared with the version just before only, and owners are the largest part of many objects.
      if (previous !== undefined) {
        previous.managedFields = undefined;
        previous.body = undefined;
      }
    }
  }

  private judgeOne(
    object: ObjectState,
    index: number,
    version: VersionRecord,
    previous: VersionRecord | undefined,
  ): void {
    version.owners = ownersStamp(version.managedFields);
    if (previous !== undefined) version.manager = unambiguousManager(previous.managedFields, version.managedFields);
    const changed =
      previous?.leaves === undefined || version.leaves === undefined
        ? undefined
        : changedPaths(previous.leaves, version.leaves);
    this.onJudged({ object, index, version, previous, changed, write: version.write });
  }
}

/** Whether the write that made a version spoke of the object in the API version in which its contents are compared. */
function isInForm({ form }: ObjectState, { apiVersion, write }: VersionRecord): boolean {
  const said = isJsonObject(write?.body) ? (write.body['apiVersion'] ?? apiVersion) : apiVersion;
  return form === undefined || said === undefined || said === form;
}
