import { createWriteStream } from 'node:fs';
import { once } from 'node:events';

/** So few that the windows of versions are full within the shorter log: what grows then is a leak. */
const OBJECTS = 300;

/** Writes an audit log of about so many bytes: three kinds of controllers on many Deployments, at all three levels, seeded. */
export async function writeAuditLog(path: string, bytes: number, seed = 1): Promise<number> {
  const random = seeded(seed);
  const out = createWriteStream(path);
  let written = 0;
  let lines = 0;
  const versions = new Map<number, number>();
  let at = Date.UTC(2026, 0, 1);
  while (written < bytes) {
    at += 5;
    const index = Math.floor(random() * OBJECTS);
    const line = `${JSON.stringify(auditEvent(index, versions, at, random))}\n`;
    written += line.length;
    lines += 1;
    if (!out.write(line)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
  return lines;
}

function auditEvent(index: number, versions: Map<number, number>, at: number, random: () => number): unknown {
  const version = versions.get(index) ?? 1000 + index;
  const time = new Date(at).toISOString().replace('Z', '000Z');
  const pick = random();
  const base = {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: pick < 0.5 ? 'Metadata' : pick < 0.7 ? 'Request' : 'RequestResponse',
    auditID: `id-${at}`,
    stage: 'ResponseComplete',
    requestURI: `/apis/apps/v1/namespaces/ns-${index % 40}/deployments/app-${index}`,
    verb: pick < 0.5 ? 'get' : 'update',
    user: {
      username: 'system:serviceaccount:kube-system:deployment-controller',
      uid: 'f3b1f1f0-0000-4000-8000-000000000001',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
    },
    sourceIPs: ['10.0.0.1'],
    userAgent:
      'kube-controller-manager/v1.36.3 (linux/amd64) kubernetes/abcdef0/system:serviceaccount:kube-system:deployment-controller',
    objectRef: {
      resource: 'deployments',
      namespace: `ns-${index % 40}`,
      name: `app-${index}`,
      apiGroup: 'apps',
      apiVersion: 'v1',
      ...(pick < 0.5 ? {} : { uid: uidOf(index), resourceVersion: String(version) }),
    },
    responseStatus: { metadata: {}, code: 200 },
  };
  // In the order in which an API server writes them: the bodies come before the times.
  const rest = {
    requestReceivedTimestamp: time,
    stageTimestamp: time,
    annotations: {
      'authorization.k8s.io/decision': 'allow',
      'authorization.k8s.io/reason':
        'RBAC: allowed by ClusterRoleBinding "system:controller:deployment-controller" of ClusterRole "system:controller:deployment-controller" to ServiceAccount "deployment-controller/kube-system"',
    },
  };
  if (pick < 0.5) return { ...base, ...rest };
  versions.set(index, version + 100_000);
  const requestObject = deployment(index, version, Math.floor(random() * 9));
  if (pick < 0.7) return { ...base, requestObject, ...rest };
  const responseObject = deployment(index, version + 100_000, requestObject.spec.replicas);
  return { ...base, requestObject, responseObject, ...rest };
}

function deployment(index: number, version: number, replicas: number) {
  const container = (name: string): unknown => ({
    name,
    image: `registry.example.test/team/${name}:1.2.${index % 7}`,
    args: ['--port=8080', '--verbose', `--shard=${index}`],
    ports: [{ containerPort: 8080, name: 'http', protocol: 'TCP' }],
    env: Array.from({ length: 12 }, (_, at) => ({
      name: `SETTING_${at}`,
      value: `value number ${at} of application ${index}`,
    })),
    resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
    livenessProbe: {
      httpGet: { path: '/healthz', port: 'http', scheme: 'HTTP' },
      initialDelaySeconds: 5,
      periodSeconds: 10,
      timeoutSeconds: 1,
      successThreshold: 1,
      failureThreshold: 3,
    },
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
  });
  const names = ['web', 'sidecar'];
  const fields = Object.fromEntries(
    names.map((name) => [
      `k:{"name":"${name}"}`,
      {
        '.': {},
        'f:image': {},
        'f:args': {},
        'f:env': Object.fromEntries(
          Array.from({ length: 12 }, (_, at) => [
            `k:{"name":"SETTING_${at}"}`,
            { '.': {}, 'f:name': {}, 'f:value': {} },
          ]),
        ),
      },
    ]),
  );
  return {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: {
      name: `app-${index}`,
      namespace: `ns-${index % 40}`,
      uid: uidOf(index),
      resourceVersion: String(version),
      generation: Math.floor(version / 100_000),
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app: `app-${index}`, team: `team-${index % 9}` },
      annotations: { 'deployment.kubernetes.io/revision': '1' },
      managedFields: [
        {
          manager: 'kube-controller-manager',
          operation: 'Update',
          apiVersion: 'apps/v1',
          time: '2026-01-01T00:00:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:spec': { 'f:replicas': {}, 'f:template': { 'f:spec': { 'f:containers': fields } } } },
        },
      ],
    },
    spec: {
      replicas,
      selector: { matchLabels: { app: `app-${index}` } },
      template: {
        metadata: { labels: { app: `app-${index}` } },
        spec: {
          containers: names.map(container),
          restartPolicy: 'Always',
          dnsPolicy: 'ClusterFirst',
          terminationGracePeriodSeconds: 30,
          schedulerName: 'default-scheduler',
        },
      },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    },
    status: {
      observedGeneration: 1,
      replicas,
      readyReplicas: replicas,
      conditions: [
        {
          type: 'Available',
          status: 'True',
          lastUpdateTime: '2026-01-01T00:00:00Z',
          lastTransitionTime: '2026-01-01T00:00:00Z',
          reason: 'MinimumReplicasAvailable',
          message: 'Deployment has minimum availability.',
        },
      ],
    },
  };
}

function uidOf(index: number): string {
  return `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
}

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
