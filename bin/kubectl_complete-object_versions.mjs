#!/usr/bin/env node
// What npm puts on the PATH as kubectl_complete-object_versions: kubectl asks it what may stand in place of the last word.
process.argv.splice(2, 0, 'complete', '--directive', '--');
await import('./object-versions.mjs');
