import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { root } from './bootstrap.mjs';

/** A room whose parts have nothing to do with each other. */
const APART = 'base';
const EXPORTED = /^export (?:async )?(?:function\*?|const|class) (\w+)/gm;

/**
 * A plugin of esbuild: what is loaded later (`import()`) of one room is loaded together. Else the bundles fall into so many
 * small files that each costs more, in the package and where it is loaded, than what is in it.
 */
export const roomsTogether = {
  name: 'rooms-together',
  setup(bundle) {
    let rooms;
    bundle.onStart(() => {
      rooms = loadedLater();
    });
    bundle.onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, kind, resolveDir }) => {
      const room = kind === 'dynamic-import' ? roomOf(join(resolveDir, path)) : APART;
      return room === APART ? undefined : { path: room, namespace: 'room' };
    });
    bundle.onLoad({ filter: /.*/, namespace: 'room' }, ({ path }) => ({
      contents: rooms
        .get(path)
        .map((file) => `export * from ${JSON.stringify(file)};`)
        .join('\n'),
      resolveDir: root,
    }));
  },
};

/** By room, the files that any source loads later. No two of a room may export one name: neither would be there. */
function loadedLater() {
  const rooms = new Map();
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .sort((one, other) => (one < other ? -1 : 1))
    .map((file) => join(root, 'src', file));
  for (const source of sources) {
    for (const [, path] of readFileSync(source, 'utf8').matchAll(/\bimport\('(\.[^']+\.ts)'\)/g)) {
      const file = join(dirname(source), path);
      const room = roomOf(file);
      rooms.set(room, [...new Set([...(rooms.get(room) ?? []), file])]);
    }
  }
  for (const [room, files] of rooms) {
    const names = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(EXPORTED)].map(([, name]) => name));
    const twice = names.filter((name, index) => names.indexOf(name) !== index);
    if (room !== APART && twice.length > 0)
      throw new Error(`two files of src/${room} that are loaded later export ${twice.join(', ')}`);
  }
  return rooms;
}

function roomOf(file) {
  return relative(join(root, 'src'), file).split(sep)[0];
}
