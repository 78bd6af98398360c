import type { ReadEvent } from '../traceEvent.ts';
import { actorName } from './classify.ts';
import { ReadTable, type StringTable } from './columns.ts';
import type { LaneTable } from './lanes.ts';
import { NO_LANE, READ_VERBS } from './model.ts';

/** A read of more objects than this is one of a collection: it has a place with its actor, none on each object. */
const MAX_OBJECTS = 32;

/** What a projection keeps of reads. A read of objects that have no lane yet has no place. */
export class Reads extends ReadTable {
  add({ seq, at, actor, cluster, scope, verb, given }: ReadEvent, lanes: LaneTable, strings: StringTable): void {
    const { group, resource, namespace = '', name } = scope;
    const objects = given.length === 0 && name !== undefined ? [{ namespace, name, uid: '' }] : given;
    const read = { at, actor: strings.place(actorName(actor)), event: seq, verb: READ_VERBS.indexOf(verb) };
    if (objects.length > MAX_OBJECTS) {
      this.push({ ...read, lane: NO_LANE, uid: 0 });
      return;
    }
    for (const object of objects) {
      const lane = lanes.find(cluster, { group, resource, namespace: object.namespace, name: object.name });
      if (lane !== undefined) this.push({ ...read, lane: lane.index, uid: strings.place(object.uid) });
    }
  }
}
