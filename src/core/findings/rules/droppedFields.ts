import type { WriteEvent } from '../../traceEvent.ts';
import { isForeign, latestChange } from '../given.ts';
import { actorKey, actorName } from '../knowledge.ts';
import { leavesOf, outermost } from '../leaves.ts';
import type { VersionChange } from '../rule.ts';
import { actionKey, findingObject, type World } from '../world.ts';
import { isJsonObject } from '../../../codec/json.ts';
import { explainLoss, lossRemedy } from './lostUpdateKinds.ts';

const MAX_REMEMBERED = 2_000;

/**
 * The `dropped-fields` kind of `lost-update`: a whole object came back, based on the current version, without fields that
 * another actor had set, while something else was changed: a client whose types do not know them. Fields that this client
 * has sent before in any object of the resource are known to it, and maps of any keys are no types.
 */
export class DroppedFields {
  /** Per actor and resource: field paths that its bodies had, with positions and keys taken out. */
  private readonly sent = new Map<string, Set<string>>();

  /** Looks at an accepted write; reports only where no other kind of loss `isExplained` it. */
  judged(change: VersionChange, isExplained: boolean, world: World): void {
    const { write, changed, version, previous, object } = change;
    if (write === undefined || write.verb !== 'replace' || !isJsonObject(write.body) || object.election) return;
    const known = this.remember(write);
    if (isExplained || changed === undefined || previous?.leaves === undefined || version.leaves === undefined || actorKey(write.actor) === '') return;
    const token = write.preconditions?.token;
    if (token === undefined || token !== previous.token) return;
    const part = write.subresource === 'status' ? '.status' : '.spec';
    const asked = leavesOf(write.body);
    const gone = changed.filter((path) => path.startsWith(part) && !(version.leaves?.has(path) ?? false) && !asked.has(path));
    const dropped = gone.filter((path) => {
      const at = latestChange(object, path, change.index - 1);
      const setter = at === undefined ? object.versions[0] : object.versions[at];
      const parent = path.slice(0, Math.max(path.lastIndexOf('.'), path.lastIndexOf('[')));
      return setter !== undefined && isForeign(setter, write.actor) && !known.has(shape(path)) && !/\[[^\]]*\]$/.test(path) && stillThere(parent, version.leaves ?? new Map());
    });
    const meant = changed.filter((path) => !gone.includes(path));
    if (dropped.length === 0 || dropped.length !== gone.length || meant.length === 0) return;
    report(dropped, write, change, world);
  }

  private remember(write: WriteEvent): Set<string> {
    const key = [actorKey(write.actor), write.cluster, write.name.group, write.name.resource].join('\0');
    const shapes = this.sent.get(key) ?? new Set<string>();
    const before = new Set(shapes);
    if (isJsonObject(write.body)) for (const path of leavesOf(write.body).keys()) if (shapes.size < MAX_REMEMBERED) shapes.add(shape(path));
    this.sent.set(key, shapes);
    const oldest = this.sent.size > 500 ? this.sent.keys().next().value : undefined;
    if (oldest !== undefined) this.sent.delete(oldest);
    return before;
  }
}

function shape(path: string): string {
  return path.replaceAll(/\[[^\]]*\]/g, '[]');
}

/** Whether what held the field is still there: a field that went with its whole item or map was removed, not dropped. */
function stillThere(parent: string, leaves: ReadonlyMap<string, string>): boolean {
  const top = /^\.\w+$/.test(parent);
  return top || [...leaves.keys()].some((path) => path.startsWith(parent));
}

function report(fields: readonly string[], write: WriteEvent, change: VersionChange, world: World): void {
  const { object } = change;
  const setters = fields.flatMap((path) => {
    const at = latestChange(object, path, change.index - 1);
    return object.versions[at ?? 0] ?? [];
  });
  const others = [...new Set(setters.map((by) => (by.author === undefined ? (by.manager ?? 'another actor') : actorName(by.author.actor))))];
  const loss = { how: 'ignored' as const, paths: fields, previous: change.index - 1, base: write.preconditions?.token, proof: [] };
  world.report({
    key: ['lost-update', 'dropped-fields', actionKey(write), object.uid].join('\0'),
    id: 'lost-update',
    kind: 'dropped-fields',
    cluster: object.cluster,
    object: findingObject(object),
    actors: [actorName(write.actor), ...others],
    fields: outermost(fields),
    at: write.at,
    events: [...new Set([...setters.map((by) => by.author?.seq ?? by.seq), write.seq, change.version.seq])],
    explanation: explainLoss(loss, 'dropped-fields', write, others, outermost(fields)),
    remedy: lossRemedy('dropped-fields'),
    sureness: 'likely',
    details: { written: change.version.token },
  });
}
