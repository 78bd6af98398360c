import { isJsonObject, parseJson, type JsonObject } from '../../codec/json.ts';
import { AppError, isAppError } from '../../base/appError.ts';
import { SendFailure, type Server } from '../../base/server.ts';
import { errorOf } from '../../kube/answers.ts';
import { targetPath, type Target } from '../../write/target.ts';

/**
 * Reads one object as it is now (no cache may answer); undefined where the server says that nothing has this name.
 * @throws AppError of the connection or the refusal
 */
export async function readObject(server: Server, target: Target, signal: AbortSignal): Promise<JsonObject | undefined> {
  try {
    const reply = await server.send({ method: 'GET', path: targetPath(target) }, signal);
    if (reply.status === 404) return undefined;
    if (reply.status !== 200) throw errorOf(reply);
    const object = parseJson(reply.body);
    if (isJsonObject(object)) return object;
    throw new AppError('bad-answer', 'The server answered with something that is no object.');
  } catch (error) {
    throw error instanceof SendFailure && isAppError(error.cause) ? error.cause : error;
  }
}
