import type { WriteEvent } from '../../traceEvent.ts';
import { isForeign, isReplacedBy, latestChange } from '../given.ts';
import { actorKey, actorName, writerKey } from '../knowledge.ts';
import { leavesOf, mapOf, outermost, type Leaves } from '../leaves.ts';
import type { VersionChange } from '../rule.ts';
import { findingObject, type World } from '../world.ts';
import { isJsonObject } from '../../../codec/json.ts';
import { explainLoss, lossRemedy } from './lostUpdateKinds.ts';

/**
 * The `dropped-fields` kind of `lost-update`: a whole object came back, based on the current version, without fields that
 * another actor had set, while something else was changed: a client whose types do not know them. Fields that this client
 * kept in the object before are known to it, and maps of any keys are no types; of an object that was built anew and only
 * given the token, the metadata of others are gone too.
 */
export class DroppedFields {
  /** Looks at an accepted write; reports only where no other kind of loss `isExplained` it. */
  judged(change: VersionChange, isExplained: boolean, world: World): void {
    const { write, changed, version, previous, object } = change;
    if (write === undefined || write.verb !== 'replace' || !isJsonObject(write.body) || object.election) return;
    if (
      isExplained ||
      changed === undefined ||
      previous?.leaves === undefined ||
      version.leaves === undefined ||
      actorKey(write.actor) === ''
    )
      return;
    const token = write.preconditions?.token;
    if (token === undefined || token !== previous.token) return;
    const part = write.subresource === 'status' ? '.status' : '.spec';
    const after = version.leaves;
    // Whoever sends back what was read sends its UID and owners too.
    const isAnew = part === '.spec' && write.preconditions?.uid === undefined && version.sentOwners === undefined;
    const removed = changed.filter(
      (path) => (path.startsWith(part) || (isAnew && isLeftOut(path, after))) && !after.has(path),
    );
    const asked = removed.length === 0 ? undefined : leavesOf(write.body);
    const gone = removed.filter((path) => asked?.has(path) !== true);
    if (gone.length === 0) return;
    const dropped = gone.filter((path) => {
      const at = latestChange(object, path, change.index - 1);
      const setter = at === undefined ? object.versions[0] : object.versions[at];
      return (
        setter !== undefined &&
        isForeign(setter, write.actor) &&
        !knows(change, write, path) &&
        (isLeftOut(path, after) ||
          (!/\[[^\]]*\]$/.test(path) && !isIncarnation(path) && stillThere(mapOf(path), after)))
      );
    });
    const meant = changed.filter((path) => !gone.includes(path));
    if (dropped.length === 0 || dropped.length !== gone.length || meant.length === 0) return;
    report(dropped, write, change, world);
  }
}

/** Whether metadata are gone, of a list all: who leaves some of its items takes the others out. */
function isLeftOut(path: string, after: Leaves): boolean {
  const part = /^\.metadata\.\w+/.exec(path)?.[0];
  return (
    part !== undefined && (['.metadata.labels', '.metadata.annotations'].includes(part) || !stillThere(part, after))
  );
}

/** Whether the same actor left the field in an object that it replaced before: then it knows it. */
function knows({ object, index }: VersionChange, write: WriteEvent, path: string): boolean {
  return object.versions
    .slice(0, index)
    .some((version) => isReplacedBy(version, write) && version.leaves?.has(path) === true);
}

/** What names an incarnation in a reference: taken out, the reference is to whatever has the name, which is a thing to do on purpose. */
function isIncarnation(path: string): boolean {
  return /\.(uid|resourceVersion)$/.test(path);
}

/** Whether what held the field is still there: a field that went with its whole item or map was removed, not dropped. */
function stillThere(parent: string, leaves: Leaves): boolean {
  const top = /^\.\w+$/.test(parent);
  return top || [...leaves.keys()].some((path) => path.startsWith(parent));
}

function report(fields: readonly string[], write: WriteEvent, change: VersionChange, world: World): void {
  const { object } = change;
  const setters = fields.flatMap((path) => {
    const at = latestChange(object, path, change.index - 1);
    return object.versions[at ?? 0] ?? [];
  });
  const others = [
    ...new Set(
      setters.map((by) => (by.author === undefined ? (by.manager ?? 'another actor') : actorName(by.author.actor))),
    ),
  ];
  world.report({
    key: ['lost-update', 'dropped-fields', writerKey(write)].join('\0'),
    id: 'lost-update',
    kind: 'dropped-fields',
    cluster: object.cluster,
    object: findingObject(object),
    actors: [actorName(write.actor), ...others],
    fields: outermost(fields),
    at: write.at,
    events: [...new Set([...setters.map((by) => by.author?.seq ?? by.seq), write.seq, change.version.seq])],
    explanation: explainLoss(
      { how: 'dropped', base: write.preconditions?.token },
      'dropped-fields',
      { ...change, write, over: change.previous },
      others,
      outermost(fields),
    ),
    remedy: lossRemedy('dropped-fields'),
    sureness: 'likely',
    details: { written: change.version.token },
  });
}
