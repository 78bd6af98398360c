import { isAppError } from '../../base/appError.ts';
import { SendFailure } from '../../base/server.ts';
import { isJsonObject, stringifyJson, type JsonObject } from '../../codec/json.ts';
import { errorOf } from '../../kube/answers.ts';
import { collectionPath } from '../../write/target.ts';
import type { Located } from '../documents/objectSaver.ts';

const SERVER_SET = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
  'selfLink',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
];

/**
 * Creates an object anew from an older content, without what the server sets. A name that is taken meanwhile is refused by
 * the server; nothing is ever overwritten.
 * @throws AppError of the refusal or the connection
 */
export async function createObject(
  { connected, target }: Located,
  content: JsonObject,
  fieldManager: string,
  signal: AbortSignal,
): Promise<void> {
  const metadata = isJsonObject(content['metadata']) ? content['metadata'] : {};
  const own = Object.fromEntries(Object.entries(metadata).filter(([name]) => !SERVER_SET.includes(name)));
  const { status: _status, ...rest } = content;
  try {
    const reply = await connected.cluster.send(
      {
        method: 'POST',
        path: collectionPath(target),
        query: { fieldManager },
        headers: { 'content-type': 'application/json' },
        body: stringifyJson({ ...rest, metadata: own }),
      },
      signal,
    );
    if (reply.status !== 201) throw errorOf(reply);
  } catch (error) {
    throw error instanceof SendFailure && isAppError(error.cause) ? error.cause : error;
  }
}
