import type { JsonObject } from '../codec/json.ts';
import { parsePath, startsWith, valueAt, type Path, type PathStep } from '../codec/path.ts';
import { ownersAt } from '../core/ownership.ts';
import { ownersIn } from './winners.ts';
import { matchesPattern } from './pattern.ts';

/** Who is responsible for a field: a person's or a workspace's declaration, or a preset. */
export interface Responsibility {
  /** `Deployment`, `Deployment.apps`, or `*`. */
  readonly kind: string;
  /** `.spec.replicas`; a field name may end with `*`: `.metadata.annotations["cloud.example.com/*"]`. */
  readonly path: string;
  /** The field manager that is responsible; `*` in it stands for anything. */
  readonly manager: string;
  readonly reason: string;
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
    reason: 'An autoscaler sets the number of replicas; what is set by hand it sets back.',
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
    reason: 'The cloud’s controller keeps the state of its load balancer here.',
    onlyWhileOwned: true,
  })),
  {
    kind: 'Deployment.apps',
    path: '.metadata.annotations["deployment.kubernetes.io/revision"]',
    manager: 'kube-controller-manager',
    reason: 'The deployment controller counts revisions here.',
  },
];

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
  return paths.flatMap((path) =>
    rules
      .filter(
        (rule) => matchesKind(rule.kind, kind) && !matchesPattern(rule.manager, manager) && concerns(rule.path, path),
      )
      .filter((rule) => rule.onlyWhileOwned !== true || isOwnedBy(object, path, rule.manager))
      .map((responsibility) => ({ path, responsibility })),
  );
}

/** The declarations whose path is not one, with why: shown where they were made. */
export function problemsOf(rules: readonly Responsibility[]): { rule: Responsibility; problem: string }[] {
  return rules.flatMap((rule) => {
    const parsed = parsePath(rule.path);
    return 'problem' in parsed ? [{ rule, problem: parsed.problem }] : [];
  });
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

function isOwnedBy(object: JsonObject, path: Path, manager: string): boolean {
  if (valueAt(object, path) === undefined) return false;
  return ownersAt(ownersIn(object), path).some((owner) => matchesPattern(manager, owner.manager));
}
