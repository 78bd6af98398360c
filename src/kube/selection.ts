import type { ServerRequest } from '../base/server.ts';
import { PROTOBUF_TYPE } from '../codec/proto.ts';
import type { ApiResource } from './discoveryAnswers.ts';
import { pathOf } from './discovery.ts';

/** Which objects are read. No namespace: all of them. */
export interface Selection {
  readonly resource: ApiResource;
  readonly namespace?: string;
  readonly name?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Whether whole objects are asked for, or their metadata only. */
export type Bodies = 'whole' | 'metadata';

const IDENTITY_TERM = /^metadata\.(name|namespace)==?[^=!]+$/;
/**
 * Lists of metadata, which may be long, come in protobuf where the server has it, half the work for it. Source: Kubernetes
 * API concepts, "Receiving resources as Tables" and "Alternate representations of resources".
 */
const METADATA = {
  list: `${PROTOBUF_TYPE};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json`,
  watch: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json',
} as const;

/** The request of a list or watch without the parameters that are its own. Source: Kubernetes API concepts. */
export function selectionRequest(
  selection: Selection,
  bodies: Bodies,
  form: 'list' | 'watch',
): Omit<ServerRequest, 'method'> {
  const terms = [
    ...(selection.name === undefined ? [] : [`metadata.name=${selection.name}`]),
    ...(selection.fieldSelector === undefined || selection.fieldSelector === '' ? [] : [selection.fieldSelector]),
  ];
  const labels = selection.labelSelector;
  return {
    path: pathOf(selection.resource, selection.namespace),
    query: {
      ...(labels === undefined || labels === '' ? {} : { labelSelector: labels }),
      ...(terms.length === 0 ? {} : { fieldSelector: terms.join(',') }),
    },
    headers: {
      accept: bodies === 'whole' ? 'application/json' : METADATA[form],
    },
  };
}

/**
 * Whether objects can leave the selection without being deleted: a watch then says DELETED of objects that live on. Names
 * and namespaces do not change, labels and other fields do.
 */
export function canBeLeft(selection: Selection): boolean {
  if (selection.labelSelector !== undefined && selection.labelSelector !== '') return true;
  const terms = (selection.fieldSelector ?? '').split(',').filter((term) => term !== '');
  return !terms.every((term) => IDENTITY_TERM.test(term.trim()));
}
