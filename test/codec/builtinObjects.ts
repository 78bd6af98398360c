import type { JsonObject } from '../../src/codec/json.ts';

/** A certificate request for the name `demo`. */
const CERTIFICATE_REQUEST =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISU1IRUNBUUF3RHpFTk1Bc0dBMVVFQXd3RVpHVnRiekJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSApBMElBQkJrOCtuSmhoaFVjc2tTaHlFV201bDZjSy8rcE5MeGNST1V3U0pvU25wRmt0cXhzM0tSWnJqMWZwRE5JCjFWZzUxMnN5RWVteXJaazhaY3dnRDMzWktqR2dBREFLQmdncWhrak9QUVFEQWdOSEFEQkVBaUFKN0doc0RpN0YKNTZHYjZrUm00aWpRL2lpb2p5YWhzMU5DdDNSMVljZEE1QUlnSENyVTk1UlRlcUhRbmhJUWYvdE1yTUFjQXpTOApxaTNaN1JjSyt4NlpQMGc9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';

const meta = (name: string): JsonObject => ({
  name,
  labels: { app: 'demo' },
  annotations: { note: 'über' },
  finalizers: ['a.test/x'],
});
const template: JsonObject = {
  metadata: { labels: { app: 'demo' } },
  spec: {
    restartPolicy: 'Always',
    serviceAccountName: 'default',
    volumes: [
      { name: 'a', configMap: { name: 'x', defaultMode: 256, items: [{ key: 'k', path: 'p' }] } },
      { name: 'b', emptyDir: { sizeLimit: '1500Mi' } },
      {
        name: 'c',
        projected: {
          sources: [
            { serviceAccountToken: { path: 't', expirationSeconds: 3600 } },
            { downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
          ],
        },
      },
      { name: 'd', hostPath: { path: '/tmp' } },
    ],
    containers: [
      {
        name: 'web',
        image: 'web:1',
        ports: [{ containerPort: 80, name: 'http' }],
        env: [
          { name: 'A', value: '1' },
          { name: 'B', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
        ],
        resources: { requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: 1, memory: '1Gi' } },
        livenessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 5 },
        readinessProbe: { tcpSocket: { port: 80 } },
        securityContext: { runAsUser: 1000, capabilities: { drop: ['ALL'] }, allowPrivilegeEscalation: false },
        volumeMounts: [{ name: 'a', mountPath: '/a', readOnly: true }],
        lifecycle: { preStop: { exec: { command: ['true'] } } },
      },
    ],
    tolerations: [{ key: 'x', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] }],
        },
      },
    },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'zone',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { app: 'demo' } },
      },
    ],
  },
};
const podSpec = template['spec'] as JsonObject;
const selector: JsonObject = { matchLabels: { app: 'demo' } };
const webhook = (name: string): JsonObject => ({
  name,
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  failurePolicy: 'Ignore',
  clientConfig: { url: 'https://127.0.0.1:1/none', caBundle: 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUI=' },
  rules: [{ apiGroups: ['none.test'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nones'] }],
});

/** One object of every built-in kind that a bare API server accepts, with fields of every type of the wire. */
export const builtinObjects: readonly { readonly path: string; readonly object: JsonObject }[] = [
  core('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' }, binaryData: { b: 'AAEC/w==' } }),
  core('secrets', { apiVersion: 'v1', kind: 'Secret', stringData: { a: 'b' }, immutable: false }),
  core('services', {
    apiVersion: 'v1',
    kind: 'Service',
    spec: {
      selector: { app: 'demo' },
      ports: [
        { name: 'http', port: 80, targetPort: 'http' },
        { name: 'x', port: 81, targetPort: 8080 },
      ],
    },
  }),
  core('serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', automountServiceAccountToken: false }),
  core('pods', { apiVersion: 'v1', kind: 'Pod', spec: podSpec }),
  core('replicationcontrollers', {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    spec: { selector: { app: 'demo' }, template },
  }),
  core('podtemplates', { apiVersion: 'v1', kind: 'PodTemplate', template }),
  core('endpoints', {
    apiVersion: 'v1',
    kind: 'Endpoints',
    subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }],
  }),
  core('limitranges', {
    apiVersion: 'v1',
    kind: 'LimitRange',
    spec: { limits: [{ type: 'Container', max: { cpu: '2' }, default: { cpu: '500m' } }] },
  }),
  core('resourcequotas', {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    spec: { hard: { 'count/widgets.example.test': '10' } },
  }),
  core('persistentvolumeclaims', {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }),
  core('events', {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'x' },
    reason: 'X',
    message: 'y',
    eventTime: '2026-01-02T03:04:05.123456Z',
    reportingComponent: 'a.test/c',
    reportingInstance: 'i',
    action: 'Do',
    type: 'Normal',
  }),
  cluster('/api/v1/persistentvolumes', {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      hostPath: { path: '/tmp/x' },
      claimRef: { namespace: 'default', name: 'x' },
    },
  }),
  cluster('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }),
  cluster('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace' }),
  named('apps/v1', 'deployments', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    spec: { selector, template, strategy: { rollingUpdate: { maxSurge: '30%', maxUnavailable: 1 } } },
  }),
  named('apps/v1', 'statefulsets', {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    spec: {
      selector,
      template,
      serviceName: 'x',
      volumeClaimTemplates: [
        {
          metadata: { name: 'v' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  }),
  named('apps/v1', 'daemonsets', { apiVersion: 'apps/v1', kind: 'DaemonSet', spec: { selector, template } }),
  named('apps/v1', 'replicasets', { apiVersion: 'apps/v1', kind: 'ReplicaSet', spec: { selector, template } }),
  named('apps/v1', 'controllerrevisions', {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    revision: 9007199254740993n,
    data: { spec: { a: 1 } },
  }),
  named('batch/v1', 'jobs', {
    apiVersion: 'batch/v1',
    kind: 'Job',
    spec: { template: { ...template, spec: { ...podSpec, restartPolicy: 'Never' } } },
  }),
  named('batch/v1', 'cronjobs', {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    spec: {
      schedule: '* * * * *',
      jobTemplate: { spec: { template: { ...template, spec: { ...podSpec, restartPolicy: 'Never' } } } },
    },
  }),
  named('coordination.k8s.io/v1', 'leases', {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    spec: { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: '2026-01-02T03:04:05.123456Z' },
  }),
  named('autoscaling/v2', 'horizontalpodautoscalers', {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { kind: 'Deployment', name: 'x', apiVersion: 'apps/v1' },
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
    },
  }),
  named('networking.k8s.io/v1', 'ingresses', {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    spec: {
      rules: [
        {
          host: 'a.test',
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'x', port: { number: 80 } } } }],
          },
        },
      ],
    },
  }),
  named('networking.k8s.io/v1', 'networkpolicies', {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    spec: {
      podSelector: {},
      ingress: [{ ports: [{ port: 'http' }], from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }] }],
    },
  }),
  named('policy/v1', 'poddisruptionbudgets', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    spec: { minAvailable: '50%', selector },
  }),
  named('discovery.k8s.io/v1', 'endpointslices', {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready: true } }],
    ports: [{ port: 80, name: '' }],
  }),
  named('rbac.authorization.k8s.io/v1', 'roles', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  }),
  named('rbac.authorization.k8s.io/v1', 'rolebindings', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'x' },
    subjects: [{ kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' }],
  }),
  cluster('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    rules: null,
    aggregationRule: { clusterRoleSelectors: [selector] },
  }),
  cluster('/apis/storage.k8s.io/v1/storageclasses', {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    provisioner: 'a.test/p',
    parameters: { a: 'b' },
  }),
  cluster('/apis/storage.k8s.io/v1/csidrivers', { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', spec: {} }),
  cluster('/apis/scheduling.k8s.io/v1/priorityclasses', {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    value: -7,
  }),
  cluster('/apis/node.k8s.io/v1/runtimeclasses', { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', handler: 'h' }),
  cluster('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    webhooks: [webhook('a.b.test')],
  }),
  cluster('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    webhooks: [webhook('a.b.test')],
  }),
  cluster('/apis/certificates.k8s.io/v1/certificatesigningrequests', {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    spec: { signerName: 'a.test/s', usages: ['client auth'], request: CERTIFICATE_REQUEST },
  }),
  {
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    object: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'wires.wire.test' },
      spec: {
        group: 'wire.test',
        scope: 'Namespaced',
        names: { plural: 'wires', singular: 'wire', kind: 'Wire', listKind: 'WireList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: {
              status: {},
              scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
            },
            additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a' }],
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    properties: {
                      a: { type: 'string', default: 'x', enum: ['x', 'y'] },
                      replicas: { type: 'integer', minimum: 0, maximum: 1.5e3 },
                      m: { type: 'object', additionalProperties: { type: 'string' } },
                      p: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                      l: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                      i: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
                    },
                    'x-kubernetes-validations': [{ rule: 'true', message: 'm' }],
                  },
                },
              },
            },
          },
        ],
      },
    },
  },
];

function core(resource: string, object: JsonObject): { path: string; object: JsonObject } {
  return { path: `/api/v1/namespaces/default/${resource}`, object: { ...object, metadata: meta(`proto-${resource}`) } };
}

function named(group: string, resource: string, object: JsonObject): { path: string; object: JsonObject } {
  return {
    path: `/apis/${group}/namespaces/default/${resource}`,
    object: { ...object, metadata: meta(`proto-${resource}`) },
  };
}

function cluster(path: string, object: JsonObject): { path: string; object: JsonObject } {
  return { path, object: { ...object, metadata: meta(`proto-${path.slice(path.lastIndexOf('/') + 1)}`) } };
}
