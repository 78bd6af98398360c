import type { JsonObject } from '../../codec/json.ts';
import { compareQuantities, parseQuantity } from '../schema/quantity.ts';
import { plainText } from '../schema/plainText.ts';
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
import { envErrors, envFromErrors } from './envValidation.ts';
import { dnsLabel, portName, portNumber } from './names.ts';
import { idErrors } from './podPlacement.ts';
import { descendingPathErrors } from './podVolumes.ts';
import { probeErrors } from './probeValidation.ts';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'];
const INIT_ONLY_ALWAYS = 'may not be set for init containers without restartPolicy=Always';

/** What is wrong with the containers of a pod; `volumes` are the names that can be mounted. */
export function containerErrors(
  containers: readonly JsonObject[],
  field: string,
  volumes: ReadonlySet<string>,
): FieldError[] {
  if (containers.length === 0) return [required(field)];
  const names = new Set<string>();
  const errors = containers.flatMap((container, index) => {
    const place = `${field}[${index}]`;
    const own = commonErrors(container, place, volumes);
    const name = textAt(container, 'name');
    if (names.has(name)) own.push(duplicateValue(`${place}.name`, name));
    names.add(name);
    for (const probe of PROBES) own.push(...probeErrors(container[probe], `${place}.${probe}`));
    return own;
  });
  return [...errors, ...hostPortConflicts(containers, field)];
}

/** What is wrong with init containers, whose names must differ from those of the others. */
export function initContainerErrors(
  containers: readonly JsonObject[],
  others: readonly JsonObject[],
  field: string,
  volumes: ReadonlySet<string>,
): FieldError[] {
  const names = new Set(others.map((container) => textAt(container, 'name')));
  return containers.flatMap((container, index) => {
    const place = `${field}[${index}]`;
    const errors = commonErrors(container, place, volumes);
    const name = textAt(container, 'name');
    if (names.has(name)) errors.push(duplicateValue(`${place}.name`, name));
    else if (name !== '') names.add(name);
    errors.push(...hostPortConflicts([container], field));
    const isSidecar = textAt(container, 'restartPolicy') === 'Always';
    if (!isSidecar && container['lifecycle'] !== undefined)
      errors.push(forbiddenField(`${place}.lifecycle`, INIT_ONLY_ALWAYS));
    for (const probe of PROBES) {
      if (isSidecar) errors.push(...probeErrors(container[probe], `${place}.${probe}`));
      else if (container[probe] !== undefined) errors.push(forbiddenField(`${place}.${probe}`, INIT_ONLY_ALWAYS));
    }
    return errors;
  });
}

/** What a Pod's images may not have, and a template's may. */
export function imageErrors(containers: readonly JsonObject[], field: string): FieldError[] {
  return containers.flatMap((container, index) => {
    const image = textAt(container, 'image');
    return image.trim() === image
      ? []
      : [invalidValue(`${field}[${index}].image`, image, 'must not have leading or trailing whitespace')];
  });
}

function commonErrors(container: JsonObject, place: string, volumes: ReadonlySet<string>): FieldError[] {
  const name = textAt(container, 'name');
  const errors =
    name === '' ? [required(`${place}.name`)] : dnsLabel(name).map((text) => invalidValue(`${place}.name`, name, text));
  if (textAt(container, 'image') === '') errors.push(required(`${place}.image`));
  const security = objectAt(container, 'securityContext');
  return [
    ...errors,
    ...supported(container, 'terminationMessagePolicy', ['File', 'FallbackToLogsOnError'], place),
    ...portErrors(objectsAt(container, 'ports'), `${place}.ports`),
    ...envErrors(objectsAt(container, 'env'), `${place}.env`),
    ...envFromErrors(objectsAt(container, 'envFrom'), `${place}.envFrom`),
    ...mountErrors(objectsAt(container, 'volumeMounts'), `${place}.volumeMounts`, volumes),
    ...supported(container, 'imagePullPolicy', ['Always', 'IfNotPresent', 'Never'], place),
    ...resourceErrors(objectAt(container, 'resources'), `${place}.resources`),
    ...['runAsUser', 'runAsGroup'].flatMap((id) => idErrors(numberAt(security, id), `${place}.securityContext.${id}`)),
  ];
}

/** The error of a text that is none of those allowed; an empty one is somebody else's matter. */
export function supported(parent: JsonObject, name: string, values: readonly string[], field: string): FieldError[] {
  const value = textAt(parent, name);
  if (value === '') return [];
  return values.includes(value) ? [] : [notSupported(`${field}.${name}`, value, values)];
}

function portErrors(ports: readonly JsonObject[], field: string): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const place = `${field}[${index}]`;
    const name = textAt(port, 'name');
    const number = numberAt(port, 'containerPort') ?? 0;
    const host = numberAt(port, 'hostPort') ?? 0;
    const wrong = name === '' ? [] : portName(name);
    const errors: FieldError[] = wrong.map((text) => invalidValue(`${place}.name`, name, text));
    if (name !== '' && wrong.length === 0 && names.has(name)) errors.push(duplicateValue(`${place}.name`, name));
    else names.add(name);
    if (number === 0) errors.push(required(`${place}.containerPort`));
    else errors.push(...portNumber(number).map((text) => invalidValue(`${place}.containerPort`, number, text)));
    if (host !== 0) errors.push(...portNumber(host).map((text) => invalidValue(`${place}.hostPort`, host, text)));
    return [...errors, ...supported(port, 'protocol', PROTOCOLS, place)];
  });
}

function hostPortConflicts(containers: readonly JsonObject[], field: string): FieldError[] {
  const taken = new Set<string>();
  return containers.flatMap((container, index) =>
    objectsAt(container, 'ports').flatMap((port, position) => {
      const host = numberAt(port, 'hostPort') ?? 0;
      const identity = `${textAt(port, 'protocol')}/${textAt(port, 'hostIP')}/${host}`;
      const isTaken = host !== 0 && taken.has(identity);
      taken.add(identity);
      return isTaken ? [duplicateValue(`${field}[${index}].ports[${position}].hostPort`, identity)] : [];
    }),
  );
}

function mountErrors(mounts: readonly JsonObject[], field: string, volumes: ReadonlySet<string>): FieldError[] {
  const paths = new Set<string>();
  return mounts.flatMap((mount, index) => {
    const place = `${field}[${index}]`;
    const [name, path, subPath] = [textAt(mount, 'name'), textAt(mount, 'mountPath'), textAt(mount, 'subPath')];
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${place}.name`));
    if (!volumes.has(name)) errors.push(notFoundField(`${place}.name`, name));
    if (path === '') errors.push(required(`${place}.mountPath`));
    if (paths.has(path)) errors.push(invalidValue(`${place}.mountPath`, path, 'must be unique'));
    paths.add(path);
    if (subPath !== '') errors.push(...descendingPathErrors(subPath, `${field}.subPath`));
    return errors;
  });
}

/** `Not found: "x"`. */
function notFoundField(field: string, value: string): FieldError {
  return { reason: 'FieldValueNotFound', field, message: `Not found: ${shownValue(value)}` };
}

function resourceErrors(resources: JsonObject, field: string): FieldError[] {
  const limits = objectAt(resources, 'limits');
  const errors: FieldError[] = [];
  for (const kind of ['limits', 'requests']) {
    for (const [name, value] of Object.entries(objectAt(resources, kind))) {
      const place = `${field}.${kind}[${name}]`;
      const quantity = parseQuantity(plainText(value));
      if (quantity !== undefined && quantity.nanos < 0n)
        errors.push(invalidValue(place, value, 'must be greater than or equal to 0'));
      if (quantity !== undefined && name.includes('/') && quantity.nanos % 1_000_000_000n !== 0n)
        errors.push(invalidValue(place, value, 'must be an integer'));
      if (!name.includes('/') && !/^(cpu|memory|ephemeral-storage|storage|hugepages-.+)$/.test(name)) {
        errors.push(invalidValue(place, name, 'must be a standard resource type or fully qualified'));
        errors.push(invalidValue(place, name, 'must be a standard resource for containers'));
      }
    }
  }
  for (const [name, value] of Object.entries(objectAt(resources, 'requests'))) {
    const mayDiffer = !name.includes('/') && !name.startsWith('hugepages-');
    const [asked, limit] = [parseQuantity(plainText(value)), parseQuantity(plainText(limits[name] ?? ''))];
    if (limit === undefined) {
      if (!mayDiffer) errors.push(required(`${field}.limits`, 'Limit must be set for non overcommitable resources'));
      continue;
    }
    if (asked === undefined) continue;
    const order = compareQuantities(asked, limit);
    const relation = mayDiffer ? 'less than or equal to' : 'equal to';
    if (mayDiffer ? order > 0 : order !== 0) {
      const why = `must be ${relation} ${name} limit of ${plainText(limits[name])}`;
      errors.push(invalidValue(`${field}.requests`, value, why));
    }
  }
  return errors;
}
