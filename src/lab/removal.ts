import { message } from '../base/message.ts';
import { AppError, isAppError } from '../base/appError.ts';
import { errorOf, appErrorOf } from '../kube/answers.ts';
import { metadataOf } from '../write/target.ts';
import { ownersIn } from '../write/winners.ts';
import { uidOf, uninterrupted, type Exchange, type LabClient } from './labClient.ts';

/** Whose requests these are in the log. */
const MANAGER = 'versions-lab';

/** What a lab removes: an object by its URL path, if it is one of these lives of the name. */
export interface Made {
  readonly path: string;
  /** The UIDs that are the lab's own; absent: whatever stands there, because the name was free when the lab began. */
  readonly uids?: ReadonlySet<string>;
  /** The field managers of creations whose answers were lost: a life that one of them wrote to is the lab's own too. */
  readonly lostBy?: ReadonlySet<string>;
}

/** What a lab creates at names that were free when it began, so that it can be removed. */
export class MadeObjects {
  private readonly objects = new Map<string, { path: string; uids: Set<string>; lostBy: Set<string> }>();

  /**
   * Sends a request that creates the object at a path. Where its answer is lost, the object may stand there all the same.
   * Rejects as the request does.
   */
  async create(path: string, manager: string, request: () => Promise<Exchange>): Promise<Exchange> {
    try {
      const done = await request();
      const uid = uidOf(done.answer);
      if (done.reply.status === 201 && uid !== '') this.at(path).uids.add(uid);
      if (done.reply.status >= 500) this.at(path).lostBy.add(manager);
      return done;
    } catch (error) {
      if (!isAppError(error, 'unreachable')) this.at(path).lostBy.add(manager);
      throw error;
    }
  }

  /** Removes them, the last one first. @throws AppError as `removeAll` does */
  async remove(client: LabClient): Promise<void> {
    await removeAll(client, Array.from(this.objects.values()).reverse());
  }

  private at(path: string): { uids: Set<string>; lostBy: Set<string> } {
    const there = this.objects.get(path) ?? { path, uids: new Set<string>(), lostBy: new Set<string>() };
    this.objects.set(path, there);
    return there;
  }
}

/** @throws AppError `usage` where an object stands at one of the paths: a lab never touches what it did not make */
export async function mustBeFree(client: LabClient, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const { reply } = await client.send(MANAGER, 'GET', path);
    if (reply.status === 404) continue;
    if (reply.status !== 200) throw errorOf(reply);
    throw new AppError('usage', message`There is already an object at ${path}.`, {
      advice: message`A lab never touches what it did not make: choose another namespace, or the sandbox.`,
    });
  }
}

/**
 * Removes what a lab made, each by its UID, finalizers included; also after an interruption, in ten seconds in all.
 * @throws AppError of the first failure's code, naming what is left behind, after all were tried
 */
export async function removeAll(client: LabClient, made: readonly Made[]): Promise<void> {
  const signal = uninterrupted();
  const left: string[] = [];
  let first: unknown;
  for (const one of made) {
    try {
      await remove(client, one, signal);
    } catch (error) {
      first ??= error;
      left.push(one.path);
    }
  }
  if (left.length === 0) return;
  const failure = appErrorOf(first);
  throw new AppError(
    failure.code,
    message`What the lab made could not be removed: ${left.join(', ')}. ${failure.words}`,
    {
      cause: first,
      advice: message`Remove it when the server answers again.`,
    },
  );
}

async function remove(client: LabClient, { path, uids, lostBy }: Made, signal: AbortSignal): Promise<void> {
  const { reply, answer } = await client.send(MANAGER, 'GET', path, { signal });
  if (reply.status === 404) return;
  if (reply.status !== 200) throw errorOf(reply);
  const uid = uidOf(answer);
  if (uids?.has(uid) === false && !ownersIn(answer).some(({ manager }) => lostBy?.has(manager) === true)) return;
  const { finalizers } = metadataOf(answer);
  if (Array.isArray(finalizers) && finalizers.length > 0) {
    await client.send(MANAGER, 'PATCH', path, {
      body: { metadata: { uid, finalizers: null } },
      contentType: 'application/merge-patch+json',
      signal,
    });
  }
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
  const deleted = await client.send(MANAGER, 'DELETE', path, { body, signal });
  // 404: gone with its last finalizer. 409: another life holds the name, which is none of the lab's.
  if (deleted.reply.status >= 300 && deleted.reply.status !== 404 && deleted.reply.status !== 409)
    throw errorOf(deleted.reply);
}
