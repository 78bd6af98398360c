import { isJsonObject, type JsonObject } from '../codec/json.ts';
import { parsePath, startsWith, valueAt, type Path, type PathStep } from '../codec/path.ts';
import { ownersAt, ownersOf } from './ownership.ts';
import { matchesPattern } from './pattern.ts';
import { message, type Words } from '../base/message.ts';

/** Who is responsible for a field: a person's or a workspace's declaration, or a preset. */
export interface Responsibility {
  /** `Deployment`, `Deployment.apps`, or `*`. */
  readonly kind: string;
  /** `.spec.replicas`; a field name may end with `*`: `.metadata.annotations["cloud.example.com/*"]`. */
  readonly path: string;
  /** The field manager that is responsible; `*` in it stands for anything. */
  readonly manager: string;
  readonly reason: Words;
  /** Whether it holds only while that manager owns the field, as presets do: not everybody has an autoscaler. */
  readonly onlyWhileOwned?: boolean;
}

/** A field that somebody else is responsible for. */
export interface Breach {
  readonly path: Path;
  readonly responsibility: Responsibility;
}

/** What everybody meets. */
export const responsibilityPresets: readonly Responsibility[] = [
  ...['Deployment.apps', 'StatefulSet.apps', 'ReplicaSet.apps', 'ReplicationController'].map((kind) => ({
    kind,
    path: '.spec.replicas',
    manager: 'kube-controller-manager',
    reason: message`An autoscaler sets the number of replicas; what is set by hand it sets back.`,
    onlyWhileOwned: true,
  })),
  ...[
    'service.beta.kubernetes.io/*',
    'cloud.google.com/*',
    'service.kubernetes.io/*',
    'load-balancer.hetzner.cloud/*',
  ].map((name) => ({
    kind: 'Service',
    path: `.metadata.annotations["${name}"]`,
    manager: '*cloud-controller-manager',
    reason: message`The cloud’s controller keeps the state of its load balancer here.`,
    onlyWhileOwned: true,
  })),
  {
    kind: 'Deployment.apps',
    path: '.metadata.annotations["deployment.kubernetes.io/revision"]',
    manager: 'kube-controller-manager',
    reason: message`The deployment controller counts revisions here.`,
  },
];

/** Declarations as they stand in settings or in a file: those that hold, and what is wrong with each other one. */
interface Declared {
  readonly rules: readonly Responsibility[];
  readonly problems: readonly Words[];
}

/** Reads declarations of responsibilities; one that is not whole, or whose path is none, becomes a problem in words. */
export function readResponsibilities(values: unknown): Declared {
  const rules: Responsibility[] = [];
  const problems: Words[] = [];
  for (const [index, value] of (Array.isArray(values) ? (values as unknown[]) : [values]).entries()) {
    const problem = problemOf(value);
    if (problem === undefined) rules.push(value as Responsibility);
    else problems.push(message`${index + 1}: ${problem}`);
  }
  return { rules, problems };
}

function problemOf(value: unknown): Words | undefined {
  if (typeof value !== 'object' || value === null) return message`it is no object`;
  const { kind, path, manager, reason } = value as Partial<Record<keyof Responsibility, unknown>>;
  for (const [name, member] of Object.entries({ kind, path, manager, reason }))
    if (typeof member !== 'string' || member === '') return message`${name} is missing`;
  const parsed = parsePath(String(path));
  if ('problem' in parsed) return message`${String(path)}: ${parsed.problem}`;
  return parsed.path.length === 0 ? message`the empty path names the whole object` : undefined;
}

/**
 * The fields among `paths` that `manager` changes though somebody else is responsible for them. `kind` as `Deployment.apps`,
 * without a group for the core. A declaration of a path holds for all beneath it.
 */
export function breachesOf(
  rules: readonly Responsibility[],
  kind: string,
  object: JsonObject,
  paths: readonly Path[],
  manager: string,
): Breach[] {
  const metadata = object['metadata'];
  const fields = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
  const owners = ownersOf(Array.isArray(fields) ? fields : undefined);
  const isOwned = (path: Path, responsible: string): boolean =>
    valueAt(object, path) !== undefined &&
    ownersAt(owners, path).some((owner) => matchesPattern(responsible, owner.manager));
  return paths.flatMap((path) => breachesAt(rules, kind, path, manager, (one) => isOwned(path, one)));
}

/** As `breachesOf`, for one path; `isOwned` tells whether a manager that fits a pattern owned the field before the change. */
export function breachesAt(
  rules: readonly Responsibility[],
  kind: string,
  path: Path,
  manager: string,
  isOwned: (responsible: string) => boolean,
): Breach[] {
  return rules
    .filter(
      (rule) => matchesKind(rule.kind, kind) && !matchesPattern(rule.manager, manager) && concerns(rule.path, path),
    )
    .filter((rule) => rule.onlyWhileOwned !== true || isOwned(rule.manager))
    .map((responsibility) => ({ path, responsibility }));
}

function matchesKind(declared: string, kind: string): boolean {
  return declared === '*' || declared === kind || declared === kind.split('.')[0];
}

/** Whether a changed path is at, beneath or above a declared one: setting a whole map changes what is in it. */
function concerns(declared: string, path: Path): boolean {
  const parsed = parsePath(declared);
  if ('problem' in parsed) return false;
  const common = Math.min(parsed.path.length, path.length);
  return parsed.path.slice(0, common).every((step, at) => matchesStep(step, path[at]));
}

function matchesStep(declared: PathStep, step: PathStep | undefined): boolean {
  if (step === undefined) return false;
  if ('field' in declared && 'field' in step) return matchesPattern(declared.field, step.field);
  return startsWith([step], [declared]);
}
