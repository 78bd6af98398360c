import type { JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { compareQuantities, parseQuantity } from '../schema/quantity.ts';
import {
  duplicateValue,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  shownValue,
  type FieldError,
} from '../status.ts';
import { numberAt, objectAt, objectsAt, textAt } from './access.ts';
import { annotationErrors, labelErrors } from './metadata.ts';
import { dnsLabel, dnsSubdomain, envName, portName, portNumber } from './names.ts';
import { plainText } from '../schema/plainText.ts';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

/** `Not found: "x"`. */
function notFoundField(field: string, value: string): FieldError {
  return { reason: 'FieldValueNotFound', field, message: `Not found: ${shownValue(value)}` };
}

/** The error of a number below zero. */
export function nonNegative(value: number | undefined, field: string): FieldError[] {
  return value !== undefined && value < 0 ? [invalidValue(field, value, 'must be greater than or equal to 0')] : [];
}

/** What is wrong with a pod template: its labels, annotations and spec. */
export function templateErrors(template: JsonObject, field: string): FieldError[] {
  return [
    ...labelErrors(objectAt(template, 'metadata', 'labels'), `${field}.labels`),
    ...annotationErrors(objectAt(template, 'metadata', 'annotations'), `${field}.annotations`),
    ...podSpecErrors(objectAt(template, 'spec'), `${field}.spec`),
  ];
}

/** What is wrong with the spec of a pod. */
export function podSpecErrors(spec: JsonObject, field: string): FieldError[] {
  const volumes = objectsAt(spec, 'volumes');
  const volumeNames = new Set<string>();
  const seen = new Set<string>();
  return [
    ...volumeErrors(volumes, `${field}.volumes`, textAt(spec, 'serviceAccountName'), volumeNames),
    ...containerListErrors(objectsAt(spec, 'containers'), `${field}.containers`, volumeNames, seen, true),
    ...containerListErrors(objectsAt(spec, 'initContainers'), `${field}.initContainers`, volumeNames, seen, false),
    ...supported(spec, 'restartPolicy', ['Always', 'OnFailure', 'Never'], field),
    ...supported(spec, 'dnsPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'], field),
    ...labelErrors(objectAt(spec, 'nodeSelector'), `${field}.nodeSelector`),
    ...nameErrors(textAt(spec, 'serviceAccountName'), `${field}.serviceAccountName`, dnsSubdomain),
    ...nameErrors(textAt(spec, 'nodeName'), `${field}.nodeName`, dnsSubdomain),
    ...nameErrors(textAt(spec, 'hostname'), `${field}.hostname`, dnsLabel),
    ...nameErrors(textAt(spec, 'subdomain'), `${field}.subdomain`, dnsLabel),
    ...deadlineErrors(spec, field),
  ];
}

function deadlineErrors(spec: JsonObject, field: string): FieldError[] {
  const seconds = numberAt(spec, 'activeDeadlineSeconds');
  const isBad = seconds !== undefined && (seconds < 1 || seconds > 2 ** 31 - 1);
  return isBad
    ? [invalidValue(`${field}.activeDeadlineSeconds`, seconds, 'must be between 1 and 2147483647, inclusive')]
    : [];
}

function nameErrors(name: string, field: string, check: (text: string) => string[]): FieldError[] {
  return name === '' ? [] : check(name).map((text) => invalidValue(field, name, text));
}

function supported(parent: JsonObject, name: string, values: readonly string[], field: string): FieldError[] {
  const value = textAt(parent, name);
  if (value === '') return [];
  return values.includes(value) ? [] : [notSupported(`${field}.${name}`, value, values)];
}

/** Errors of volumes; the names of those without any are added to `valid`: only they can be mounted. */
function volumeErrors(
  volumes: readonly JsonObject[],
  field: string,
  serviceAccount: string,
  valid: Set<string>,
): FieldError[] {
  return volumes.flatMap((volume, index) => {
    const place = `${field}[${index}]`;
    const name = textAt(volume, 'name');
    const errors: FieldError[] = [];
    const sources = Object.keys(volume).filter((key) => key !== 'name');
    if (sources.length > 1)
      for (const source of sources.slice(1))
        errors.push(forbiddenField(`${place}.${source}`, 'may not specify more than 1 volume type'));
    if (name === '') errors.push(required(`${place}.name`));
    else errors.push(...dnsLabel(name).map((text) => invalidValue(`${place}.name`, name, text)));
    if (valid.has(name)) errors.push(duplicateValue(`${place}.name`, name));
    if (isJsonObject(volume['persistentVolumeClaim']) && textAt(volume, 'persistentVolumeClaim', 'claimName') === '') {
      errors.push(required(`${place}.persistentVolumeClaim.claimName`));
    }
    if (isJsonObject(volume['secret']) && textAt(volume, 'secret', 'secretName') === '')
      errors.push(required(`${place}.secret.secretName`));
    if (isJsonObject(volume['configMap']) && textAt(volume, 'configMap', 'name') === '')
      errors.push(required(`${place}.configMap.name`));
    if (isJsonObject(volume['hostPath']) && textAt(volume, 'hostPath', 'path') === '')
      errors.push(required(`${place}.hostPath.path`));
    for (const [position, source] of objectsAt(volume, 'projected', 'sources').entries()) {
      if (!isJsonObject(source['serviceAccountToken']) || serviceAccount !== '') continue;
      const token = `${place}.projected.sources[${position}].serviceAccountToken`;
      errors.push(forbiddenField(token, 'must not be specified when serviceAccountName is not set'));
    }
    if (errors.length === 0) valid.add(name);
    return errors;
  });
}

function containerListErrors(
  containers: readonly JsonObject[],
  field: string,
  volumes: ReadonlySet<string>,
  seen: Set<string>,
  mustExist: boolean,
): FieldError[] {
  if (containers.length === 0) return mustExist ? [required(field)] : [];
  const ports = new Set<string>();
  return containers.flatMap((container, index) => {
    const place = `${field}[${index}]`;
    const name = textAt(container, 'name');
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${place}.name`));
    else errors.push(...dnsLabel(name).map((text) => invalidValue(`${place}.name`, name, text)));
    if (name !== '' && seen.has(name)) errors.push(duplicateValue(`${place}.name`, name));
    seen.add(name);
    return [...errors, ...containerErrors(container, place, volumes, ports)];
  });
}

function containerErrors(
  container: JsonObject,
  place: string,
  volumes: ReadonlySet<string>,
  hostPorts: Set<string>,
): FieldError[] {
  const image = textAt(container, 'image');
  const errors: FieldError[] = [];
  if (image === '') errors.push(required(`${place}.image`));
  else if (image.trim() !== image)
    errors.push(invalidValue(`${place}.image`, image, 'must not have leading or trailing whitespace'));
  return [
    ...errors,
    ...supported(container, 'terminationMessagePolicy', ['File', 'FallbackToLogsOnError'], place),
    ...supported(container, 'imagePullPolicy', ['Always', 'IfNotPresent', 'Never'], place),
    ...portErrors(objectsAt(container, 'ports'), `${place}.ports`, hostPorts),
    ...envErrors(objectsAt(container, 'env'), `${place}.env`),
    ...mountErrors(objectsAt(container, 'volumeMounts'), `${place}.volumeMounts`, volumes),
    ...resourceErrors(objectAt(container, 'resources'), `${place}.resources`),
    ...['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((name) =>
      probeErrors(container[name], `${place}.${name}`),
    ),
  ];
}

function portErrors(ports: readonly JsonObject[], field: string, hostPorts: Set<string>): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const place = `${field}[${index}]`;
    const name = textAt(port, 'name');
    const number = numberAt(port, 'containerPort') ?? 0;
    const host = numberAt(port, 'hostPort') ?? 0;
    const errors: FieldError[] = [];
    if (name !== '') errors.push(...portName(name).map((text) => invalidValue(`${place}.name`, name, text)));
    if (name !== '' && names.has(name)) errors.push(duplicateValue(`${place}.name`, name));
    names.add(name);
    if (number === 0) errors.push(required(`${place}.containerPort`));
    else errors.push(...portNumber(number).map((text) => invalidValue(`${place}.containerPort`, number, text)));
    if (host !== 0) errors.push(...portNumber(host).map((text) => invalidValue(`${place}.hostPort`, host, text)));
    const taken = `${textAt(port, 'protocol')}/${textAt(port, 'hostIP')}/${host}`;
    if (host !== 0 && hostPorts.has(taken))
      errors.push(duplicateValue(`${place}.hostPort`, `${textAt(port, 'protocol')}//${host}`));
    hostPorts.add(taken);
    return [...errors, ...supported(port, 'protocol', PROTOCOLS, place)];
  });
}

function envErrors(list: readonly JsonObject[], field: string): FieldError[] {
  return list.flatMap((env, index) => {
    const place = `${field}[${index}]`;
    const name = textAt(env, 'name');
    const errors =
      name === ''
        ? [required(`${place}.name`)]
        : envName(name).map((text) => invalidValue(`${place}.name`, name, text));
    const source = env['valueFrom'];
    if (!isJsonObject(source)) return errors;
    if (textAt(env, 'value') !== '')
      errors.push(invalidValue(`${place}.valueFrom`, '', 'may not be specified when `value` is not empty'));
    if (Object.keys(source).length === 0) {
      errors.push(
        invalidValue(
          `${place}.valueFrom`,
          '',
          'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
        ),
      );
    }
    if (Object.keys(source).length > 1)
      errors.push(invalidValue(`${place}.valueFrom`, '', 'may not have more than one field specified at a time'));
    return errors;
  });
}

function mountErrors(mounts: readonly JsonObject[], field: string, volumes: ReadonlySet<string>): FieldError[] {
  const paths = new Set<string>();
  return mounts.flatMap((mount, index) => {
    const place = `${field}[${index}]`;
    const name = textAt(mount, 'name');
    const path = textAt(mount, 'mountPath');
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${place}.name`));
    if (!volumes.has(name)) errors.push(notFoundField(`${place}.name`, name));
    if (path === '') errors.push(required(`${place}.mountPath`));
    if (paths.has(path)) errors.push(invalidValue(`${place}.mountPath`, path, 'must be unique'));
    paths.add(path);
    return errors;
  });
}

function resourceErrors(resources: JsonObject, field: string): FieldError[] {
  const limits = objectAt(resources, 'limits');
  const errors: FieldError[] = [];
  for (const kind of ['limits', 'requests']) {
    for (const [name, value] of Object.entries(objectAt(resources, kind))) {
      const quantity = parseQuantity(plainText(value));
      if (quantity !== undefined && quantity.nanos < 0n)
        errors.push(invalidValue(`${field}.${kind}[${name}]`, value, 'must be greater than or equal to 0'));
      if (!name.includes('/') && !/^(cpu|memory|ephemeral-storage|storage|hugepages-.+)$/.test(name)) {
        errors.push(
          invalidValue(`${field}.${kind}[${name}]`, name, 'must be a standard resource type or fully qualified'),
        );
        errors.push(invalidValue(`${field}.${kind}[${name}]`, name, 'must be a standard resource for containers'));
      }
    }
  }
  for (const [name, value] of Object.entries(objectAt(resources, 'requests'))) {
    const [asked, limit] = [parseQuantity(plainText(value)), parseQuantity(plainText(limits[name] ?? ''))];
    if (asked === undefined || limit === undefined || compareQuantities(asked, limit) <= 0) continue;
    errors.push(
      invalidValue(
        `${field}.requests`,
        value,
        `must be less than or equal to ${name} limit of ${plainText(limits[name])}`,
      ),
    );
  }
  return errors;
}

function probeErrors(probe: JsonObject[string] | undefined, field: string): FieldError[] {
  if (!isJsonObject(probe)) return [];
  const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'].filter((name) => probe[name] !== undefined);
  const errors: FieldError[] = [];
  if (handlers.length === 0) errors.push(required(field, 'must specify a handler type'));
  for (const extra of handlers.slice(1))
    errors.push(forbiddenField(`${field}.${extra}`, 'may not specify more than 1 handler type'));
  for (const name of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ]) {
    errors.push(...nonNegative(numberAt(probe, name), `${field}.${name}`));
  }
  return errors;
}
