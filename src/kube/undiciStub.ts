/*
 * Stands in for the package `undici` in the bundles: client-node imports it at load for requests of its own, which this
 * product never makes through it, and the real one would take over the `fetch` of the whole extension host.
 */

function refuse(): never {
  throw new Error('undici is not part of this bundle');
}

/** Never constructed. */
export function Agent(): never {
  return refuse();
}

/** Never constructed. */
export function ProxyAgent(): never {
  return refuse();
}

/** Never called. */
export function fetch(): never {
  return refuse();
}
