import type { Leaves } from './leaves.ts';

const MAX_DEPTH = 24;

/** Leaves that are not worked out before one of them is asked for. */
export class LateLeaves implements Leaves {
  private work: (() => Map<string, string>) | undefined;
  private leaves: Map<string, string> | undefined;

  constructor(work: () => Map<string, string>) {
    this.work = work;
  }

  get(path: string): string | undefined {
    return this.known().get(path);
  }

  has(path: string): boolean {
    return this.known().has(path);
  }

  get size(): number {
    return this.known().size;
  }

  keys(): MapIterator<string> {
    return this.known().keys();
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.known()[Symbol.iterator]();
  }

  private known(): Map<string, string> {
    this.leaves ??= this.work?.() ?? new Map();
    this.work = undefined;
    return this.leaves;
  }
}

/** Leaves that differ from others in a few paths: in exactly those that `own` holds, undefined for what is gone. */
class OverlayLeaves implements Leaves {
  readonly base: Leaves;
  readonly own: ReadonlyMap<string, string | undefined>;
  readonly depth: number;

  constructor(base: Leaves, own: ReadonlyMap<string, string | undefined>) {
    this.base = base;
    this.own = own;
    this.depth = base instanceof OverlayLeaves ? base.depth + 1 : 1;
  }

  get(path: string): string | undefined {
    return lookUp(this, path);
  }

  has(path: string): boolean {
    return this.get(path) !== undefined;
  }

  get size(): number {
    return flattened(this).size;
  }

  keys(): MapIterator<string> {
    return flattened(this).keys();
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return flattened(this)[Symbol.iterator]();
  }
}

/** Leaves that differ from a base in the paths of `own`, all of them, and in no other; undefined stands for what is gone. */
export function layered(base: Leaves, own: ReadonlyMap<string, string | undefined>): Leaves {
  if (own.size === 0) return base;
  const leaves = new OverlayLeaves(base, own);
  return leaves.depth > MAX_DEPTH ? new Map(leaves) : leaves;
}

function lookUp(leaves: Leaves, path: string): string | undefined {
  let layer = leaves;
  for (; layer instanceof OverlayLeaves; layer = layer.base) if (layer.own.has(path)) return layer.own.get(path);
  return layer.get(path);
}

/** All leaves as one map: a copy of the root with every layer above it, the lowest first. */
function flattened(leaves: Leaves): Map<string, string> {
  const layers: OverlayLeaves[] = [];
  let root = leaves;
  for (; root instanceof OverlayLeaves; root = root.base) layers.push(root);
  const whole = new Map(root);
  for (const layer of layers.reverse()) {
    for (const [path, value] of layer.own) {
      if (value === undefined) whole.delete(path);
      else whole.set(path, value);
    }
  }
  return whole;
}

/** Paths in which two that share a base differ, found without looking at all of them; undefined where they share none. */
export function touchedPaths(a: Leaves, b: Leaves): string[] | undefined {
  if (a === b) return [];
  if (b instanceof OverlayLeaves && b.base === a) return [...b.own.keys()];
  if (a instanceof OverlayLeaves && a.base === b) return [...a.own.keys()];
  const chains = [chainOf(a), chainOf(b)] as const;
  const shared = chains[0].find((item) => chains[1].includes(item));
  if (shared === undefined) return undefined;
  const touched = new Set<string>();
  for (const chain of chains) {
    for (const item of chain) {
      if (item === shared) break;
      if (item instanceof OverlayLeaves) for (const path of item.own.keys()) touched.add(path);
    }
  }
  return [...touched].filter((path) => a.get(path) !== b.get(path));
}

function chainOf(leaves: Leaves): Leaves[] {
  const chain = [leaves];
  for (let item = leaves; item instanceof OverlayLeaves; item = item.base) chain.push(item.base);
  return chain;
}
