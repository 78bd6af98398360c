import { isJsonObject, isTooDeep, parseJson, type JsonObject } from '../codec/json.ts';
import { diffObjects } from '../core/diff.ts';
import { withServerSet } from '../core/merge.ts';
import { formatPath } from '../codec/path.ts';
import type { WriteContext } from './context.ts';
import type { Conflict, Winner } from './report.ts';
import { apiVersionOf, collectionPath, identityOf, isSecret } from './target.ts';
import { winnersBetween } from './winners.ts';

/** What others made of an object since a version: the fields (values left out for Secrets), and whose doing it was. */
interface ChangedSince {
  readonly conflicts: readonly Conflict[];
  readonly wonBy: readonly Winner[];
}

/**
 * Compares an incarnation with what it was at a version, as far as the server still keeps that; undefined where it does not,
 * or may not be asked. For a question to a person only: nothing is written from it.
 */
export async function changedSince(
  context: WriteContext,
  token: string,
  newest: JsonObject,
): Promise<ChangedSince | undefined> {
  const base = await versionAt(context, token, identityOf(newest).uid);
  if (base === undefined || isTooDeep(base) || isTooDeep(newest)) return undefined;
  const secret = isSecret(context.target);
  const changes = diffObjects(base, withServerSet(base, newest), context.schema);
  const conflicts = changes.map(({ path, before, after }) => ({
    path: formatPath(path),
    ...(secret || before === undefined ? {} : { base: before }),
    ...(secret || after === undefined ? {} : { theirs: after }),
  }));
  return { conflicts, wonBy: winnersBetween(base, newest, context.schema) };
}

/**
 * An incarnation at exactly a version. Servers keep their past for some minutes. Source: Kubernetes documentation, "Resource
 * versions", `resourceVersionMatch=Exact`.
 */
async function versionAt(context: WriteContext, token: string, uid: string): Promise<JsonObject | undefined> {
  const { target, session } = context;
  const sent = await session.send({
    method: 'GET',
    path: collectionPath(target),
    query: {
      fieldSelector: `metadata.name=${target.name}`,
      resourceVersion: token,
      resourceVersionMatch: 'Exact',
    },
    headers: { accept: 'application/json' },
  });
  if (sent.kind !== 'reply' || sent.reply.status !== 200) return undefined;
  const list = parsed(sent.reply.body);
  const [item] = isJsonObject(list) && Array.isArray(list['items']) ? list['items'] : [];
  if (!isJsonObject(item)) return undefined;
  const identity = identityOf(item);
  // A list's items may leave out what they are.
  const named = { apiVersion: apiVersionOf(target), kind: target.kind, ...item };
  return identity.uid === uid && identity.token === token ? named : undefined;
}

function parsed(body: string): unknown {
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}
