import type { JsonObject } from '../../codec/json.ts';
import { invalidValue, type FieldError } from '../status.ts';
import { numberAt, objectAt, objectsAt, textAt } from './access.ts';
import { containerErrors, imageErrors, initContainerErrors, supported } from './containerValidation.ts';
import { annotationErrors, labelErrors } from './metadata.ts';
import { dnsLabel, dnsSubdomain, type NameCheck } from './names.ts';
import {
  affinityErrors,
  dnsConfigErrors,
  hostAliasErrors,
  securityErrors,
  spreadErrors,
  tolerationErrors,
} from './podPlacement.ts';
import { volumeErrors } from './podVolumes.ts';

/** What is wrong with a pod template: its labels, annotations and spec. */
export function templateErrors(template: JsonObject, field: string): FieldError[] {
  return [
    ...labelErrors(objectAt(template, 'metadata', 'labels'), `${field}.labels`),
    ...annotationErrors(objectAt(template, 'metadata', 'annotations'), `${field}.annotations`),
    ...podSpecErrors(objectAt(template, 'spec'), `${field}.spec`),
  ];
}

/** What is wrong with the spec of a Pod itself, which may less than a template. */
export function podErrors(spec: JsonObject, field: string): FieldError[] {
  return [
    ...podSpecErrors(spec, field),
    ...imageErrors(objectsAt(spec, 'containers'), `${field}.containers`),
    ...imageErrors(objectsAt(spec, 'initContainers'), `${field}.initContainers`),
  ];
}

/** What is wrong with the spec of a pod, in the order in which the API server looks. */
export function podSpecErrors(spec: JsonObject, field: string): FieldError[] {
  const volumes = new Set<string>();
  const containers = objectsAt(spec, 'containers');
  return [
    ...volumeErrors(objectsAt(spec, 'volumes'), `${field}.volumes`, textAt(spec, 'serviceAccountName'), volumes),
    ...containerErrors(containers, `${field}.containers`, volumes),
    ...initContainerErrors(objectsAt(spec, 'initContainers'), containers, `${field}.initContainers`, volumes),
    ...supported(spec, 'restartPolicy', ['Always', 'OnFailure', 'Never'], field),
    ...supported(spec, 'dnsPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'], field),
    ...labelErrors(objectAt(spec, 'nodeSelector'), `${field}.nodeSelector`),
    ...securityErrors(objectAt(spec, 'securityContext'), `${field}.securityContext`),
    ...affinityErrors(objectAt(spec, 'affinity'), `${field}.affinity`),
    ...dnsConfigErrors(spec, `${field}.dnsConfig`),
    ...spreadErrors(objectsAt(spec, 'topologySpreadConstraints'), `${field}.topologySpreadConstraints`),
    ...nameErrors(textAt(spec, 'serviceAccountName'), `${field}.serviceAccountName`, dnsSubdomain),
    ...nameErrors(textAt(spec, 'nodeName'), `${field}.nodeName`, dnsSubdomain),
    ...deadlineErrors(spec, field),
    ...nameErrors(textAt(spec, 'hostname'), `${field}.hostname`, dnsLabel),
    ...nameErrors(textAt(spec, 'subdomain'), `${field}.subdomain`, dnsLabel),
    ...tolerationErrors(objectsAt(spec, 'tolerations'), `${field}.tolerations`),
    ...hostAliasErrors(objectsAt(spec, 'hostAliases'), `${field}.hostAliases`),
    ...nameErrors(textAt(spec, 'priorityClassName'), `${field}.priorityClassName`, dnsSubdomain),
    ...nameErrors(textAt(spec, 'runtimeClassName'), `${field}.runtimeClassName`, dnsSubdomain),
    ...supported(spec, 'preemptionPolicy', ['PreemptLowerPriority', 'Never'], field),
  ];
}

function deadlineErrors(spec: JsonObject, field: string): FieldError[] {
  const seconds = numberAt(spec, 'activeDeadlineSeconds');
  const isBad = seconds !== undefined && (seconds < 1 || seconds > 2 ** 31 - 1);
  return isBad
    ? [invalidValue(`${field}.activeDeadlineSeconds`, seconds, 'must be between 1 and 2147483647, inclusive')]
    : [];
}

function nameErrors(name: string, field: string, check: NameCheck): FieldError[] {
  return name === '' ? [] : check(name).map((text) => invalidValue(field, name, text));
}
