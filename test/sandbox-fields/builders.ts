import type { JsonObject } from '../../src/codec/json.ts';
import { isJsonObject } from '../../src/codec/json.ts';
import { applyFields } from '../../src/sandbox/fields/apply.ts';
import { trackUpdate } from '../../src/sandbox/fields/track.ts';
import { builtInKinds } from '../../src/sandbox/kinds/builtIn.ts';
import { customKind } from '../../src/sandbox/kinds/custom.ts';
import { plainText } from '../../src/sandbox/schema/plainText.ts';
import type { Kind } from '../../src/sandbox/kinds/kind.ts';
import { completeObject } from '../../src/sandbox/fields/complete.ts';

const kinds = builtInKinds();
const NOW = Date.parse('2026-01-02T03:04:05Z');

/** A built-in kind by its name; the first of its versions. */
export function kindOf(name: string): Kind {
  const found = kinds.find(({ kind }) => kind === name);
  if (found === undefined) throw new Error(`no kind ${name}`);
  return found;
}

/** The kind of a custom resource `Widget` with the given properties of its spec. */
export function widgetKind(specProperties: JsonObject, more: JsonObject = {}): Kind {
  const openAPIV3Schema: JsonObject = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: specProperties, ...more },
      status: { type: 'object', properties: { phase: { type: 'string' } } },
    },
  };
  const spec: JsonObject = {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema } }],
  };
  return customKind({ metadata: { name: 'widgets.example.com' }, spec }, 'v1');
}

/** An object as a POST stores it, tracked for a manager. */
export function created(kind: Kind, object: JsonObject, manager = 'creator'): JsonObject {
  const { object: complete } = completeObject(kind, object);
  return trackUpdate({ kind, live: undefined, next: complete, manager, subresource: '', nowMs: NOW });
}

/** An object after a PUT of other content. */
export function updated(
  kind: Kind,
  live: JsonObject,
  content: JsonObject,
  manager: string,
  subresource = '',
): JsonObject {
  const { object: next } = completeObject(kind, content);
  return trackUpdate({ kind, live, next, manager, subresource, nowMs: NOW + 60_000 });
}

/** An object after an apply. */
export function applied(
  kind: Kind,
  live: JsonObject | undefined,
  config: JsonObject,
  manager: string,
  force = false,
): JsonObject {
  return applyFields({ kind, live, config, manager, subresource: '', force, nowMs: NOW });
}

/** Who owns what: `manager/Operation` to fieldsV1. */
export function ownership(object: JsonObject): JsonObject {
  const metadata = object['metadata'];
  const entries = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
  if (!Array.isArray(entries)) return {};
  return Object.fromEntries(
    entries
      .filter(isJsonObject)
      .map((entry) => [`${plainText(entry['manager'])}/${plainText(entry['operation'])}`, entry['fieldsV1'] ?? null]),
  );
}

/** A ConfigMap to send. */
export function configMap(data: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...metadata }, data };
}

/** A Deployment to apply, with these containers. */
export function deployment(containers: JsonObject[], spec: JsonObject = {}): JsonObject {
  const labels = { app: 'd' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } }, ...spec },
  };
}
