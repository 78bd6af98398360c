/**
 * A resource, `resource.version` or kind with its API group behind it, as kubectl writes it: `deployments.apps`,
 * `Deployment.apps`. What is of the core group stands alone.
 */
export function inGroup(name: string, group: string): string {
  return group === '' ? name : `${name}.${group}`;
}
