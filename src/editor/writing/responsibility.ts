import { diffObjects } from '../../core/diff.ts';
import type { ListSchema } from '../../core/listSchema.ts';
import { formatPath, parsePath, startsWith, type Path } from '../../codec/path.ts';
import type { Intent } from '../../write/intent.ts';
import type { Responsibility } from '../app/settings.ts';

/** A declared responsibility that a write goes against: the field that it changes, and who is responsible. */
export interface Trespass {
  readonly path: string;
  readonly responsibility: Responsibility;
}

/**
 * The declared responsibilities of other actors that an intent touches. A declaration for a field holds for all beneath it;
 * one with a path that cannot be read holds for nothing. What a function will change is not known beforehand.
 */
export function trespasses(
  intent: Intent,
  kind: string,
  schema: ListSchema,
  declared: readonly Responsibility[],
  ownManager: string,
): Trespass[] {
  const others = declared.filter(
    (item) => item.kind.toLowerCase() === kind.toLowerCase() && item.manager !== ownManager,
  );
  if (others.length === 0) return [];
  const changed = changedPaths(intent, schema);
  return others.flatMap((responsibility) => {
    const parsed = parsePath(responsibility.path);
    if ('problem' in parsed || parsed.path.length === 0) return [];
    const hit = changed.find((path) => startsWith(path, parsed.path) || startsWith(parsed.path, path));
    return hit === undefined ? [] : [{ path: formatPath(hit), responsibility }];
  });
}

function changedPaths(intent: Intent, schema: ListSchema): Path[] {
  switch (intent.kind) {
    case 'function':
      return [];
    case 'changes':
      return [...intent.set.map(([path]) => path), ...intent.remove];
    case 'edits':
      return diffObjects(intent.base, intent.desired, schema).map(({ path }) => path);
  }
}
