import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * A plugin of esbuild: Node's own modules by `require`, and the large ones only when something of them is used: importing `node:http` alone as
 * an ES module makes Node load undici, a third of the time that a short command takes.
 */
export const lazyBuiltins = lazy('builtins', /^node:/, (path) => path);

/** Packages that are large and not always needed. Each is a bundle of its own, `NAME.cjs`, beside those that use it. */
export const lazyPackageNames = ['yaml'];

/** A plugin of esbuild: the same for these packages. */
export const lazyPackages = lazy(
  'packages',
  new RegExp(`^(${lazyPackageNames.join('|')})$`),
  (path) => `./${path}.cjs`,
);

function lazy(what, filter, fileOf) {
  const namespace = `lazy-${what}`;
  return {
    name: namespace,
    setup(bundle) {
      // What is imported when needed is lazy already, and a split bundle gives such an import no names of a CommonJS module.
      bundle.onResolve({ filter }, ({ path, kind, namespace: from }) =>
        from === namespace || kind === 'dynamic-import' ? { path, external: true } : { path, namespace },
      );
      bundle.onResolve({ filter: /^\.\//, namespace }, ({ path }) => ({ path, external: true }));
      bundle.onLoad({ filter: /.*/, namespace }, ({ path }) => {
        const whole = `require(${JSON.stringify(fileOf(path))})`;
        const found = require(path);
        if (typeof found === 'function') return { contents: `module.exports = ${whole};` };
        return {
          contents: [
            `let known; const whole = () => (known ??= ${whole});`,
            ...Object.keys(found)
              .map((name) => JSON.stringify(name))
              .map(
                (name) => `Object.defineProperty(exports, ${name}, { enumerable: true, get: () => whole()[${name}] });`,
              ),
          ].join('\n'),
        };
      });
    },
  };
}
