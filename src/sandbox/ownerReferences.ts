import { stringifyJson, type JsonObject } from '../codec/json.ts';
import { textOf } from './goText.ts';
import { metadataOf } from './state.ts';

/**
 * Drops repeated owner references, as the API server does before and after admission; a warning names the repeated uids.
 */
export function dedupOwnerReferences(object: JsonObject, warnings: string[], afterAdmission = false): void {
  const metadata = metadataOf(object);
  const references = metadata['ownerReferences'];
  if (!Array.isArray(references) || references.length < 2) return;
  const seen = new Set<string>();
  const repeated = new Set<string>();
  const kept = references.filter((reference) => {
    const text = stringifyJson(reference);
    if (!seen.has(text)) {
      seen.add(text);
      return true;
    }
    repeated.add(textOf((reference as JsonObject)['uid']));
    return false;
  });
  if (repeated.size === 0) return;
  metadata['ownerReferences'] = kept;
  warnings.push(
    `.metadata.ownerReferences contains duplicate entries${afterAdmission ? ' after mutating admission happens' : ''}; API server dedups owner references in 1.20+, and may reject such ` +
      `requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...repeated].join(', ')}`,
  );
}
