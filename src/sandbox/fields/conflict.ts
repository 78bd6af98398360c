import { failure, type StatusError } from '../status.ts';
import { goQuote } from '../goText.ts';
import { printElement, type Element } from './element.ts';
import type { FieldSet } from './fieldSet.ts';
import type { ManagedFields, ManagerId } from './managedFields.ts';

/** One field that an apply would take from its owner. */
export interface FieldConflict {
  readonly managerKey: string;
  readonly owner: ManagerId;
  readonly path: readonly Element[];
}

/** The conflicting fields of an apply, by owner in the order of the owners' identities. */
export function listConflicts(entries: ManagedFields, conflicts: ReadonlyMap<string, FieldSet>): FieldConflict[] {
  return [...conflicts.keys()].sort().flatMap((managerKey) => {
    const owner = entries.get(managerKey)?.id;
    return owner === undefined
      ? []
      : [...(conflicts.get(managerKey)?.paths() ?? [])].map((path) => ({ managerKey, owner, path }));
  });
}

/** The 409 that names every conflicting field and its owner; `seenAs` stands for the versions of updaters if given. */
export function conflictError(found: readonly FieldConflict[], seenAs?: string): StatusError {
  const conflicts = found.map((conflict) =>
    seenAs === undefined ? conflict : { ...conflict, owner: { ...conflict.owner, apiVersion: seenAs } },
  );
  const causes = conflicts.map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${ownerText(owner)}`,
    field: pathText(path),
  }));
  return failure(409, 'Conflict', message(conflicts), { causes });
}

function message(conflicts: readonly FieldConflict[]): string {
  const [only] = conflicts;
  if (conflicts.length === 1 && only !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${ownerText(only.owner)}: ${pathText(only.path)}`;
  }
  const lines = conflicts.flatMap((conflict, index) => {
    const line = `- ${pathText(conflict.path)}`;
    const isFirstOfOwner = conflicts[index - 1]?.managerKey !== conflict.managerKey;
    return isFirstOfOwner ? [`conflicts with ${ownerText(conflict.owner)}:`, line] : [line];
  });
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

/** `"m"`, `"m" with subresource "scale"`, and for updaters `"m" using v1`. */
function ownerText(owner: ManagerId): string {
  const subresource = owner.subresource === '' ? '' : ` with subresource ${goQuote(owner.subresource)}`;
  const version = owner.operation === 'Update' ? ` using ${owner.apiVersion}` : '';
  return `${goQuote(owner.manager)}${subresource}${version}`;
}

/** A path as conflicts and typing errors show it. */
export function pathText(path: readonly Element[]): string {
  return path.map(printElement).join('');
}
