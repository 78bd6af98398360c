import type { Json, JsonObject } from '../../src/codec/json.ts';
import { cloneJson } from '../../src/codec/json.ts';
import { observedFrom, deletedFrom } from '../../src/core/observe.ts';
import type { TimelineFinding } from '../../src/core/timeline/model.ts';
import type { NewTraceEvent, ObjectName, WriteEvent } from '../../src/core/traceEvent.ts';

/** A kind of the demo cluster. */
interface Kind {
  readonly group: string;
  readonly resource: string;
  readonly version: string;
  readonly kind: string;
}

const DEPLOYMENT: Kind = { group: 'apps', resource: 'deployments', version: 'v1', kind: 'Deployment' };
const CONFIG_MAP: Kind = { group: '', resource: 'configmaps', version: 'v1', kind: 'ConfigMap' };
const BUCKET: Kind = { group: 'example.org', resource: 'bucketclaims', version: 'v1', kind: 'BucketClaim' };
const LEASE: Kind = { group: 'coordination.k8s.io', resource: 'leases', version: 'v1', kind: 'Lease' };

export const START = Date.UTC(2026, 10, 29, 14, 0, 0);
export const CLUSTER = 'c0ffee00-0000-4000-8000-00000000beef';
const KEY = '000102030405060708090a0b0c0d0e0f';

/** One object of the demo. */
interface Thing {
  readonly kind: Kind;
  readonly name: ObjectName;
  body: JsonObject;
}

/** Plays a small cluster whose events a timeline shows; times are seconds after START. */
export class DemoWorld {
  readonly events: NewTraceEvent[] = [];
  private tokens = 1000;
  private readonly streams = new Map<string, number>();

  private push(event: NewTraceEvent): number {
    this.events.push(event);
    return this.events.length;
  }

  private token(): string {
    this.tokens += 7;
    return String(this.tokens);
  }

  private stream(kind: Kind): string {
    return `${kind.resource}-${this.streams.get(kind.resource) ?? 0}`;
  }

  private observe(
    thing: Thing,
    seconds: number,
    change: 'ADDED' | 'MODIFIED',
    via: 'watch' | 'list' = 'watch',
  ): number {
    const event = observedFrom(thing.body, {
      cluster: CLUSTER,
      via,
      at: START + seconds * 1000,
      resource: thing.kind,
      stream: this.stream(thing.kind),
      ...(via === 'watch' ? { change } : {}),
      keepBody: true,
      secretKey: KEY,
    });
    if (event === undefined) throw new Error('not an object');
    return this.push(event);
  }

  /** An object that is created, or that was there before. */
  create(
    kind: Kind,
    name: string,
    uid: string,
    seconds: number,
    parts: JsonObject,
    how: 'created' | 'listed' = 'created',
  ): { thing: Thing; event: number } {
    const metadata: JsonObject = {
      name,
      namespace: 'shop',
      uid,
      resourceVersion: this.token(),
      creationTimestamp: new Date(START + Math.floor(seconds) * 1000).toISOString().replace('.000', ''),
      ...('spec' in parts && kind !== LEASE ? { generation: 1 } : {}),
      managedFields: [],
    };
    const body: JsonObject = {
      apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
      kind: kind.kind,
      metadata,
      ...parts,
    };
    const thing = { kind, name: { group: kind.group, resource: kind.resource, namespace: 'shop', name }, body };
    return { thing, event: this.observe(thing, seconds, 'ADDED', how === 'listed' ? 'list' : 'watch') };
  }

  /** A change by a manager, seen by the watch. A change of `spec` raises the generation. */
  change(
    thing: Thing,
    seconds: number,
    manager: string,
    part: 'spec' | 'status' | 'data' | 'metadata',
    set: JsonObject,
  ): number {
    const body = cloneJson(thing.body);
    const metadata = body['metadata'] as JsonObject;
    if (part === 'metadata')
      metadata['annotations'] = { ...(metadata['annotations'] as JsonObject | undefined), ...set };
    else body[part] = { ...(body[part] as JsonObject | undefined), ...set };
    metadata['resourceVersion'] = this.token();
    if (part === 'spec' && typeof metadata['generation'] === 'number') metadata['generation'] += 1;
    const fields = Object.fromEntries(Object.keys(set).map((field): [string, Json] => [`f:${field}`, {}]));
    const inner: JsonObject =
      part === 'metadata' ? { 'f:metadata': { 'f:annotations': fields } } : { [`f:${part}`]: fields };
    const others = (metadata['managedFields'] as JsonObject[]).filter((entry) => entry['manager'] !== manager);
    metadata['managedFields'] = [
      ...others,
      {
        manager,
        operation: 'Update',
        apiVersion: body['apiVersion'] ?? 'v1',
        time: new Date(START + Math.floor(seconds) * 1000).toISOString().replace('.000', ''),
        fieldsType: 'FieldsV1',
        fieldsV1: inner,
        ...(part === 'status' ? { subresource: 'status' } : {}),
      },
    ];
    thing.body = body;
    return this.observe(thing, seconds, 'MODIFIED');
  }

  terminate(thing: Thing, seconds: number): number {
    const body = cloneJson(thing.body);
    const metadata = body['metadata'] as JsonObject;
    metadata['deletionTimestamp'] = new Date(START + Math.floor(seconds) * 1000).toISOString().replace('.000', '');
    metadata['finalizers'] = ['shop.example.org/drain'];
    metadata['resourceVersion'] = this.token();
    thing.body = body;
    return this.observe(thing, seconds, 'MODIFIED');
  }

  remove(thing: Thing, seconds: number): number {
    const body = cloneJson(thing.body);
    (body['metadata'] as JsonObject)['resourceVersion'] = this.token();
    const event = deletedFrom(body, {
      cluster: CLUSTER,
      via: 'watch',
      at: START + seconds * 1000,
      resource: thing.kind,
      stream: this.stream(thing.kind),
      keepBody: true,
      secretKey: KEY,
    });
    if (event === undefined) throw new Error('not an object');
    return this.push(event);
  }

  /** Nobody sees what happens to a kind in this time; a relist follows it. */
  gap(kind: Kind, from: number, to: number): void {
    const scope = { group: kind.group, resource: kind.resource };
    const base = {
      type: 'gap' as const,
      via: 'watch' as const,
      cluster: CLUSTER,
      gap: `gap-${kind.resource}`,
      scope,
      cause: 'expired' as const,
    };
    this.push({ ...base, at: START + from * 1000, from: START + from * 1000 });
    this.push({ ...base, at: START + to * 1000, from: START + from * 1000, to: START + to * 1000 });
    this.streams.set(kind.resource, (this.streams.get(kind.resource) ?? 0) + 1);
  }

  write(thing: Thing, seconds: number, facts: Partial<WriteEvent>): number {
    return this.push({
      type: 'write',
      at: START + seconds * 1000,
      via: 'recorder',
      cluster: CLUSTER,
      name: thing.name,
      actor: { client: 'scaler' },
      verb: 'replace',
      outcome: 'accepted',
      ...facts,
    });
  }

  note(seconds: number, text: string): void {
    this.push({ type: 'note', at: START + seconds * 1000, via: 'sandbox', cluster: CLUSTER, text });
  }
}

/** What a version was read under. */
function readOf(thing: Thing): { uid: string; token: string } {
  const metadata = thing.body['metadata'] as JsonObject;
  return { uid: metadata['uid'] as string, token: metadata['resourceVersion'] as string };
}

/** The events of the demo in order of time, and the findings about them, with the events they rest on. */
export function demo(): { events: NewTraceEvent[]; findings: TimelineFinding[] } {
  const world = new DemoWorld();
  const evidence = new Map<string, number[]>();
  const note = (name: string, ...events: number[]): void => {
    evidence.set(name, [...(evidence.get(name) ?? []), ...events]);
  };
  const flags = world.create(
    CONFIG_MAP,
    'feature-flags',
    '9a01d2e4-1f0b-4b6e-9c7a-000000000001',
    0,
    { data: { beta: 'off' } },
    'listed',
  ).thing;
  const search = world.create(
    DEPLOYMENT,
    'search',
    'b77aa010-1f0b-4b6e-9c7a-000000000002',
    0,
    { spec: { replicas: 3, template: 'v3' }, status: { observedGeneration: 1 } },
    'listed',
  ).thing;
  const leader = world.create(
    LEASE,
    'leader',
    'd00fd00f-1f0b-4b6e-9c7a-000000000003',
    0,
    { spec: { holderIdentity: 'a', renewTime: '0' } },
    'listed',
  ).thing;
  const steps: { at: number; run: () => void }[] = [];
  const at = (seconds: number, run: () => void): void => void steps.push({ at: seconds, run });
  const things: Record<string, Thing> = {};
  const thing = (name: string): Thing => {
    const found = things[name];
    if (found === undefined) throw new Error(`there is no ${name} yet`);
    return found;
  };
  for (let beat = 9; beat < 480; beat += 9.5)
    at(beat, () => world.change(leader, beat, 'leader-elector', 'spec', { renewTime: String(beat) }));
  playCheckout(world, at, things, thing);
  playSearch(world, at, search, note);
  playFlags(world, at, flags, things, thing, note);
  playBuckets(world, at, things, thing, note);
  at(240, () => world.note(240, 'kubectl edit by hand'));
  steps.sort((a, b) => a.at - b.at);
  for (const step of steps) step.run();
  return { events: world.events, findings: findingsOf(evidence) };
}

type At = (seconds: number, run: () => void) => void;
type Find = (name: string) => Thing;
type Note = (name: string, ...events: number[]) => void;

function playCheckout(world: DemoWorld, at: At, things: Record<string, Thing>, thing: Find): void {
  const status = (seconds: number, set: JsonObject): void =>
    at(seconds, () => world.change(thing('checkout'), seconds, 'deployment-controller', 'status', set));
  at(9, () => {
    things['checkout'] = world.create(DEPLOYMENT, 'checkout', '5e0c91b2-1f0b-4b6e-9c7a-000000000004', 9, {
      spec: { replicas: 1, image: 'v1' },
      status: {},
    }).thing;
  });
  status(24, { observedGeneration: 1 });
  status(39, { readyReplicas: 1 });
  at(105, () => world.change(thing('checkout'), 105, 'scaler', 'spec', { replicas: 2 }));
  status(115, { observedGeneration: 2 });
  status(130, { readyReplicas: 2 });
  let read = { uid: '', token: '' };
  at(220, () => world.change(thing('checkout'), 220, 'scaler', 'spec', { replicas: 3 }));
  at(221, () => {
    read = readOf(thing('checkout'));
  });
  status(230, { observedGeneration: 3 });
  at(240, () => world.change(thing('checkout'), 240, 'kubectl-edit', 'spec', { image: 'v2' }));
  at(249.482, () =>
    world.write(thing('checkout'), 249.482, {
      outcome: 'version-conflict',
      code: 409,
      reason: 'Conflict',
      attempt: 1,
      write: 'w1',
      paths: ['.spec.replicas'],
      preconditions: read,
      basedOn: { ...read, known: 'token' },
    }),
  );
  at(263, () => {
    const before = readOf(thing('checkout'));
    world.change(thing('checkout'), 263, 'scaler', 'spec', { replicas: 4 });
    world.write(thing('checkout'), 263.1, {
      attempt: 2,
      write: 'w1',
      paths: ['.spec.replicas'],
      preconditions: before,
      basedOn: { ...before, known: 'token' },
      result: { ...readOf(thing('checkout')), generation: 5 },
    });
  });
  status(273, { observedGeneration: 5 });
  status(287, { readyReplicas: 4 });
  at(345, () => world.change(thing('checkout'), 345, 'labeller', 'metadata', { team: 'shop' }));
  status(383, { readyReplicas: 3 });
  at(422, () => world.change(thing('checkout'), 422, 'scaler', 'spec', { replicas: 5 }));
  status(432, { observedGeneration: 6 });
}

function playSearch(world: DemoWorld, at: At, search: Thing, note: Note): void {
  at(57, () => world.change(search, 57, 'scaler', 'spec', { replicas: 4 }));
  at(67, () => world.change(search, 67, 'deployment-controller', 'status', { observedGeneration: 2 }));
  at(192, () => world.change(search, 192, 'scaler', 'spec', { replicas: 5 }));
  for (let index = 0; index < 14; index += 1) {
    const seconds = 296 + index * 7.7;
    let read = { uid: '', token: '' };
    at(seconds, () => {
      read = readOf(search);
      world.change(search, seconds + 1.5, 'metrics-labeller', 'metadata', { sample: String(index) });
      const event = world.write(search, seconds + 2, {
        outcome: 'version-conflict',
        code: 409,
        reason: 'Conflict',
        actor: { client: 'search-operator' },
        subresource: 'status',
        preconditions: read,
        basedOn: { ...read, known: 'token' },
      });
      note('loop', event);
    });
  }
  at(204, () => world.change(search, 204, 'deployment-controller', 'status', { observedGeneration: 3 }));
  at(437, () => world.change(search, 437, 'scaler', 'spec', { replicas: 6 }));
}

function playFlags(
  world: DemoWorld,
  at: At,
  flags: Thing,
  things: Record<string, Thing>,
  thing: Find,
  note: Note,
): void {
  at(14, () => world.change(flags, 14, 'kubectl-edit', 'data', { beta: 'on' }));
  at(52, () => world.change(flags, 52, 'flag-sync', 'data', { dark: 'on' }));
  at(105.5, () => world.change(flags, 105.5, 'flag-sync', 'data', { dark: 'off' }));
  at(134, () => world.terminate(flags, 134));
  at(158, () => world.gap(CONFIG_MAP, 158, 177.5));
  at(177.6, () => {
    const made = world.create(
      CONFIG_MAP,
      'feature-flags',
      'c41b7f55-1f0b-4b6e-9c7a-000000000005',
      177.6,
      { data: { beta: 'on' } },
      'listed',
    );
    things['flags2'] = made.thing;
    note('stale', made.event);
  });
  at(221, () => note('lost', world.change(thing('flags2'), 221, 'kubectl-edit', 'data', { dark: 'on' })));
  at(273.5, () =>
    note('lost', world.change(thing('flags2'), 273.5, 'flag-sync', 'data', { beta: 'off', dark: 'off' })),
  );
  at(312, () => world.change(thing('flags2'), 312, 'labeller', 'metadata', { seen: '1' }));
  at(336, () => world.remove(thing('flags2'), 336));
  at(339, () => {
    things['flags3'] = world.create(CONFIG_MAP, 'feature-flags', '08e6aa13-1f0b-4b6e-9c7a-000000000006', 339, {
      data: {},
    }).thing;
  });
  at(408, () => world.change(thing('flags3'), 408, 'labeller', 'metadata', { seen: '2' }));
}

function playBuckets(world: DemoWorld, at: At, things: Record<string, Thing>, thing: Find, note: Note): void {
  at(48, () => {
    things['invoices'] = world.create(BUCKET, 'invoices', '77d1c3a9-1f0b-4b6e-9c7a-000000000007', 48, {
      spec: { flags: '9a01d2e4-1f0b-4b6e-9c7a-000000000001' },
      status: {},
    }).thing;
  });
  at(62, () => world.change(thing('invoices'), 62, 'bucket-controller', 'status', { bound: true }));
  at(172, () =>
    note(
      'stale',
      world.change(thing('invoices'), 172, 'bucket-controller', 'status', {
        owner: '9a01d2e4-1f0b-4b6e-9c7a-000000000001',
      }),
    ),
  );
  at(287, () => world.change(thing('invoices'), 287, 'bucket-controller', 'status', { used: 4 }));
  at(96, () => {
    things['thumbnails'] = world.create(BUCKET, 'thumbnails', 'b0c4de99-1f0b-4b6e-9c7a-000000000008', 96, {
      spec: { size: '1Gi' },
      status: {},
    }).thing;
  });
  at(307, () =>
    world.write(thing('thumbnails'), 307, {
      verb: 'apply',
      patchType: 'apply',
      actor: { manager: 'gitops' },
      outcome: 'field-conflict',
      code: 409,
      reason: 'Conflict',
      causes: [
        {
          reason: 'FieldManagerConflict',
          field: '.spec.size',
          message: 'conflict with "resizer" using example.org/v1',
        },
      ],
    }),
  );
  at(316, () => world.change(thing('thumbnails'), 316, 'bucket-controller', 'status', { used: 9 }));
}

function findingsOf(evidence: ReadonlyMap<string, number[]>): TimelineFinding[] {
  const object = (resource: string, group: string, name: string, uid: string): TimelineFinding['object'] => ({
    cluster: CLUSTER,
    group,
    resource,
    namespace: 'shop',
    name,
    uid,
  });
  const at = (seconds: number): number => START + seconds * 1000;
  const loop = evidence.get('loop') ?? [];
  return [
    {
      id: 'hot-conflict-loop',
      severity: 'warning',
      object: object('deployments', 'apps', 'search', 'b77aa010-1f0b-4b6e-9c7a-000000000002'),
      actors: ['search-operator', 'metrics-labeller'],
      fields: [],
      count: loop.length,
      firstAt: at(298),
      lastAt: at(398),
      events: loop,
      explanation: 'search-operator was refused 14 times without growing pauses while metrics-labeller kept writing.',
      remedy: 'Read again before each attempt, and wait longer after each refusal.',
    },
    {
      id: 'lost-update',
      kind: 'token-swap',
      severity: 'error',
      object: object('configmaps', '', 'feature-flags', 'c41b7f55-1f0b-4b6e-9c7a-000000000005'),
      actors: ['flag-sync', 'kubectl-edit'],
      fields: ['.data.dark'],
      count: 1,
      firstAt: at(273.5),
      lastAt: at(273.5),
      events: evidence.get('lost') ?? [],
      explanation: 'flag-sync put .data.dark back to the value it had before kubectl-edit changed it.',
      remedy: 'Compute the change from the object whose token is sent.',
    },
    {
      id: 'stale-reference',
      severity: 'warning',
      object: object('bucketclaims', 'example.org', 'invoices', '77d1c3a9-1f0b-4b6e-9c7a-000000000007'),
      actors: ['bucket-controller'],
      fields: ['.status.owner'],
      count: 1,
      firstAt: at(172),
      lastAt: at(172),
      events: (evidence.get('stale') ?? []).toSorted((a, b) => b - a),
      explanation: 'still holds uid 9a01d2e4, the name now means c41b7f55',
      remedy: 'Look the object up again by name, and compare its UID.',
    },
  ];
}
