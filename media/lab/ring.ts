import type { Translate } from '../../src/core/timeline/translate.ts';
import type { StateOf } from '../../src/protocol/labStates.ts';

const SVG = 'http://www.w3.org/2000/svg';
const SIZE = 320;
const RADIUS = 118;
const LABELS = 150;
/** Up to so many residues each has its label beside it. */
const LABELLED = 32;

function svg(tag: string, attributes: Record<string, string | number>, ...children: Node[]): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** The residues on a ring, from 0 at the top clockwise; those visited are filled, the one shown now is marked. */
export function ringPicture(state: StateOf<'modular'>, translate: Translate): SVGElement {
  const place = (turn: number, radius: number): [number, number] => {
    const angle = turn * 2 * Math.PI - Math.PI / 2;
    return [SIZE / 2 + radius * Math.cos(angle), SIZE / 2 + radius * Math.sin(angle)];
  };
  const crowded = state.ring.length > LABELLED;
  // What is shown now lies above its neighbours.
  const ordered = [...state.ring].sort((a, b) => Number(a.current) - Number(b.current));
  const points = ordered.flatMap(({ label, turn, visited, current }) => {
    const [x, y] = place(turn, RADIUS);
    const [labelX, labelY] = place(turn, LABELS - 8);
    const kind = [visited ? 'visited' : 'free', ...(current ? ['current'] : [])].join(' ');
    const point = svg('circle', { class: `residue ${kind}`, cx: x, cy: y, r: current ? 12 : crowded ? 4 : 8 });
    if ((crowded && !current) || label.length > 6) return [point];
    const text = svg('text', { class: `residue-label ${kind}`, x: labelX, y: labelY });
    text.textContent = label;
    return [point, text];
  });
  const centre = svg('text', { class: 'now', x: SIZE / 2, y: SIZE / 2 });
  if (state.label.length > 9) centre.setAttribute('class', 'now long');
  centre.textContent = state.label;
  const title = svg('title', {});
  title.textContent = translate(
    'Ring of the residues modulo {0}: {1} of {2} visited, now at {3}',
    state.m,
    state.visited,
    state.visitedInAll,
    state.label,
  );
  return svg(
    'svg',
    { class: 'ring', viewBox: `0 0 ${SIZE} ${SIZE}`, role: 'img' },
    title,
    svg('circle', { class: 'track', cx: SIZE / 2, cy: SIZE / 2, r: RADIUS }),
    ...points,
    centre,
  );
}
