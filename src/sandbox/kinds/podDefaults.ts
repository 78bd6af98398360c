import type { JsonObject } from '../../codec/json.ts';
import { cloneJson, isJsonObject } from '../../codec/json.ts';
import { ensureObject, numberAt, objectAt, objectsAt, setDefault, textAt } from './access.ts';

const FILE_MODE = 0o644;
const TOKEN_SECONDS = 3600;

/** The defaults of a pod's spec, which templates get too. Source: the Pod page of the Kubernetes API reference. */
export function defaultPodSpec(spec: JsonObject): void {
  setDefault(spec, 'restartPolicy', 'Always');
  setDefault(spec, 'dnsPolicy', 'ClusterFirst');
  setDefault(spec, 'schedulerName', 'default-scheduler');
  setDefault(spec, 'terminationGracePeriodSeconds', 30);
  setDefault(spec, 'securityContext', {});
  mirrorServiceAccount(spec);
  for (const volume of objectsAt(spec, 'volumes')) defaultVolume(volume);
  for (const container of containersOf(spec)) defaultContainer(container);
}

/** The defaults that only Pods get: templates leave them to the Pods made of them. */
export function defaultPod(object: JsonObject): void {
  const spec = ensureObject(object, 'spec');
  defaultPodSpec(spec);
  setDefault(spec, 'enableServiceLinks', true);
  mirrorAddress(object['status']);
  for (const container of [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')]) {
    requestsFromLimits(container);
    if (spec['hostNetwork'] === true)
      for (const port of objectsAt(container, 'ports')) setDefault(port, 'hostPort', port['containerPort'] ?? 0);
  }
}

/** The first of a Pod's addresses has a field of its own, which wins where the two differ. */
function mirrorAddress(status: JsonObject[string] | undefined): void {
  if (!isJsonObject(status)) return;
  const own = textAt(status, 'podIP');
  const [first] = objectsAt(status, 'podIPs');
  if (own === '' && first !== undefined) status['podIP'] = first['ip'] ?? '';
  if (own !== '' && textAt(first, 'ip') !== own) status['podIPs'] = [{ ip: own }];
}

/** `serviceAccount` is the old name of `serviceAccountName`: both always say the same. */
function mirrorServiceAccount(spec: JsonObject): void {
  const name = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount');
  if (name === '') return;
  spec['serviceAccountName'] = name;
  spec['serviceAccount'] = name;
}

/** All containers of a pod: the usual, the initial and the ephemeral ones. */
export function containersOf(spec: JsonObject): JsonObject[] {
  return [
    ...objectsAt(spec, 'initContainers'),
    ...objectsAt(spec, 'containers'),
    ...objectsAt(spec, 'ephemeralContainers'),
  ];
}

function requestsFromLimits(container: JsonObject): void {
  const resources = objectAt(container, 'resources');
  const limits = resources['limits'];
  if (!isJsonObject(limits) || Object.keys(limits).length === 0) return;
  const requests = { ...cloneJson(limits), ...objectAt(resources, 'requests') };
  resources['requests'] = requests;
}

function defaultContainer(container: JsonObject): void {
  setDefault(container, 'terminationMessagePath', '/dev/termination-log');
  setDefault(container, 'terminationMessagePolicy', 'File');
  setDefault(container, 'imagePullPolicy', pullPolicy(textAt(container, 'image')));
  for (const port of objectsAt(container, 'ports')) setDefault(port, 'protocol', 'TCP');
  for (const env of objectsAt(container, 'env')) {
    const source = env['valueFrom'];
    if (isJsonObject(source) && isJsonObject(source['fieldRef'])) setDefault(source['fieldRef'], 'apiVersion', 'v1');
  }
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe'])
    if (isJsonObject(container[probe])) defaultProbe(container[probe]);
  for (const hook of ['postStart', 'preStop']) defaultHttpGet(objectAt(container, 'lifecycle', hook));
  const resources = objectAt(container, 'resources');
  for (const list of ['limits', 'requests'])
    if (isJsonObject(resources[list]) && Object.keys(resources[list]).length === 0) delete resources[list];
}

/** A reference to an image; what is none is taken for one with a tag. */
const IMAGE =
  /^(?:[a-zA-Z0-9][a-zA-Z0-9.-]*(?::\d+)?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?(?:@.+)?$/;

/** `latest`, said or left out, is pulled always. */
function pullPolicy(image: string): string {
  const withoutDigest = image.split('@')[0] ?? '';
  if (image.includes('@') || !IMAGE.test(image)) return 'IfNotPresent';
  const tag = /:([^/:]+)$/.exec(withoutDigest)?.[1];
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function defaultProbe(probe: JsonObject): void {
  const numbers = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  for (const [name, value] of Object.entries(numbers)) if ((numberAt(probe, name) ?? 0) === 0) probe[name] = value;
  defaultHttpGet(probe);
  const grpc = probe['grpc'];
  if (isJsonObject(grpc)) setDefault(grpc, 'service', '');
}

function defaultHttpGet(handler: JsonObject): void {
  const request = handler['httpGet'];
  if (!isJsonObject(request)) return;
  setDefault(request, 'path', '/');
  setDefault(request, 'scheme', 'HTTP');
}

function defaultVolume(volume: JsonObject): void {
  const sources = Object.keys(volume).filter((name) => name !== 'name');
  if (sources.length === 0) volume['emptyDir'] = {};
  for (const name of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    const source = volume[name];
    if (isJsonObject(source)) setDefault(source, 'defaultMode', FILE_MODE);
  }
  if (isJsonObject(volume['hostPath'])) volume['hostPath']['type'] ??= '';
  for (const source of objectsAt(volume, 'projected', 'sources')) {
    if (isJsonObject(source['serviceAccountToken']))
      setDefault(source['serviceAccountToken'], 'expirationSeconds', TOKEN_SECONDS);
    for (const item of objectsAt(source, 'downwardAPI', 'items')) defaultFieldRef(item);
  }
  for (const item of objectsAt(volume, 'downwardAPI', 'items')) defaultFieldRef(item);
  const claim = objectAt(volume, 'ephemeral', 'volumeClaimTemplate')['spec'];
  if (isJsonObject(claim)) setDefault(claim, 'volumeMode', 'Filesystem');
}

function defaultFieldRef(item: JsonObject): void {
  if (isJsonObject(item['fieldRef'])) setDefault(item['fieldRef'], 'apiVersion', 'v1');
}
