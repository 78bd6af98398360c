import type { JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import type { Kind } from '../kinds/kind.ts';
import { badRequest, bareError } from '../status.ts';
import { typingProblem } from './checkTypes.ts';

/**
 * Refuses configurations that cannot be applied to a kind.
 * @throws StatusError 400 for a foreign kind or managedFields, a bare 500 where the schema cannot type it
 */
export function checkTypes(kind: Kind, config: JsonObject): void {
  const shown = shownKind(config);
  if (shown !== `${kind.group}/${kind.version}, Kind=${kind.kind}`) throw badRequest(`invalid object type: ${shown}`);
  const metadata = isJsonObject(config['metadata']) ? config['metadata'] : {};
  if (Array.isArray(metadata['managedFields'])) throw badRequest('metadata.managedFields must be nil');
  const problem = typingProblem(kind.schema, config);
  if (problem === undefined) return;
  const name = `${text(metadata['namespace'])}/${text(metadata['name'])}`;
  throw bareError(`failed to create typed patch object (${name}; ${shown}): ${problem}`);
}

function text(value: JsonObject[string] | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** `apps/v1, Kind=Deployment`, `/v1, Kind=Pod`; nothing is known of an apiVersion with more than one slash. */
function shownKind(config: JsonObject): string {
  const parts = text(config['apiVersion']).split('/');
  if (parts.length > 2) return '/, Kind=';
  const [group, version] = parts.length === 2 ? parts : ['', parts[0]];
  return `${group ?? ''}/${version ?? ''}, Kind=${text(config['kind'])}`;
}
