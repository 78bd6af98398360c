import { autoscalerKind, autoscalerV1Kind } from './autoscaling.ts';
import { cronJobKind, jobKind } from './batch.ts';
import { configMapKind, endpointsKind, namespaceKind, nodeKind, secretKind, serviceAccountKind } from './core.ts';
import { crdKind } from './crd.ts';
import type { Kind } from './kind.ts';
import { endpointSliceKind, eventKind, leaseKind, newEventKind } from './others.ts';
import { podKind } from './pods.ts';
import { rbacKinds } from './rbac.ts';
import { serviceKind } from './services.ts';
import { claimKind, volumeKind } from './volumes.ts';
import { statefulSetKind } from './statefulSet.ts';
import { controllerRevisionKind, daemonSetKind, deploymentKind, replicaSetKind } from './workloads.ts';

/** Every built-in kind that the sandbox serves, in each version. */
export function builtInKinds(): Kind[] {
  return [
    namespaceKind(),
    configMapKind(),
    secretKind(),
    serviceKind(),
    podKind(),
    serviceAccountKind(),
    eventKind(),
    endpointsKind(),
    nodeKind(),
    volumeKind(),
    claimKind(),
    deploymentKind(),
    replicaSetKind(),
    statefulSetKind(),
    daemonSetKind(),
    controllerRevisionKind(),
    jobKind(),
    cronJobKind(),
    autoscalerKind(),
    autoscalerV1Kind(),
    ...rbacKinds(),
    leaseKind(),
    endpointSliceKind(),
    newEventKind(),
    crdKind(),
  ];
}
