import type { JsonObject } from '../../codec/json.ts';
import type { Server } from '../../base/server.ts';
import { objectOf, readReply } from '../../kube/answers.ts';
import { targetPath, type Target } from '../../write/target.ts';

/**
 * Reads one object as it is now (no cache may answer); undefined where the server says that nothing has this name.
 * @throws AppError of the connection or the refusal
 */
export async function readObject(server: Server, target: Target, signal: AbortSignal): Promise<JsonObject | undefined> {
  const reply = await readReply(server, { path: targetPath(target) }, signal);
  return reply.status === 404 ? undefined : objectOf(reply);
}
