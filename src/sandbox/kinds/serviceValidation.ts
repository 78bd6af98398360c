import type { JsonObject } from '../../codec/json.ts';
import { duplicateValue, forbiddenField, invalidValue, notSupported, required, type FieldError } from '../status.ts';
import { numberAt, objectAt, objectsAt, textAt, textsAt } from './access.ts';
import { cidrErrors, endpointIpErrors, ipErrors } from './addresses.ts';
import { labelErrors } from './metadata.ts';
import { dnsLabel, dnsSubdomain, portNumber, qualifiedName } from './names.ts';
import { portOrNameErrors } from './probeValidation.ts';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const HEADLESS = 'None';
const DAY_SECONDS = 86_400;

/** What is wrong with a Service, in the order in which the API server looks. */
export function serviceErrors(object: JsonObject): FieldError[] {
  const spec = objectAt(object, 'spec');
  const type = textAt(spec, 'type');
  const ports = objectsAt(spec, 'ports');
  const isHeadless = textAt(spec, 'clusterIP') === HEADLESS;
  const names = new Set<string>();
  const errors: FieldError[] = [];
  if (ports.length === 0 && !isHeadless && type !== 'ExternalName') errors.push(required('spec.ports'));
  if (isHeadless && (type === 'NodePort' || type === 'LoadBalancer'))
    errors.push(invalidValue('spec.clusterIPs[0]', HEADLESS, `may not be set to 'None' for ${type} services`));
  if (type === 'ExternalName') errors.push(...externalNameErrors(spec));
  for (const [index, port] of ports.entries())
    errors.push(...portErrors(port, `spec.ports[${index}]`, ports.length > 1, names));
  errors.push(...labelErrors(objectAt(spec, 'selector'), 'spec.selector'), ...affinityErrors(spec));
  if (type !== 'ExternalName') errors.push(...clusterIpErrors(spec));
  for (const [index, ip] of textsAt(spec, 'externalIPs').entries())
    errors.push(...endpointIpErrors(`spec.externalIPs[${index}]`, ip));
  if (!TYPES.includes(type)) errors.push(notSupported('spec.type', type, TYPES));
  errors.push(...repeatedPorts(ports, type), ...sourceRangeErrors(spec, type));
  if (spec['allocateLoadBalancerNodePorts'] !== undefined && type !== 'LoadBalancer')
    errors.push(onlyBalancer('spec.allocateLoadBalancerNodePorts'));
  return [...errors, ...trafficErrors(spec, type)];
}

const onlyBalancer = (field: string): FieldError =>
  forbiddenField(field, "may only be used when `type` is 'LoadBalancer'");

function externalNameErrors(spec: JsonObject): FieldError[] {
  const why = 'may not be set for ExternalName services';
  const has = (name: string): boolean => textsAt(spec, name).length > 0;
  const errors: FieldError[] = [];
  if (has('clusterIPs') || textAt(spec, 'clusterIP') !== '') errors.push(forbiddenField('spec.clusterIPs', why));
  if (has('ipFamilies')) errors.push(forbiddenField('spec.ipFamilies', why));
  if (spec['ipFamilyPolicy'] !== undefined) errors.push(forbiddenField('spec.ipFamilyPolicy', why));
  const name = textAt(spec, 'externalName').replace(/\.$/, '');
  if (name === '') return [...errors, required('spec.externalName')];
  return [...errors, ...dnsSubdomain(name).map((text) => invalidValue('spec.externalName', name, text))];
}

function portErrors(port: JsonObject, field: string, needsName: boolean, names: Set<string>): FieldError[] {
  const errors: FieldError[] = [];
  const name = textAt(port, 'name');
  const number = numberAt(port, 'port') ?? 0;
  if (needsName && name === '') errors.push(required(`${field}.name`));
  if (name !== '') {
    errors.push(...dnsLabel(name).map((text) => invalidValue(`${field}.name`, name, text)));
    if (names.has(name)) errors.push(duplicateValue(`${field}.name`, name));
    names.add(name);
  }
  errors.push(...portNumber(number).map((text) => invalidValue(`${field}.port`, number, text)));
  const protocol = textAt(port, 'protocol');
  if (!['SCTP', 'TCP', 'UDP'].includes(protocol))
    errors.push(notSupported(`${field}.protocol`, protocol, ['SCTP', 'TCP', 'UDP']));
  errors.push(...portOrNameErrors(port['targetPort'], `${field}.targetPort`));
  const appProtocol = port['appProtocol'];
  if (typeof appProtocol === 'string')
    errors.push(...qualifiedName(appProtocol).map((text) => invalidValue(`${field}.appProtocol`, appProtocol, text)));
  return errors;
}

function affinityErrors(spec: JsonObject): FieldError[] {
  const affinity = textAt(spec, 'sessionAffinity');
  if (!['ClientIP', 'None'].includes(affinity))
    return [notSupported('spec.sessionAffinity', spec['sessionAffinity'], ['ClientIP', 'None'])];
  const seconds = numberAt(spec, 'sessionAffinityConfig', 'clientIP', 'timeoutSeconds') ?? 1;
  if (affinity === 'None' || (seconds > 0 && seconds <= DAY_SECONDS)) return [];
  const field = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds';
  return [invalidValue(field, seconds, `must be greater than 0 and less than ${DAY_SECONDS}`)];
}

function clusterIpErrors(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const families = textsAt(spec, 'ipFamilies');
  for (const [index, family] of families.entries()) {
    const field = `spec.ipFamilies[${index}]`;
    if (!['IPv4', 'IPv6'].includes(family)) errors.push(notSupported(field, family, ['IPv4', 'IPv6']));
    if (families.indexOf(family) < index) errors.push(duplicateValue(field, family));
  }
  const policy = textAt(spec, 'ipFamilyPolicy');
  const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
  if (policy !== '' && !policies.includes(policy)) errors.push(notSupported('spec.ipFamilyPolicy', policy, policies));
  const first = textAt(spec, 'clusterIP');
  const given = textsAt(spec, 'clusterIPs');
  const ips = given.length === 0 && first !== '' ? [first] : given;
  if (given.length > 0 && first !== '' && given[0] !== first)
    errors.push(invalidValue('spec.clusterIPs', given, 'first value must match `clusterIP`'));
  for (const [index, ip] of ips.entries())
    if (index > 0 || ip !== HEADLESS) errors.push(...ipErrors(`spec.clusterIPs[${index}]`, ip));
  return errors;
}

function repeatedPorts(ports: readonly JsonObject[], type: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const node = numberAt(port, 'nodePort') ?? 0;
    if (node !== 0 && type === 'ClusterIP')
      errors.push(forbiddenField(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
  }
  for (const [index, port] of ports.entries()) {
    const node = numberAt(port, 'nodePort') ?? 0;
    const identity = `node/${textAt(port, 'protocol')}/${node}`;
    if (node !== 0 && seen.has(identity)) errors.push(duplicateValue(`spec.ports[${index}].nodePort`, node));
    seen.add(identity);
  }
  for (const [index, port] of ports.entries()) {
    const [protocol, number] = [textAt(port, 'protocol'), numberAt(port, 'port') ?? 0];
    const identity = `${protocol}/${number}`;
    if (seen.has(identity)) {
      const shown = `{"Name":"","Protocol":"${protocol}","AppProtocol":null,"Port":${number},"TargetPort":0,"NodePort":0}`;
      const message = `Duplicate value: ${shown}`;
      errors.push({ reason: 'FieldValueDuplicate', field: `spec.ports[${index}]`, message });
    }
    seen.add(identity);
  }
  return errors;
}

function sourceRangeErrors(spec: JsonObject, type: string): FieldError[] {
  const field = 'spec.LoadBalancerSourceRanges';
  const ranges = textsAt(spec, 'loadBalancerSourceRanges');
  if (ranges.length === 0) return [];
  return [
    ...(type === 'LoadBalancer' ? [] : [onlyBalancer(field)]),
    ...ranges.flatMap((range, index) => cidrErrors(`${field}[${index}]`, range.trim())),
  ];
}

function trafficErrors(spec: JsonObject, type: string): FieldError[] {
  const errors: FieldError[] = [];
  const policies = ['Cluster', 'Local'];
  const external = textAt(spec, 'externalTrafficPolicy');
  const isReachable =
    type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && textsAt(spec, 'externalIPs').length > 0);
  const field = 'spec.externalTrafficPolicy';
  if (!isReachable && external !== '')
    errors.push(invalidValue(field, external, 'may only be set for externally-accessible services'));
  if (isReachable && !policies.includes(external)) errors.push(notSupported(field, external, policies));
  const health = numberAt(spec, 'healthCheckNodePort') ?? 0;
  if (health !== 0 && !(type === 'LoadBalancer' && external === 'Local')) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(invalidValue('spec.healthCheckNodePort', health, why));
  }
  const internal = textAt(spec, 'internalTrafficPolicy');
  if (internal !== '' && !policies.includes(internal))
    errors.push(notSupported('spec.internalTrafficPolicy', internal, policies));
  return errors;
}
