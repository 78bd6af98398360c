import { isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import { valueAt, type Path } from '../codec/path.ts';
import type { Intent } from './intent.ts';

/** An edit that is ready to be written. */
export interface ReadyEdit {
  readonly intent: Intent;
  /** The subresource that it goes to. */
  readonly subresource?: 'scale';
}

/** Where kinds keep the containers that they make, in the order in which they are looked for. */
const podSpecs: readonly Path[] = [
  [{ field: 'spec' }],
  [{ field: 'spec' }, { field: 'template' }, { field: 'spec' }],
  [{ field: 'spec' }, { field: 'jobTemplate' }, { field: 'spec' }, { field: 'template' }, { field: 'spec' }],
];

const containerLists = ['containers', 'initContainers', 'ephemeralContainers'] as const;

/** Sets the number of replicas, through the scale subresource where discovery offers it. */
export function scaleTo(replicas: number, subresources: readonly string[]): ReadyEdit {
  const edit = setField([{ field: 'spec' }, { field: 'replicas' }], replicas);
  return subresources.includes('scale') ? { ...edit, subresource: 'scale' } : edit;
}

/** Sets a label, or removes it where no value is given. */
export function setLabel(name: string, value?: string): ReadyEdit {
  return setOrRemove([{ field: 'metadata' }, { field: 'labels' }, { field: name }], value);
}

/** Sets an annotation, or removes it where no value is given. */
export function setAnnotation(name: string, value?: string): ReadyEdit {
  return setOrRemove([{ field: 'metadata' }, { field: 'annotations' }, { field: name }], value);
}

/** Sets the image of a container by its name; undefined where the object has no such container. */
export function setImage(object: JsonObject, container: string, image: string): ReadyEdit | undefined {
  for (const podSpec of podSpecs) {
    for (const list of containerLists) {
      const path: Path = [...podSpec, { field: list }, { key: { name: container } }];
      if (valueAt(object, path) !== undefined) return setField([...path, { field: 'image' }], image);
    }
  }
  return undefined;
}

/** Adds one finalizer and touches no other. */
export function addFinalizer(name: string): ReadyEdit {
  return setField([{ field: 'metadata' }, { field: 'finalizers' }, { value: name }], name);
}

/** Removes one finalizer and touches no other. */
export function removeFinalizer(name: string): ReadyEdit {
  return setOrRemove([{ field: 'metadata' }, { field: 'finalizers' }, { value: name }]);
}

/** Sets one field. */
export function setField(path: Path, value: Json): ReadyEdit {
  return { intent: { kind: 'changes', set: [[path, value]], remove: [] } };
}

/** Removes one field. */
export function removeField(path: Path): ReadyEdit {
  return { intent: { kind: 'changes', set: [], remove: [path] } };
}

/**
 * Frees a retained volume of a claim that is gone: removes from its `claimRef` what binds it to that incarnation, and keeps
 * namespace and name, so that a new claim of the same name can have it. Undefined where there is nothing to free.
 */
export function releaseClaim(volume: JsonObject): ReadyEdit | undefined {
  const spec = volume['spec'];
  const claim = isJsonObject(spec) ? spec['claimRef'] : undefined;
  if (!isJsonObject(claim)) return undefined;
  const bound = ['uid', 'resourceVersion'].filter((field) => Object.hasOwn(claim, field));
  const at = (field: string): Path => [{ field: 'spec' }, { field: 'claimRef' }, { field }];
  return bound.length === 0 ? undefined : { intent: { kind: 'changes', set: [], remove: bound.map(at) } };
}

function setOrRemove(path: Path, value?: string): ReadyEdit {
  return value === undefined ? removeField(path) : setField(path, value);
}
