import type { Disposable } from '../../base/disposable.ts';
import { Emitter, type Event } from '../../base/emitter.ts';
import { nameKey, type History, type Incarnation } from '../../core/history.ts';
import type { NewTraceEvent, NoteEvent, ObjectName, TraceEvent } from '../../core/traceEvent.ts';
import {
  associationNote,
  associationsFrom,
  decide,
  declare,
  stateOf,
  type Association,
  type AssociationRule,
  type AssociationState,
  type Holder,
} from '../../core/associations.ts';

/** What keeps associations over reloads. */
interface AssociationStore {
  load(): unknown;
  save(associations: readonly Association[]): Promise<void>;
}

/** What associations need of the rest. */
interface AssociationsParts {
  readonly store: AssociationStore;
  history(): History;
  /** Rules of the settings by which associations are found in objects. */
  rules(): readonly AssociationRule[];
  /** Tells the log, from which the findings about associations follow. */
  note(events: readonly NewTraceEvent[]): void;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

/** An association and what is known of the object that it belongs to. */
export interface KnownAssociation {
  readonly association: Association;
  readonly state: AssociationState;
}

/**
 * Things outside the cluster that a person, or a rule of the settings, declared to belong to an object. Each is bound to a
 * UID; after a recreation it is stale until the person says clean up or adopt. Each is told to the log as a note, so that a
 * trace of it gives the same findings as this window.
 */
export class Associations implements Disposable {
  private readonly parts: AssociationsParts;
  private readonly changed: Emitter<void>;
  private all: readonly Association[];

  constructor(parts: AssociationsParts) {
    this.parts = parts;
    this.changed = new Emitter(parts.onError);
    const kept = parts.store.load();
    this.all = Array.isArray(kept) ? (kept as unknown[]).filter(isAssociation) : [];
  }

  /** Fires when one is declared or decided about. */
  get onDidChange(): Event<void> {
    return this.changed.event;
  }

  /** Those that stand at a name, whichever incarnation they belong to. */
  atName(cluster: string, name: ObjectName): readonly KnownAssociation[] {
    const key = nameKey(cluster, name);
    return this.withState(this.all.filter((one) => nameKey(one.cluster, one.name) === key));
  }

  /** All of them. */
  known(): readonly KnownAssociation[] {
    return this.withState(this.all);
  }

  /** Declares that something belongs to an incarnation; what is declared already stays as it was. */
  async declare({ cluster, name, uid }: Incarnation, what: string, id: string): Promise<void> {
    await this.set(declare(this.all, [{ cluster, name, uid, what, id, declaredAt: this.parts.now() }]));
  }

  /** The thing was cleaned up out there: it belongs to nothing any more. */
  async cleanUp(association: Association): Promise<void> {
    await this.set(decide(this.all, association, { kind: 'clean-up' }));
  }

  /** The thing belongs to the incarnation with this UID from now on. */
  async adopt(association: Association, uid: string): Promise<void> {
    await this.set(decide(this.all, association, { kind: 'adopt', uid, at: this.parts.now() }));
  }

  /** Looks in new events for what the rules of the settings find. */
  take(events: readonly TraceEvent[]): void {
    const rules = this.parts.rules();
    if (rules.length === 0) return;
    const found = events.flatMap((event) =>
      event.type === 'observed' && event.body !== undefined
        ? associationsFrom(rules, event.cluster, event.name, event.body, event.at)
        : [],
    );
    const next = found.length === 0 ? this.all : declare(this.all, found);
    if (next.length !== this.all.length) this.set(next).catch(this.parts.onError);
  }

  /** Tells a log that begins of all that are declared, but for those that it knows from an earlier window. */
  tell(notes: readonly NoteEvent[]): void {
    if (this.all.length === 0) return;
    const known = new Map<string, string>();
    for (const { cluster, association } of notes) {
      if (association === undefined) continue;
      const { what, id, uid, ended } = association;
      known.set(JSON.stringify([cluster, what, id]), ended === true ? '' : uid);
    }
    const at = this.parts.now();
    const unknown = this.all.filter(
      ({ cluster, what, id, uid }) => known.get(JSON.stringify([cluster, what, id])) !== uid,
    );
    this.parts.note(unknown.map((association) => associationNote(association, false, at)));
  }

  private withState(some: readonly Association[]): KnownAssociation[] {
    const history = this.parts.history();
    return some.map((association) => {
      const holder = holderOf(history, nameKey(association.cluster, association.name));
      return { association, state: stateOf(association, holder) };
    });
  }

  dispose(): void {
    this.changed.dispose();
  }

  private async set(next: readonly Association[]): Promise<void> {
    const before = this.all;
    this.all = next;
    this.changed.fire();
    await this.parts.store.save(next);
    const at = this.parts.now();
    const notes = [
      ...before
        .filter((one) => !next.some((other) => isOneThing(one, other)))
        .map((one) => associationNote(one, true, at)),
      ...next.filter((one) => !before.includes(one)).map((one) => associationNote(one, false, at)),
    ];
    this.parts.note(notes);
  }
}

/** Whether two are about the same thing out there, whichever incarnation it belongs to. */
function isOneThing(one: Association, other: Association): boolean {
  return one.cluster === other.cluster && one.what === other.what && one.id === other.id;
}

/** Who holds a name, as far as it was observed: a UID, nobody (null), or nothing is known (undefined). */
function holderOf(history: History, key: string): Holder {
  const last = history.names.get(key)?.incarnations.at(-1);
  if (last === undefined) return undefined;
  return last.end === undefined ? last.uid : null;
}

function isAssociation(value: unknown): value is Association {
  if (typeof value !== 'object' || value === null) return false;
  const { cluster, name, uid, what, id, declaredAt } = value as Partial<Record<keyof Association, unknown>>;
  const strings = [cluster, uid, what, id];
  if (!strings.every((text) => typeof text === 'string') || typeof declaredAt !== 'number') return false;
  if (typeof name !== 'object' || name === null) return false;
  const { group, resource, namespace, name: own } = name as Partial<Record<keyof ObjectName, unknown>>;
  return [group, resource, namespace, own].every((text) => typeof text === 'string');
}
