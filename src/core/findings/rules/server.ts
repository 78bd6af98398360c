import { message, type Message } from '../../../base/message.ts';
import { isJsonObject, type JsonObject } from '../../../codec/json.ts';
import { HIDDEN } from '../../secrets.ts';
import type { GapEvent, ObservedEvent, ReadEvent } from '../../traceEvent.ts';
import { hashText } from '../../hash.ts';
import { actorName } from '../knowledge.ts';
import { contentAfter, contentOf, sameLeaves, type Leaves } from '../leaves.ts';
import type { ObjectState, VersionRecord } from '../objectState.ts';
import type { Rule } from '../rule.ts';
import { tokenText } from '../words.ts';
import { findingObject, type World } from '../world.ts';

const RACE_MS = 1_000;

/** `server-behind`, `token-reuse` and `watch-gap`: what servers and connections do, not actors. */
export class ServerRule implements Rule {
  behind(event: ObservedEvent, object: ObjectState, world: World): void {
    reportBehind(
      event.via === 'list' ? message`a list` : message`a read`,
      event.at,
      event.seq,
      event.token,
      object,
      world,
      [],
    );
  }

  read(event: ReadEvent, world: World): void {
    if (event.verb === 'watch') return;
    for (const item of event.given) {
      const object = world.object(event.cluster, item.uid);
      if (object === undefined || item.deleted === true) continue;
      const index = object.indexOf(item.token);
      const next = index < 0 ? undefined : object.versions[index + 1];
      const superseded = next !== undefined && next.placed && event.at - next.at > RACE_MS;
      const dead = object.gone !== undefined && event.at - object.gone.at > RACE_MS;
      if (superseded || dead)
        reportBehind(
          message`a ${event.verb} of ${actorName(event.actor)}`,
          event.at,
          event.seq,
          item.token,
          object,
          world,
          [actorName(event.actor)],
        );
    }
  }

  observed(event: ObservedEvent, object: ObjectState, version: VersionRecord, world: World): void {
    if (event.body === undefined || version.leaves === undefined || version.derived || !isComparable(event, version))
      return;
    const content = (object.lastBody === undefined ? contentOf(event.body) : contentAfter(object.lastBody, event.body))
      .leaves;
    if (
      sameLeaves(content, version.leaves) ||
      sameHashes(content, version.leaves) ||
      sameParts(content, version.leaves)
    )
      return;
    const { leaves } = version;
    const fields = [...content]
      .filter(([path, value]) => !path.startsWith('\0') && isOther(leaves.get(path), value))
      .map(([path]) => path);
    // The hashes of a Secret's values are of one key in one run of whoever saw it, and of another in the next.
    if (fields.length === 0 && content.size === leaves.size) return;
    world.report({
      key: ['token-reuse', object.cluster].join('\0'),
      id: 'token-reuse',
      cluster: object.cluster,
      object: findingObject(object),
      actors: [],
      fields: fields.slice(0, 20),
      at: event.at,
      events: [version.seq, event.seq],
      explanation: message`The token ${tokenText(event.token)} of ${object.name.name} stands for two different contents: the storage of this cluster may have been restored, so that versions are given out again.`,
      remedy: message`Restart what caches objects of this cluster: after a restore, a token says nothing about what was read before it.`,
      details: { token: event.token },
    });
  }

  gap(event: GapEvent, world: World): void {
    const { group, resource, namespace, name } = event.scope;
    const where = message`${resource}${namespace === undefined ? '' : message` in ${namespace}`}${name === undefined ? '' : message` ${name}`}`;
    const seconds = event.to === undefined ? undefined : ((event.to - event.from) / 1000).toFixed(1);
    const why = event.detail === undefined || seconds !== undefined ? event.cause : `${event.cause}: ${event.detail}`;
    const resumed = event.resumed === true;
    world.report({
      key: ['watch-gap', event.cluster, event.gap].join('\0'),
      id: 'watch-gap',
      cluster: event.cluster,
      object: { group, resource, namespace: namespace ?? '', name: name ?? '', uid: '' },
      actors: [],
      fields: [],
      at: event.from,
      total: 1,
      events: [event.seq],
      explanation: resumed
        ? message`The watch of ${where} was interrupted for ${seconds ?? '0.0'} s (${why}) and went on from the last version it had been given: what happened in between was seen, only late.`
        : message`Nobody saw what happened to ${where} for a time that ${seconds === undefined ? message`has not ended` : message`lasted ${seconds} s`} (${why}). Changes, deletions and recreations in it are unknown.`,
      remedy: resumed
        ? message`Nothing is missing from the record; the times of what happened in it are those of its arrival.`
        : message`Take nothing from before the gap as proof of what is after it.`,
      details: { cause: event.cause },
    });
  }
}

/** Contents are comparable within one API version and endpoint; an answer to a write that deletes says what is not stored. */
function isComparable(event: ObservedEvent, version: VersionRecord): boolean {
  const terminating = event.deletionTimestamp !== undefined || version.terminating;
  const sameVersion =
    event.apiVersion === undefined || version.apiVersion === undefined || event.apiVersion === version.apiVersion;
  return event.notStored !== true && !terminating && sameVersion && isWhole(event.body);
}

function isWhole(body: JsonObject | undefined): boolean {
  return (
    body !== undefined &&
    body['kind'] !== 'PartialObjectMetadata' &&
    body['kind'] !== 'Scale' &&
    Object.keys(body).some((key) => key !== 'metadata' && key !== 'kind' && key !== 'apiVersion') &&
    isJsonObject(body['metadata'])
  );
}

/** What is hidden in the one is hidden in the other, perhaps known by a hash only. */
function isOther(before: string | undefined, after: string): boolean {
  return before !== after && (before === undefined || !after.startsWith(`"${HIDDEN}`));
}

/** The version may be known by the hashes of its values, where whoever saw it first kept no body. */
function sameHashes(content: Leaves, hashes: Leaves): boolean {
  return content.size === hashes.size && [...content].every(([path, value]) => hashes.get(path) === hashText(value));
}

/** One of the two may be hashes by position (a body that was not kept), or show metadata only. */
function sameParts(a: Leaves, b: Leaves): boolean {
  const marked =
    [...b.keys()].some((path) => path.startsWith('\0')) || ![...a.keys()].some((path) => path.startsWith('\0'));
  const parts = (leaves: Leaves): string =>
    [...new Set([...leaves.keys()].map((path) => /^\0?\.\w+/.exec(path)?.[0].replace('\0', '')))]
      .sort((a = '', b = '') => a.localeCompare(b))
      .join();
  return !marked || parts(a) !== parts(b);
}

function reportBehind(
  what: Message,
  at: number,
  seq: number,
  token: string,
  object: ObjectState,
  world: World,
  actors: readonly string[],
): void {
  const gone = object.gone !== undefined;
  world.report({
    key: ['server-behind', object.cluster, actors.join()].join('\0'),
    id: 'server-behind',
    cluster: object.cluster,
    object: findingObject(object),
    actors,
    fields: [],
    at,
    events: [object.gone?.seq ?? object.latest?.seq ?? object.firstSeq, seq],
    explanation: message`The answer to ${what} showed ${object.name.name} with the token ${tokenText(token)}, although ${gone ? message`its deletion` : message`a newer version`} had been seen before: the server, or its cache, that answered was behind.`,
    remedy: message`Do not act on a read that may come from a cache (resourceVersion=0) where it matters; a write with the token is refused if it is stale.`,
    details: { token },
  });
}
