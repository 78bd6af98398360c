import type { JsonObject } from '../../codec/json.ts';
import { isJsonObject } from '../../codec/json.ts';
import { forbiddenField, invalidValue, notSupported, required, type FieldError } from '../status.ts';
import { numberAt, objectAt, textAt } from './access.ts';
import { portName, portNumber } from './names.ts';

const NUMBERS = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];

/** What is wrong with a probe; its name is the end of `field`. */
export function probeErrors(probe: JsonObject[string] | undefined, field: string): FieldError[] {
  if (!isJsonObject(probe)) return [];
  const errors = handlerErrors(probe, field);
  for (const name of NUMBERS) errors.push(...nonNegative(numberAt(probe, name), `${field}.${name}`));
  const grace = numberAt(probe, 'terminationGracePeriodSeconds');
  const graceField = `${field}.terminationGracePeriodSeconds`;
  if (grace !== undefined && grace <= 0) errors.push(invalidValue(graceField, grace, 'must be greater than 0'));
  if (field.endsWith('readinessProbe')) {
    if (grace !== undefined) errors.push(invalidValue(graceField, grace, 'must not be set for readinessProbes'));
  } else if (numberAt(probe, 'successThreshold') !== 1) {
    errors.push(invalidValue(`${field}.successThreshold`, probe['successThreshold'] ?? 0, 'must be 1'));
  }
  return errors;
}

/** The error of a number below zero. */
export function nonNegative(value: number | undefined, field: string): FieldError[] {
  return value !== undefined && value < 0 ? [invalidValue(field, value, 'must be greater than or equal to 0')] : [];
}

/** What is wrong with a port given by number or name. */
export function portOrNameErrors(port: JsonObject[string] | undefined, field: string): FieldError[] {
  if (typeof port === 'string') return portName(port).map((text) => invalidValue(field, port, text));
  const number = typeof port === 'number' || typeof port === 'bigint' ? Number(port) : 0;
  return portNumber(number).map((text) => invalidValue(field, number, text));
}

function handlerErrors(probe: JsonObject, field: string): FieldError[] {
  const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'].filter((name) => isJsonObject(probe[name]));
  const [first, ...more] = handlers;
  if (first === undefined) return [required(field, 'must specify a handler type')];
  return [
    ...oneHandlerErrors(first, objectAt(probe, first), `${field}.${first}`),
    ...more.map((extra) => forbiddenField(`${field}.${extra}`, 'may not specify more than 1 handler type')),
  ];
}

function oneHandlerErrors(kind: string, handler: JsonObject, field: string): FieldError[] {
  if (kind === 'exec') {
    const command = handler['command'];
    return Array.isArray(command) && command.length > 0 ? [] : [required(`${field}.command`)];
  }
  const errors = portOrNameErrors(handler['port'], `${field}.port`);
  if (kind !== 'httpGet') return errors;
  const scheme = textAt(handler, 'scheme');
  const schemes = ['HTTP', 'HTTPS'];
  return schemes.includes(scheme) ? errors : [...errors, notSupported(`${field}.scheme`, scheme, schemes)];
}
