import type { Json, JsonObject } from '../../codec/json.ts';
import { equalJson } from '../../codec/json.ts';
import { forbiddenField, invalid, invalidValue, type FieldError } from '../status.ts';
import { ensureObject, numberAt, objectAt, objectsAt, setDefault, setOrDelete, textAt, textsAt } from './access.ts';
import { ipErrors } from './addresses.ts';
import { ageOf, orNone } from './cells.ts';
import { defineKind } from './define.ts';
import type { Kind, WriteContext } from './kind.ts';
import { dnsLabel } from './names.ts';
import { serviceErrors } from './serviceValidation.ts';
import { serviceWarnings } from './warnings.ts';
import { NODE_PORTS, SERVICE_IPS } from './serviceAllocator.ts';
import { plainText } from '../schema/plainText.ts';

const STICKY_SECONDS = 10_800;
const HEADLESS = 'None';

/** Services, whose IPs and node ports the API server itself gives out. */
export function serviceKind(): Kind {
  return defineKind({
    place: 'api/v1',
    plural: 'services',
    checkName: dnsLabel,
    createOnUpdate: true,
    deleteAnswers: 'object',
    storagePath: 'services/specs',
    metadataChecks: { changes: 1, whole: 0 },
    fieldSelectors: { 'spec.clusterIP': ['spec', 'clusterIP'], 'spec.type': ['spec', 'type'] },
    defaults: applyDefaults,
    create: (object, context) => allocate(object, undefined, context),
    update: (next, live, context) => {
      dropLeftovers(objectAt(next, 'spec'), objectAt(live, 'spec'));
      keepAllocated(objectAt(next, 'spec'), objectAt(live, 'spec'));
      allocate(next, live, context);
    },
    validate: serviceErrors,
    validateStatus: (next) => {
      const hasIngress = objectsAt(next, 'status', 'loadBalancer', 'ingress').length > 0;
      const field = 'status.loadBalancer.ingress';
      const isBalancer = textAt(next, 'spec', 'type') === 'LoadBalancer';
      return hasIngress && !isBalancer
        ? [forbiddenField(field, "may only be used when `spec.type` is 'LoadBalancer'")]
        : [];
    },
    validateUpdate: (next, live) => updateErrors(objectAt(next, 'spec'), objectAt(live, 'spec')),
    warnings: serviceWarnings,
    released: (object, context) => {
      for (const ip of textsAt(object, 'spec', 'clusterIPs')) context.services.releaseIp(ip);
      for (const port of objectsAt(object, 'spec', 'ports'))
        context.services.releasePort(numberAt(port, 'nodePort') ?? 0);
    },
    cells,
  });
}

function applyDefaults(object: JsonObject): void {
  const spec = ensureObject(object, 'spec');
  setDefault(spec, 'sessionAffinity', 'None');
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig'];
  if (
    spec['sessionAffinity'] === 'ClientIP' &&
    numberAt(spec, 'sessionAffinityConfig', 'clientIP', 'timeoutSeconds') === undefined
  ) {
    spec['sessionAffinityConfig'] = { clientIP: { timeoutSeconds: STICKY_SECONDS } };
  }
  setDefault(spec, 'type', 'ClusterIP');
  for (const port of objectsAt(spec, 'ports')) {
    setDefault(port, 'protocol', 'TCP');
    if (port['targetPort'] === undefined || port['targetPort'] === 0 || port['targetPort'] === '')
      port['targetPort'] = port['port'] ?? 0;
  }
  const type = textAt(spec, 'type');
  const isExternal =
    type === 'NodePort' || type === 'LoadBalancer' || (type === 'ClusterIP' && textsAt(spec, 'externalIPs').length > 0);
  if (isExternal) setDefault(spec, 'externalTrafficPolicy', 'Cluster');
  if (type !== 'ExternalName') setDefault(spec, 'internalTrafficPolicy', 'Cluster');
  if (type === 'LoadBalancer') setDefault(spec, 'allocateLoadBalancerNodePorts', true);
}

/** An update that leaves out what the server allocated keeps it; so does one that leaves out its type's leftovers. */
function keepAllocated(spec: JsonObject, stored: JsonObject): void {
  const needsIp = (one: JsonObject): boolean => textAt(one, 'type') !== 'ExternalName';
  if (needsIp(spec) && needsIp(stored)) {
    if (
      textAt(spec, 'clusterIP') === '' &&
      (textsAt(spec, 'clusterIPs').length === 0 || equalJson(spec['clusterIPs'], stored['clusterIPs']))
    ) {
      setOrDelete(spec, 'clusterIP', stored['clusterIP']);
      setOrDelete(spec, 'clusterIPs', stored['clusterIPs']);
    } else if (
      textAt(spec, 'clusterIP') !== textAt(stored, 'clusterIP') &&
      equalJson(spec['clusterIPs'], stored['clusterIPs'])
    ) {
      delete spec['clusterIPs'];
    } else if (textsAt(spec, 'clusterIPs').length === 0 && textAt(spec, 'clusterIP') === textAt(stored, 'clusterIP')) {
      setOrDelete(spec, 'clusterIPs', stored['clusterIPs']);
    }
    for (const name of ['ipFamilies', 'ipFamilyPolicy'])
      if (spec[name] === undefined) setOrDelete(spec, name, stored[name]);
  }
  if (!needsNodePort(spec) || !needsNodePort(stored)) {
    if (!needsNodePort(spec)) for (const port of objectsAt(spec, 'ports')) dropOldNodePort(port, stored);
    if (!needsIp(spec))
      for (const name of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy'])
        delete spec[name];
    return;
  }
  const known = objectsAt(stored, 'ports');
  const taken = new Set(objectsAt(spec, 'ports').map((port) => numberAt(port, 'nodePort') ?? 0));
  for (const port of objectsAt(spec, 'ports')) {
    const same = known.find((other) => other['port'] === port['port'] && other['protocol'] === port['protocol']);
    const nodePort = numberAt(same, 'nodePort') ?? 0;
    if ((numberAt(port, 'nodePort') ?? 0) === 0 && nodePort !== 0 && !taken.has(nodePort)) port['nodePort'] = nodePort;
  }
}

/** What only the old type needed and the client did not change goes with the old type. */
function dropLeftovers(spec: JsonObject, stored: JsonObject): void {
  const isExternal = (one: JsonObject): boolean => ['NodePort', 'LoadBalancer'].includes(textAt(one, 'type'));
  const isBalancer = (one: JsonObject): boolean => textAt(one, 'type') === 'LoadBalancer';
  const drop = (name: string): void => {
    if (equalJson(spec[name] ?? null, stored[name] ?? null)) delete spec[name];
  };
  if (isExternal(stored) && !isExternal(spec)) drop('externalTrafficPolicy');
  if (isBalancer(stored) && !isBalancer(spec))
    for (const name of ['allocateLoadBalancerNodePorts', 'loadBalancerClass', 'healthCheckNodePort']) drop(name);
}

function dropOldNodePort(port: JsonObject, stored: JsonObject): void {
  if (objectsAt(stored, 'ports').some((other) => other['nodePort'] === port['nodePort'])) delete port['nodePort'];
}

function needsNodePort(spec: JsonObject): boolean {
  return (
    textAt(spec, 'type') === 'NodePort' ||
    (textAt(spec, 'type') === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] !== false)
  );
}

/** Gives the Service its IPs and node ports, or refuses those it asks for. A dry run gives back at once. */
function allocate(object: JsonObject, live: JsonObject | undefined, context: WriteContext): void {
  const spec = ensureObject(object, 'spec');
  const before = live === undefined ? {} : objectAt(live, 'spec');
  const errors: FieldError[] = [];
  const undo: (() => void)[] = [];
  if (textAt(spec, 'type') !== 'ExternalName') allocateIps(spec, before, context, errors, undo);
  if (errors.length === 0 && needsNodePort(spec)) allocatePorts(spec, before, context, errors, undo);
  if (context.dryRun || errors.length > 0) for (const release of undo) release();
  if (errors.length > 0) throw invalid({ group: '', kind: 'Service' }, textAt(object, 'metadata', 'name'), errors);
  if (context.dryRun || live === undefined) return;
  const kept = new Set(objectsAt(spec, 'ports').map((port) => numberAt(port, 'nodePort') ?? 0));
  for (const port of objectsAt(before, 'ports'))
    if (!kept.has(numberAt(port, 'nodePort') ?? 0)) context.services.releasePort(numberAt(port, 'nodePort') ?? 0);
  if (textAt(spec, 'clusterIP') === '') for (const ip of textsAt(before, 'clusterIPs')) context.services.releaseIp(ip);
}

function allocateIps(
  spec: JsonObject,
  before: JsonObject,
  context: WriteContext,
  errors: FieldError[],
  undo: (() => void)[],
): void {
  errors.push(...stackErrors(spec));
  if (errors.length > 0) return;
  const [first] = textsAt(spec, 'clusterIPs');
  if (textAt(spec, 'clusterIP') === '' && first !== undefined) spec['clusterIP'] = first;
  const asked = textAt(spec, 'clusterIP');
  const had = textAt(before, 'clusterIP');
  if (asked === '') {
    const ip = context.services.nextIp();
    undo.push(() => context.services.releaseIp(ip));
    spec['clusterIP'] = ip;
  } else if (asked !== HEADLESS && asked !== had && had === '' && ipErrors('', asked).length === 0) {
    const taken = context.services.takeIp(asked);
    if (taken === true) undo.push(() => context.services.releaseIp(asked));
    else errors.push(ipError(asked, taken));
  }
  if (textsAt(spec, 'clusterIPs').length === 0) spec['clusterIPs'] = [textAt(spec, 'clusterIP')];
  const isSelectorless = Object.keys(objectAt(spec, 'selector')).length === 0;
  const isDual = textAt(spec, 'clusterIP') === HEADLESS && isSelectorless;
  if (spec['ipFamilyPolicy'] === undefined) spec['ipFamilyPolicy'] = isDual ? 'RequireDualStack' : 'SingleStack';
  if (spec['ipFamilies'] === undefined) spec['ipFamilies'] = isDual ? ['IPv4', 'IPv6'] : ['IPv4'];
}

/** There is IPv4 only; what the server does not route itself may be declared for both families. */
function stackErrors(spec: JsonObject): FieldError[] {
  const isSelectorless = Object.keys(objectAt(spec, 'selector')).length === 0;
  if (textAt(spec, 'clusterIP') === HEADLESS && isSelectorless) return [];
  const errors = textsAt(spec, 'ipFamilies').flatMap((family, index) =>
    family === 'IPv6' ? [invalidValue(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')] : [],
  );
  const policy = textAt(spec, 'ipFamilyPolicy');
  const why = 'this cluster is not configured for dual-stack services';
  return policy === 'RequireDualStack' ? [...errors, invalidValue('spec.ipFamilyPolicy', policy, why)] : errors;
}

function ipError(ip: string, taken: false | 'out-of-range'): FieldError {
  const why =
    taken === false
      ? 'provided IP is already allocated'
      : `the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${SERVICE_IPS}`;
  return invalidValue('spec.clusterIPs', [ip], `failed to allocate IP ${ip}: ${why}`);
}

function allocatePorts(
  spec: JsonObject,
  before: JsonObject,
  context: WriteContext,
  errors: FieldError[],
  undo: (() => void)[],
): void {
  const had = new Set(objectsAt(before, 'ports').map((port) => numberAt(port, 'nodePort') ?? 0));
  for (const [index, port] of objectsAt(spec, 'ports').entries()) {
    const asked = numberAt(port, 'nodePort') ?? 0;
    if (asked === 0) {
      const number = context.services.nextPort();
      undo.push(() => context.services.releasePort(number));
      port['nodePort'] = number;
    } else if (!had.has(asked)) {
      const taken = context.services.takePort(asked);
      if (taken === true) undo.push(() => context.services.releasePort(asked));
      else {
        const why =
          taken === false
            ? 'provided port is already allocated'
            : `provided port is not in the valid range. The range of valid ports is ${NODE_PORTS}`;
        errors.push(invalidValue(`spec.ports[${index}].nodePort`, asked, why));
      }
    }
  }
}

/** The cluster IP is for life, unless the Service becomes an ExternalName or stops being one. */
function updateErrors(spec: JsonObject, stored: JsonObject): FieldError[] {
  if (textAt(spec, 'type') === 'ExternalName' || textAt(stored, 'type') === 'ExternalName') return [];
  const [mine, before] = [textsAt(spec, 'clusterIPs'), textsAt(stored, 'clusterIPs')];
  if (before.length > 0 && mine[0] !== before[0])
    return [invalidValue('spec.clusterIPs[0]', mine, 'may not change once set')];
  return [];
}

function cells(object: JsonObject, nowMs: number): Json[] {
  const spec = objectAt(object, 'spec');
  const selector = objectAt(spec, 'selector');
  const ports = objectsAt(spec, 'ports').map((port) => {
    const node = numberAt(port, 'nodePort') ?? 0;
    return `${plainText(port['port'])}${node === 0 ? '' : `:${node}`}/${textAt(port, 'protocol')}`;
  });
  return [
    textAt(object, 'metadata', 'name'),
    textAt(spec, 'type'),
    orNone(textAt(spec, 'clusterIP')),
    externalIp(object, spec),
    orNone(ports.join(',')),
    ageOf(object, nowMs),
    orNone(
      Object.keys(selector)
        .sort()
        .map((key) => `${key}=${plainText(selector[key])}`)
        .join(','),
    ),
  ];
}

function externalIp(object: JsonObject, spec: JsonObject): string {
  const external = textsAt(spec, 'externalIPs');
  if (textAt(spec, 'type') === 'ExternalName') return textAt(spec, 'externalName');
  if (textAt(spec, 'type') !== 'LoadBalancer') return orNone(external.join(','));
  const ingress = objectsAt(object, 'status', 'loadBalancer', 'ingress').map(
    (item) => textAt(item, 'ip') || textAt(item, 'hostname'),
  );
  const all = [...ingress.filter(isText), ...external];
  return all.length === 0 ? '<pending>' : all.join(',');
}

const isText = (text: string): boolean => text !== '';
