import type { JsonObject } from '../codec/json.ts';
import { splitOwners } from '../core/findings/contents.ts';
import { changedPaths, contentAfter, contentOf, type Content } from '../core/findings/leaves.ts';
import type { WriteEvent } from '../core/traceEvent.ts';

const MAX_OBJECTS = 2_000;
const MAX_VERSIONS = 6;
const MAX_GIVEN = 20_000;

interface Version {
  readonly token: string;
  readonly content: Content;
}

/**
 * Links a write to the version that its content came from: by the token it carries, by what its client was last given, and
 * by the content itself, where that is nearer to an older version than to the one that the token names.
 */
export class BaseFinder {
  private readonly contents = new Map<string, Version[]>();
  private readonly given = new Map<string, string>();

  /** A version's content became known. */
  seen(uid: string, token: string, body: JsonObject): void {
    const versions = this.contents.get(uid) ?? [];
    if (!versions.some((version) => version.token === token))
      versions.push({ token, content: contentBeside(versions.at(-1)?.content, body) });
    refresh(this.contents, uid, versions.slice(-MAX_VERSIONS), MAX_OBJECTS);
  }

  /** A client was given a version, by a read or by the answer to its own write. */
  gave(client: string, uid: string, token: string): void {
    refresh(this.given, `${client}\0${uid}`, token, MAX_GIVEN);
  }

  /** The base of a write and its changed paths against it, as far as they can be told. */
  find(
    client: string,
    uid: string | undefined,
    token: string | undefined,
    body: JsonObject | undefined,
  ): Pick<WriteEvent, 'basedOn' | 'paths'> {
    if (uid === undefined) return {};
    const named = token ?? this.given.get(`${client}\0${uid}`);
    const versions = this.contents.get(uid) ?? [];
    const base = versions.find((version) => version.token === named);
    const sent = body === undefined || base === undefined ? undefined : contentBeside(base.content, body);
    const paths =
      sent === undefined || base === undefined
        ? undefined
        : changedPaths(base.content.leaves, sent.leaves).slice(0, 200);
    const older =
      sent === undefined || paths === undefined || base === undefined
        ? undefined
        : nearer(versions.slice(0, versions.indexOf(base)), sent, paths.length);
    const basedOn: WriteEvent['basedOn'] =
      older !== undefined
        ? { uid, token: older, known: 'content' }
        : token !== undefined
          ? { uid, token, known: 'token' }
          : named === undefined
            ? undefined
            : { uid, token: named, known: 'given' };
    return { ...(basedOn === undefined ? {} : { basedOn }), ...(paths === undefined ? {} : { paths }) };
  }
}

/** The content of a body; what it has in common with one that is known is shared. */
function contentBeside(known: Content | undefined, body: JsonObject): Content {
  const { content } = splitOwners(body);
  return known === undefined ? contentOf(content) : contentAfter(known, content);
}

/** An older version that the content differs from in fewer fields than from the one it claims. */
function nearer(older: readonly Version[], sent: Content, distance: number): string | undefined {
  let best: { token: string; distance: number } | undefined;
  for (const version of older) {
    const own = changedPaths(version.content.leaves, sent.leaves).length;
    if (own < distance && (best === undefined || own <= best.distance)) best = { token: version.token, distance: own };
  }
  return best?.token;
}

function refresh<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > max ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
