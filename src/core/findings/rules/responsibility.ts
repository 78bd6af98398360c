import { inGroup } from '../../inGroup.ts';
import { message } from '../../../base/message.ts';
import { formatPath, parsePath } from '../../../codec/path.ts';
import { ownersAt, ownersOf, type FieldOwner } from '../../ownership.ts';
import { matchesPattern } from '../../pattern.ts';
import { breachesAt, type Breach } from '../../responsibility.ts';
import { actorName } from '../knowledge.ts';
import type { Rule, VersionChange } from '../rule.ts';
import { findingObject, type World } from '../world.ts';

/**
 * `responsibility-breach`: an actor changed a field for which a person declared another one responsible. Who changed it is
 * known from the write, or where exactly one field manager can have made the version; otherwise nothing is said.
 */
export class ResponsibilityRule implements Rule {
  judged(change: VersionChange, world: World): void {
    const { responsibilities } = world.thresholds;
    const { object, version, previous, changed, write } = change;
    const manager = write?.actor.manager ?? version.manager;
    if (responsibilities.length === 0 || changed === undefined || previous === undefined) return;
    if (manager === undefined || object.kind === undefined) return;
    const kind = inGroup(object.kind, object.name.group);
    let owners: FieldOwner[] | undefined;
    const breaches = new Map<Breach['responsibility'], Breach[]>();
    for (const text of changed) {
      const parsed = parsePath(text);
      if ('problem' in parsed) continue;
      const isOwned = (responsible: string): boolean => {
        owners ??= ownersOf(previous.managedFields);
        return ownersAt(owners, parsed.path).some((owner) => matchesPattern(responsible, owner.manager));
      };
      for (const breach of breachesAt(responsibilities, kind, parsed.path, manager, isOwned))
        breaches.set(breach.responsibility, [...(breaches.get(breach.responsibility) ?? []), breach]);
    }
    for (const [rule, own] of breaches) report(rule, own, manager, change, world);
  }
}

function report(
  rule: Breach['responsibility'],
  breaches: readonly Breach[],
  manager: string,
  { object, version, write }: VersionChange,
  world: World,
): void {
  const who = version.author === undefined ? manager : actorName(version.author.actor);
  const fields = breaches.map(({ path }) => formatPath(path));
  world.report({
    key: ['responsibility-breach', object.cluster, rule.path, rule.manager, who].join('\0'),
    id: 'responsibility-breach',
    cluster: object.cluster,
    object: findingObject(object),
    actors: [who],
    fields,
    at: version.author?.at ?? version.at,
    events: [...new Set([...(write === undefined ? [] : [write.seq]), version.seq])],
    explanation: message`${who} changed ${fields.slice(0, 8).join(', ')} of ${object.name.name}, for which ${rule.manager} is declared responsible: ${rule.reason}`,
    remedy: message`Leave the field out of what this actor writes (with server-side apply: give it up), or declare somebody else responsible for it.`,
    ...(version.author === undefined ? { sureness: 'likely' } : {}),
    details: { manager, responsible: rule.manager, declared: rule.path },
  });
}
