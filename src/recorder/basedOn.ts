import type { JsonObject } from '../codec/json.ts';
import { splitOwners } from '../core/findings/contents.ts';
import { changedPaths, contentAfter, contentOf, type Content } from '../core/findings/leaves.ts';
import type { WriteEvent } from '../core/traceEvent.ts';
import { keepLast } from '../core/keepLast.ts';

const MAX_OBJECTS = 2_000;
const MAX_VERSIONS = 6;
/** Of one object, versions that clients were given; they are kept longer than what nobody read. */
const MAX_READ = 12;
const MAX_GIVEN = 20_000;

interface Version {
  readonly token: string;
  readonly content: Content;
}

/** What is known of one object. */
interface Known {
  /** In the order in which they were seen. */
  versions: Version[];
  /** Tokens that clients were given, the last ones. */
  readonly read: Set<string>;
}

/**
 * Links a write to the version that its content came from: by the token it carries, by what its client was last given, and
 * by the content itself, where that is nearer to an older version than to the one that the token names. Of older versions
 * those that the client was given come first: what it was not given it can only know from elsewhere.
 */
export class BaseFinder {
  private readonly objects = new Map<string, Known>();
  /** By client and UID, the tokens it was given; the last is the newest. */
  private readonly given = new Map<string, Set<string>>();

  /** A version's content became known. */
  seen(uid: string, token: string, body: JsonObject): void {
    const known = this.known(uid);
    if (known.versions.some((version) => version.token === token)) return;
    known.versions.push({ token, content: contentBeside(known.versions.at(-1)?.content, body) });
    known.versions = kept(known);
  }

  /** A client was given a version, by a read or by the answer to its own write. */
  gave(client: string, uid: string, token: string): void {
    addLast(this.known(uid).read, token);
    const tokens = this.given.get(`${client}\0${uid}`) ?? new Set<string>();
    addLast(tokens, token);
    keepLast(this.given, `${client}\0${uid}`, tokens, MAX_GIVEN);
  }

  /** The base of a write and its changed paths against it, as far as they can be told. */
  find(
    client: string,
    uid: string | undefined,
    token: string | undefined,
    body: JsonObject | undefined,
  ): Pick<WriteEvent, 'basedOn' | 'paths'> {
    if (uid === undefined) return {};
    const given: ReadonlySet<string> = this.given.get(`${client}\0${uid}`) ?? new Set();
    const named = token ?? [...given].at(-1);
    const versions = this.objects.get(uid)?.versions ?? [];
    const base = versions.find((version) => version.token === named);
    const sent = body === undefined || base === undefined ? undefined : contentBeside(base.content, body);
    const paths =
      sent === undefined || base === undefined
        ? undefined
        : changedPaths(base.content.leaves, sent.leaves).slice(0, 200);
    const older =
      sent === undefined || paths === undefined || base === undefined
        ? undefined
        : nearer(versions.slice(0, versions.indexOf(base)), given, sent, paths.length);
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

  private known(uid: string): Known {
    const known = this.objects.get(uid) ?? { versions: [], read: new Set<string>() };
    keepLast(this.objects, uid, known, MAX_OBJECTS);
    return known;
  }
}

/** The last versions, and before them those that clients were given. */
function kept({ versions, read }: Known): Version[] {
  const recent = versions.length - MAX_VERSIONS;
  return versions.filter(({ token }, index) => index >= recent || read.has(token));
}

function addLast(tokens: Set<string>, token: string): void {
  tokens.delete(token);
  tokens.add(token);
  for (const oldest of tokens) {
    if (tokens.size <= MAX_READ) return;
    tokens.delete(oldest);
  }
}

/** The content of a body; what it has in common with one that is known is shared. */
function contentBeside(known: Content | undefined, body: JsonObject): Content {
  const { content } = splitOwners(body);
  return known === undefined ? contentOf(content) : contentAfter(known, content);
}

/** An older version that the content differs from in fewer fields than from the one it claims; one that was given, if any. */
function nearer(
  older: readonly Version[],
  given: ReadonlySet<string>,
  sent: Content,
  distance: number,
): string | undefined {
  const near = older
    .map(({ token, content }) => ({ token, distance: changedPaths(content.leaves, sent.leaves).length }))
    .filter((version) => version.distance < distance);
  const known = near.filter(({ token }) => given.has(token));
  return (known.length > 0 ? known : near).reduceRight<(typeof near)[number] | undefined>(
    (best, version) => (best === undefined || version.distance < best.distance ? version : best),
    undefined,
  )?.token;
}
