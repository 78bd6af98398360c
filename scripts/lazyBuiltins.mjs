import { createRequire } from 'node:module';

/**
 * A plugin of esbuild: Node's own modules by `require`, and the large ones only when something of them is used: importing `node:http` alone as
 * an ES module makes Node load undici, a third of the time that a short command takes.
 */
export const lazyBuiltins = {
  name: 'lazy-builtins',
  setup(bundle) {
    const require = createRequire(import.meta.url);
    // What is imported when needed is lazy already, and a split bundle gives such an import no names of a CommonJS module.
    bundle.onResolve({ filter: /^node:/ }, ({ path, namespace, kind }) =>
      namespace === 'builtin' || kind === 'dynamic-import' ? { path, external: true } : { path, namespace: 'builtin' },
    );
    bundle.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => {
      const whole = `require(${JSON.stringify(path)})`;
      if (typeof require(path) === 'function') return { contents: `module.exports = ${whole};` };
      const names = Object.keys(require(path));
      return { contents: names.map((name) => `${lazyExport(name)} ${whole}[${JSON.stringify(name)}] });`).join('\n') };
    });
  },
};

function lazyExport(name) {
  return `Object.defineProperty(exports, ${JSON.stringify(name)}, { enumerable: true, get: () =>`;
}
