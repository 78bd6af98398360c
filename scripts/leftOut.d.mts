import type { Plugin } from 'esbuild';

/** See leftOut.mjs. */
export declare const leftOut: Plugin;
