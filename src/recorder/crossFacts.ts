import { nameKey } from '../core/history.ts';
import { formatPath } from '../codec/path.ts';
import { mayMentionUid, uidMentions } from '../core/references.ts';
import type { ObjectName, TraceEvent } from '../core/traceEvent.ts';
import type { Finding } from '../core/findings/finding.ts';
import { severityOf } from '../core/findings/finding.ts';

/** What rules between objects need of one shard: which names changed hands, and who points at which UID. */
export interface Facts {
  /** Incarnations of names that changed hands, in their order. */
  readonly recreated: readonly {
    readonly name: ObjectName;
    readonly uids: readonly { readonly uid: string; readonly at: number; readonly seq: number }[];
  }[];
  readonly mentions: readonly Mention[];
}

interface Mention {
  readonly holder: ObjectName & { uid: string };
  readonly path: string;
  readonly uid: string;
  readonly at: number;
  readonly seq: number;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const MAX_NAMES = 50_000;
const MAX_MENTIONS = 50_000;

/** Collects the facts of one shard; bounded. */
export class CrossFacts {
  private readonly names = new Map<string, { name: ObjectName; uids: { uid: string; at: number; seq: number }[] }>();
  private readonly mentions = new Map<string, Mention>();

  add(event: TraceEvent): void {
    if (event.type !== 'observed') return;
    const key = nameKey(event.cluster, event.name);
    const known = this.names.get(key) ?? { name: event.name, uids: [] };
    if (!known.uids.some((item) => item.uid === event.uid))
      known.uids.push({ uid: event.uid, at: event.at, seq: event.seq });
    if (this.names.has(key) || this.names.size < MAX_NAMES) this.names.set(key, known);
    if (event.body === undefined || !mayMentionUid(event.body, false)) return;
    for (const mention of uidMentions(event.body, (uid) => UUID.test(uid) && uid !== event.uid)) {
      const path = formatPath(mention.path);
      const id = `${event.uid} ${path}`;
      if (this.mentions.has(id) || this.mentions.size < MAX_MENTIONS)
        this.mentions.set(id, {
          holder: { ...event.name, uid: event.uid },
          path,
          uid: mention.uid,
          at: event.at,
          seq: event.seq,
        });
    }
  }

  facts(): Facts {
    return {
      recreated: [...this.names.values()].filter((item) => item.uids.length > 1),
      mentions: [...this.mentions.values()],
    };
  }
}

/** The second pass over all shards: references from one shard to an incarnation of another that is gone. */
export function crossFindings(all: readonly Facts[], known: readonly Finding[]): Finding[] {
  const dead = new Map<string, { live: { uid: string; at: number; seq: number }; name: ObjectName }>();
  for (const { name, uids } of all.flatMap((facts) => facts.recreated)) {
    const live = uids.at(-1);
    if (live === undefined) continue;
    for (const item of uids.slice(0, -1)) dead.set(item.uid, { live, name });
  }
  const told = new Set(
    known
      .filter((finding) => finding.id === 'stale-reference')
      .map((finding) => `${finding.object.uid} ${finding.fields.join()}`),
  );
  return all
    .flatMap((facts) => facts.mentions)
    .flatMap((mention) => {
      const target = dead.get(mention.uid);
      if (
        target === undefined ||
        mention.holder.uid === target.live.uid ||
        told.has(`${mention.holder.uid} ${mention.path}`)
      )
        return [];
      if (
        mention.at < target.live.at &&
        mention.path !== '.spec.claimRef.uid' &&
        !mention.path.startsWith('.metadata.ownerReferences')
      )
        return [];
      return [finding(mention, target.live, target.name)];
    });
}

function finding(mention: Mention, live: { uid: string; at: number; seq: number }, name: ObjectName): Finding {
  return {
    id: 'stale-reference',
    severity: severityOf['stale-reference'],
    cluster: 'audit',
    object: mention.holder,
    actors: [],
    fields: [mention.path],
    count: 1,
    firstAt: mention.at,
    lastAt: mention.at,
    events: [live.seq, mention.seq],
    explanation: `${mention.path} of ${mention.holder.name} points at the UID ${mention.uid}, which is gone; ${name.resource}/${name.name} exists again as ${live.uid}.`,
    remedy:
      'Point at the object by its present UID, or remove the reference once you know that the new object is the one that is meant.',
    sureness: 'certain',
    details: { dead: mention.uid, live: live.uid, name: name.name },
  };
}
