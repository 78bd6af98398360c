import type { Path } from '../../codec/path.ts';
import { diffObjects } from '../../core/diff.ts';
import type { ListSchema } from '../../core/listSchema.ts';
import type { Intent } from '../../write/intent.ts';

/** The fields that an intent changes; what a function will change is not known beforehand. */
export function changedPaths(intent: Intent, schema: ListSchema): Path[] {
  switch (intent.kind) {
    case 'function':
      return [];
    case 'changes':
      return [...intent.set.map(([path]) => path), ...intent.remove];
    case 'edits':
      return diffObjects(intent.base, intent.desired, schema).map(({ path }) => path);
  }
}
