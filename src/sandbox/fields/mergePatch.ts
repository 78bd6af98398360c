import type { Json, JsonObject } from '../../codec/json.ts';
import { cloneJson, isJsonObject, setOwn } from '../../codec/json.ts';
import { parseGoJson } from '../goJson.ts';
import { badRequest } from '../status.ts';
import type { Patched } from './jsonPatch.ts';
import { strictProblems } from './strictFields.ts';

/**
 * Applies a JSON Merge Patch (RFC 7386): objects merge, null deletes, everything else replaces.
 * @throws StatusError 400 for text that is no JSON object
 */
export function mergePatch(document: JsonObject, patchText: string): Patched {
  const patch = parseGoJson(patchText, (problem) => badRequest(`error decoding patch: ${problem}`));
  if (patch !== null && !isJsonObject(patch)) {
    const name = Array.isArray(patch)
      ? 'array'
      : typeof patch === 'string'
        ? 'string'
        : typeof patch === 'boolean'
          ? 'bool'
          : 'number';
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${name} into Go value of type map[string]interface {}`,
    );
  }
  if (patch === null) throw badRequest('Invalid JSON Patch');
  return { value: merge(document, patch), warnings: strictProblems(patchText, undefined) };
}

function merge(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return cloneJson(patch);
  const out: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key];
    else setOwn(out, key, merge(Object.hasOwn(out, key) ? out[key] : undefined, value));
  }
  return out;
}
