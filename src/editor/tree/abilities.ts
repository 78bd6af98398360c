import type { JsonObject } from '../../codec/json.ts';
import { valueAt, type Path } from '../../codec/path.ts';

/** What an object must have so that something can be done with it; menus tell rows by these words. */
export type Ability = 'volume' | 'replicas' | 'images' | 'finalizers' | 'generation';

const field = (...names: string[]): Path => names.map((name) => ({ field: name }));

/** Where kinds keep the containers that they make, in the order in which they are looked for. */
export const containerPaths: readonly Path[] = [
  field('spec', 'containers'),
  field('spec', 'template', 'spec', 'containers'),
  field('spec', 'jobTemplate', 'spec', 'template', 'spec', 'containers'),
];

/** What an object's content lets one do; all of it where the content is not known. */
export function abilitiesOf(
  { group, resource }: { readonly group: string; readonly resource: string },
  object: JsonObject | undefined,
): Ability[] {
  const has = (path: Path): boolean => object === undefined || valueAt(object, path) !== undefined;
  const finalizers = object === undefined ? undefined : valueAt(object, field('metadata', 'finalizers'));
  const conditions = object === undefined ? undefined : valueAt(object, field('status', 'conditions'));
  const found: Record<Ability, boolean> = {
    volume: group === '' && resource === 'persistentvolumes',
    replicas: has(field('spec', 'replicas')),
    images: containerPaths.some(has),
    finalizers: object === undefined || (Array.isArray(finalizers) && finalizers.length > 0),
    generation: has(field('metadata', 'generation')) || (Array.isArray(conditions) && conditions.length > 0),
  };
  return (Object.keys(found) as Ability[]).filter((ability) => found[ability]);
}
