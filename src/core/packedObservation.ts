import type { Json } from '../codec/json.ts';
import type { ObservedEvent, Token } from './traceEvent.ts';

/** What many observations of one list have in common. */
interface Shape {
  readonly at: number;
  readonly cluster: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly apiVersion: string | undefined;
  readonly kind: string | undefined;
  readonly stream: string | undefined;
}

const SEPARATOR = '\0';

/**
 * An observation of metadata in a list, in a fifth of the memory: what most objects of a large list have is the same, or
 * short. `unpack` gives the event back.
 */
export class PackedObservation {
  readonly seq: number;
  private readonly shape: Shape;
  /** Name, UID and token. */
  private readonly text: string;
  private readonly creationTimestamp: string | undefined;
  private readonly generation: number | undefined;
  private readonly labels: Record<string, string> | undefined;
  private readonly annotations: Record<string, string> | undefined;
  private readonly managedFields: Json[] | undefined;

  constructor(event: ObservedEvent, shape: Shape) {
    this.seq = event.seq;
    this.shape = shape;
    this.text = [event.name.name, event.uid, event.token].join(SEPARATOR);
    this.creationTimestamp = event.creationTimestamp;
    this.generation = event.generation;
    this.labels = event.labels;
    this.annotations = event.annotations;
    this.managedFields = event.managedFields;
  }

  /** As `nameKey` makes it. */
  get nameKey(): string {
    const { cluster, group, resource, namespace } = this.shape;
    return [cluster, group, resource, namespace, this.parts()[0]].join(SEPARATOR);
  }

  /** As `History.uids` is keyed. */
  get uidKey(): string {
    return `${this.shape.cluster}${SEPARATOR}${this.parts()[1]}`;
  }

  unpack(): ObservedEvent {
    const { at, cluster, group, resource, namespace, apiVersion, kind, stream } = this.shape;
    const [name, uid, token] = this.parts();
    const { creationTimestamp, generation, labels, annotations, managedFields } = this;
    const event: ObservedEvent = {
      type: 'observed',
      at,
      via: 'list',
      cluster,
      name: { group, resource, namespace, name },
      uid,
      token,
      seq: this.seq,
    };
    if (apiVersion !== undefined) event.apiVersion = apiVersion;
    if (kind !== undefined) event.kind = kind;
    if (stream !== undefined) event.stream = stream;
    if (generation !== undefined) event.generation = generation;
    if (creationTimestamp !== undefined) event.creationTimestamp = creationTimestamp;
    if (managedFields !== undefined) event.managedFields = managedFields;
    if (labels !== undefined) event.labels = labels;
    if (annotations !== undefined) event.annotations = annotations;
    return event;
  }

  private parts(): [string, string, Token] {
    const [name = '', uid = '', token = ''] = this.text.split(SEPARATOR);
    return [name, uid, token];
  }
}

/** All that a packed observation can hold; an event with anything else stays as it is. */
const PACKED = new Set([
  'type',
  'at',
  'via',
  'cluster',
  'name',
  'uid',
  'token',
  'seq',
  'apiVersion',
  'kind',
  'stream',
  'generation',
  'creationTimestamp',
  'managedFields',
  'labels',
  'annotations',
]);

/** Packs observations; those that come one after another share what they have in common. */
export class Packer {
  private shape: Shape | undefined;

  /** Undefined for an event that holds what cannot be packed, such as a body. */
  pack(event: ObservedEvent): PackedObservation | undefined {
    if (event.via !== 'list') return undefined;
    for (const member in event) if (!PACKED.has(member)) return undefined;
    if (event.name.name.includes(SEPARATOR) || event.uid.includes(SEPARATOR) || event.token.includes(SEPARATOR))
      return undefined;
    return new PackedObservation(event, this.shapeOf(event));
  }

  private shapeOf(event: ObservedEvent): Shape {
    const { at, cluster, name, apiVersion, kind, stream } = event;
    const { group, resource, namespace } = name;
    const known = this.shape;
    if (
      known !== undefined &&
      known.at === at &&
      known.cluster === cluster &&
      known.group === group &&
      known.resource === resource &&
      known.namespace === namespace &&
      known.apiVersion === apiVersion &&
      known.kind === kind &&
      known.stream === stream
    )
      return known;
    this.shape = { at, cluster, group, resource, namespace, apiVersion, kind, stream };
    return this.shape;
  }
}
