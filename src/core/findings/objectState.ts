import type { Json, JsonObject } from '../../codec/json.ts';
import type { ObjectName, ObservedEvent, Token, WriteEvent } from '../traceEvent.ts';
import type { Content, Leaves } from './leaves.ts';

/** Who made a version, and by which write. */
export interface Author extends Pick<WriteEvent, 'actor' | 'seq' | 'at' | 'verb'> {
  readonly subresource: string | undefined;
}

/** One version of one incarnation, as the rules remember it. */
export interface VersionRecord {
  readonly token: Token;
  at: number;
  seq: number;
  /** Whether a stream (or the chain of a checked write) tells its place. */
  placed: boolean;
  judged: boolean;
  /** When it is judged at the latest, in milliseconds since the epoch. */
  due: number | undefined;
  leaves: Leaves | undefined;
  /** The content that `leaves` are of, until the version after it is judged; its owners are apart. */
  body: JsonObject | undefined;
  /** Whether `leaves` were put together from a request, as no answer showed the object. */
  derived: boolean;
  managedFields: readonly Json[] | undefined;
  /** Its owners' stamp. */
  owners: string | undefined;
  /** The owners that the replacement which made it carried, until it is judged. */
  sentOwners: readonly Json[] | undefined;
  generation: number | undefined;
  observedGeneration: number | undefined;
  apiVersion: string | undefined;
  terminating: boolean;
  /** Who made it, where a write says so; `write` is kept until the version is judged. */
  author: Author | undefined;
  write: WriteEvent | undefined;
  /** The field manager that made it, where managedFields tell. */
  manager: string | undefined;
}

/** A content with its owners. */
export interface LastBody extends Content {
  readonly managedFields: readonly Json[] | undefined;
  /** Whether another object's UID may be in it. */
  readonly mentionsUids: boolean;
}

/** One incarnation with the versions that are remembered, in their order. */
export class ObjectState {
  readonly cluster: string;
  readonly name: ObjectName;
  readonly uid: string;
  /** Whether findings about it are asked for; else it is only looked at for the sake of others. */
  readonly isAsked: boolean;
  kind: string | undefined;
  readonly versions: VersionRecord[] = [];
  readonly firstAt: number;
  readonly firstSeq: number;
  creationTimestamp: string | undefined;
  owners: readonly { uid: string; name: string; kind: string }[] = [];
  labels: Readonly<Record<string, string>> = {};
  election: boolean;
  streamed = false;
  /** The API version in which its contents are compared; in another one the same content reads otherwise. */
  form: string | undefined;
  gone: { at: number; seq: number } | undefined;
  /** Whether versions were forgotten: the window no longer begins where the object did. */
  truncated = false;
  /** The content that was seen last, against which the next one is compared. */
  lastBody: LastBody | undefined;
  /** Whether what was looked through last may hold another object's UID. */
  mentionsUids = true;
  /** References that its newest version holds, as the reference rule keys them. */
  readonly references = new Set<string>();
  private readonly cursors = new Map<string, Token>();

  constructor(cluster: string, name: ObjectName, uid: string, at: number, seq: number, isAsked = true) {
    this.isAsked = isAsked;
    this.cluster = cluster;
    this.name = name;
    this.uid = uid;
    this.firstAt = at;
    this.firstSeq = seq;
    this.election = name.resource === 'leases';
  }

  /** What a sight says of it besides its content. */
  describe(event: ObservedEvent): void {
    if (event.kind !== undefined) this.kind = event.kind;
    if (event.creationTimestamp !== undefined) this.creationTimestamp = event.creationTimestamp;
    if (event.labels !== undefined) this.labels = event.labels;
    if (event.ownerReferences !== undefined) this.owners = ownersOf(event.ownerReferences);
    if (event.annotations?.['control-plane.alpha.kubernetes.io/leader'] !== undefined) this.election = true;
  }

  version(token: Token): VersionRecord | undefined {
    return this.versions[this.indexOf(token)];
  }

  indexOf(token: Token): number {
    let index = this.versions.length - 1;
    while (index >= 0 && this.versions[index]?.token !== token) index -= 1;
    return index;
  }

  get latest(): VersionRecord | undefined {
    return this.versions.at(-1);
  }

  /** Adds a version that no order places: at the end, where it was met. */
  append(token: Token, at: number, seq: number): VersionRecord {
    const version = newVersion(token, at, seq);
    this.versions.push(version);
    return version;
  }

  /** The version that a stream delivered now: right after the one that the same stream delivered before. */
  deliver(stream: string, token: Token, at: number, seq: number): VersionRecord {
    const cursor = this.cursors.get(stream);
    this.cursors.set(stream, token);
    this.streamed = true;
    const known = this.version(token);
    if (known?.placed === true) return known;
    const after = cursor === undefined ? -1 : this.indexOf(cursor);
    if (after < 0) return this.deliverFirst(known, token, at, seq);
    const version = known ?? newVersion(token, at, seq);
    if (known !== undefined) this.versions.splice(this.versions.indexOf(known), 1);
    this.versions.splice(Math.max(Math.min(after, this.versions.length - 1) + 1, this.judgedCount()), 0, version);
    version.placed = true;
    return version;
  }

  /** The version that a checked write made: right after the one whose token it carried. */
  chain(from: Token, token: Token, at: number, seq: number): VersionRecord {
    const known = this.version(token);
    if (known !== undefined) return known;
    const index = this.indexOf(from);
    const version = newVersion(token, at, seq);
    this.versions.splice(index < 0 ? this.versions.length : Math.max(index + 1, this.judgedCount()), 0, version);
    return version;
  }

  /** A stream begins: it says nothing of what came before, only that this is there now. */
  private deliverFirst(known: VersionRecord | undefined, token: Token, at: number, seq: number): VersionRecord {
    const version = known ?? newVersion(token, at, seq);
    version.placed = true;
    if (known !== undefined) return version;
    const next = this.versions.findIndex((other) => !other.judged && other.write?.preconditions?.token === token);
    this.versions.splice(next < 0 ? this.versions.length : next, 0, version);
    return version;
  }

  /** How many versions are judged: the first ones. */
  judgedCount(): number {
    return this.versions.findLastIndex((version) => version.judged) + 1;
  }

  /** Forgets the oldest versions beyond the bound; those not yet judged stay. */
  trim(max: number): void {
    while (this.versions.length > max && this.versions[0]?.judged === true) {
      this.versions.shift();
      this.truncated = true;
    }
  }
}

function ownersOf(references: readonly unknown[]): { uid: string; name: string; kind: string }[] {
  return references.flatMap((item) => {
    const owner = item as { uid?: unknown; name?: unknown; kind?: unknown };
    return typeof owner.uid === 'string' && typeof owner.name === 'string'
      ? [{ uid: owner.uid, name: owner.name, kind: typeof owner.kind === 'string' ? owner.kind : '' }]
      : [];
  });
}

function newVersion(token: Token, at: number, seq: number): VersionRecord {
  return {
    token,
    at,
    seq,
    placed: false,
    judged: false,
    due: undefined,
    leaves: undefined,
    body: undefined,
    derived: false,
    managedFields: undefined,
    owners: undefined,
    sentOwners: undefined,
    generation: undefined,
    observedGeneration: undefined,
    apiVersion: undefined,
    terminating: false,
    author: undefined,
    write: undefined,
    manager: undefined,
  };
}
