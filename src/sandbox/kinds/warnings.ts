import type { JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { goQuote } from '../goText.ts';
import { dnsLabel } from './names.ts';
import { numberAt, objectAt, objectsAt, textAt, textsAt } from './access.ts';

/** What the server warns of in a pod or a pod template, in its words; `field` is where it is ('' for a Pod itself). */
export function podWarnings(pod: JsonObject, field: string): string[] {
  const at = field === '' ? 'spec' : `${field}.spec`;
  const spec = objectAt(pod, 'spec');
  const containers = [
    ...objectsAt(spec, 'initContainers').map((container, index) => ({
      container,
      place: `${at}.initContainers[${index}]`,
    })),
    ...objectsAt(spec, 'containers').map((container, index) => ({ container, place: `${at}.containers[${index}]` })),
  ];
  const grace = numberAt(spec, 'terminationGracePeriodSeconds') ?? 0;
  return [
    ...spreadWarnings(spec, at),
    ...repeated(objectsAt(spec, 'hostAliases'), 'ip', `${at}.hostAliases`, 'duplicate ip'),
    ...repeated(objectsAt(spec, 'imagePullSecrets'), 'name', `${at}.imagePullSecrets`, 'duplicate name'),
    ...objectsAt(spec, 'imagePullSecrets').flatMap((secret, index) =>
      textAt(secret, 'name') === '' ? [`${at}.imagePullSecrets[${index}].name: invalid empty name ""`] : [],
    ),
    ...containers.flatMap(({ container, place }) => envWarnings(objectsAt(container, 'env'), `${place}.env`)),
    ...portWarnings(containers),
    ...(grace < 0
      ? [`${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...affinityWarnings(objectAt(spec, 'affinity'), `${at}.affinity`),
  ];
}

/** Names that become hostnames should be labels; `where` is what becomes of them. */
export function hostnameWarnings(object: JsonObject, where: string): string[] {
  const wrong = dnsLabel(textAt(object, 'metadata', 'name'));
  const advice = `this is used in ${where}, which can result in surprising behavior; a DNS label is recommended`;
  return wrong.length === 0 ? [] : [`metadata.name: ${advice}: [${wrong.join(' ')}]`];
}

function spreadWarnings(spec: JsonObject, at: string): string[] {
  return objectsAt(spec, 'topologySpreadConstraints').flatMap((item, index) =>
    isJsonObject(item['labelSelector'])
      ? []
      : [`${at}.topologySpreadConstraints[${index}].labelSelector: a null labelSelector results in matching no pod`],
  );
}

function repeated(items: readonly JsonObject[], key: string, field: string, what: string): string[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const value = textAt(item, key);
    const isRepeated = seen.has(value);
    seen.add(value);
    return isRepeated ? [`${field}[${index}].${key}: ${what} ${goQuote(value)}`] : [];
  });
}

/** A second definition of a variable is lost when the list is applied, unless it builds on the first. */
function envWarnings(list: readonly JsonObject[], field: string): string[] {
  const seen = new Set<string>();
  return list.flatMap((env, index) => {
    const name = textAt(env, 'name');
    const reference = `$(${name})`;
    const value = textAt(env, 'value');
    const isHidden =
      seen.has(name) && (env['valueFrom'] !== undefined || value === reference || !value.includes(reference));
    seen.add(name);
    return isHidden
      ? [`${field}[${index}]: hides previous definition of ${goQuote(name)}, which may be dropped when using apply`]
      : [];
  });
}

interface PlacedPort {
  readonly port: JsonObject;
  readonly place: string;
}

function portWarnings(containers: readonly { readonly container: JsonObject; readonly place: string }[]): string[] {
  const ports = containers.flatMap(({ container, place }) =>
    objectsAt(container, 'ports').map((port, index): PlacedPort => ({ port, place: `${place}.ports[${index}]` })),
  );
  const same = ports.flatMap((own, index) => ports.slice(0, index).flatMap((other) => overlap(own, other)));
  const names = new Map<string, string>();
  const named = ports.flatMap(({ port, place }) => {
    const name = textAt(port, 'name');
    if (name === '') return [];
    const other = names.get(name);
    if (other === undefined) {
      names.set(name, place);
      return [];
    }
    return [
      `${place}: duplicate port name ${goQuote(name)} with ${other}, services and probes that select ports by name will use ${other}`,
    ];
  });
  return [...same, ...named];
}

function overlap(own: PlacedPort, other: PlacedPort): string[] {
  const identity = ({ port }: PlacedPort): string =>
    `${numberAt(port, 'containerPort') ?? 0}/${textAt(port, 'protocol')}`;
  if (identity(own) !== identity(other)) return [];
  const [mine, theirs] = [own.port, other.port].map((port) => ({
    ip: textAt(port, 'hostIP'),
    host: numberAt(port, 'hostPort') ?? 0,
  }));
  if (mine === undefined || theirs === undefined) return [];
  if (mine.ip === theirs.ip && mine.host === theirs.host)
    return [`${own.place}: duplicate port definition with ${other.place}`];
  if (mine.host === 0 || theirs.host === 0) return [`${own.place}: overlapping port definition with ${other.place}`];
  const isAmbiguous = mine.host === theirs.host && (mine.ip === '') !== (theirs.ip === '');
  return isAmbiguous ? [`${own.place}: dangerously ambiguous port definition with ${other.place}`] : [];
}

function affinityWarnings(affinity: JsonObject, at: string): string[] {
  const text = 'a null labelSelector results in matching no pod';
  return ['podAffinity', 'podAntiAffinity'].flatMap((kind) => {
    const required = objectsAt(affinity, kind, 'requiredDuringSchedulingIgnoredDuringExecution').flatMap(
      (term, index) =>
        isJsonObject(term['labelSelector'])
          ? []
          : [`${at}.${kind}.requiredDuringSchedulingIgnoredDuringExecution[${index}].labelSelector: ${text}`],
    );
    const preferred = objectsAt(affinity, kind, 'preferredDuringSchedulingIgnoredDuringExecution').flatMap(
      (term, index) =>
        isJsonObject(objectAt(term, 'podAffinityTerm')['labelSelector'])
          ? []
          : [
              `${at}.${kind}.preferredDuringSchedulingIgnoredDuringExecution[${index}].podAffinityTerm.labelSelector: ${text}`,
            ],
    );
    return [...required, ...preferred];
  });
}

/** What the server warns of in a Service. */
export function serviceWarnings(service: JsonObject): string[] {
  const spec = objectAt(service, 'spec');
  const external = textsAt(spec, 'externalIPs');
  const warnings: string[] = [];
  if (textAt(spec, 'clusterIP') === 'None') {
    if (textAt(spec, 'loadBalancerIP') !== '') warnings.push('spec.loadBalancerIP is ignored for headless services');
    if (external.length > 0) warnings.push('spec.externalIPs is ignored for headless services');
    if (textAt(spec, 'sessionAffinity') !== 'None')
      warnings.push('spec.SessionAffinity is ignored for headless services');
  }
  const isNamed = textAt(spec, 'type') === 'ExternalName';
  if (external.length > 0 && textAt(spec, 'clusterIP') !== 'None' && !isNamed) {
    warnings.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
  }
  if (external.length > 0 && isNamed) warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!isNamed && textAt(spec, 'externalName') !== '')
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  return warnings;
}

const STANDARD_FINALIZERS = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** Finalizers of custom resources that are not qualified are taken, with a warning when they are added. */
export function finalizerWarnings(next: JsonObject, live: JsonObject | undefined): string[] {
  const before = new Set(textsAt(live, 'metadata', 'finalizers'));
  const added = [...new Set(textsAt(next, 'metadata', 'finalizers'))].filter((name) => !before.has(name)).sort();
  const advice = 'to avoid accidental conflicts with other finalizer writers';
  return added
    .filter((name) => !name.includes('/') && !STANDARD_FINALIZERS.has(name))
    .map(
      (name) =>
        `metadata.finalizers: ${goQuote(name)}: prefer a domain-qualified finalizer name ${name.includes('.') ? 'including a path (/) ' : ''}${advice}`,
    );
}
