import { dateText, durationText, ticksOf } from './axis.ts';
import { estimateWidth, longestFit } from './labels.ts';
import { LANE_HEIGHT, type Row } from './layout.ts';
import {
  foldedWords,
  groupTitle,
  laneSubtitle,
  moreWords,
  nameParts,
  readersWords,
  trackTitle,
  trackWords,
} from './rowWords.ts';
import { sceneOf, type SceneInput } from './scene.ts';
import type { Scene, SceneText } from './sceneTypes.ts';

/** A picture to be saved: the lanes, and the words around them. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Where the lanes are. */
  readonly left: number;
  readonly top: number;
  readonly scene: Scene;
  /** Names at the left and the axis at the top; positions are of the whole picture. */
  readonly texts: readonly SceneText[];
}

const HEADER_PX = 52;
const FOOTER_PX = 22;
const MAX_HEIGHT_PX = 6000;

/** The whole of the lanes, not only what is scrolled into view, as one picture. Pure. */
export function pictureOf(input: Omit<SceneInput, 'top' | 'height'>, labelWidth: number): Picture {
  const height = Math.min(MAX_HEIGHT_PX, Math.max(LANE_HEIGHT, input.layout.height));
  const scene = sceneOf({ ...input, top: 0, height, namesWidth: labelWidth });
  const { scale, timeZoneOffsetMin, translate, measure = estimateWidth } = input;
  const texts: SceneText[] = [
    { x: 12, y: 22, text: translate('Kubernetes object versions'), ink: 'text', size: 12, bold: true },
    {
      x: labelWidth + 16,
      y: 22,
      text: `${dateText(scale.from, timeZoneOffsetMin)} · ${durationText(scale.to - scale.from)}`,
      ink: 'muted',
      size: 11,
    },
  ];
  for (const tick of ticksOf(scale, timeZoneOffsetMin)) {
    const x = tick.x + 3;
    if (x + measure(tick.label, 10, false) <= scale.width)
      texts.push({ x: labelWidth + x, y: HEADER_PX - 8, text: tick.label, ink: 'muted', size: 10 });
  }
  for (const row of scene.rows) addLabel(texts, input, input.layout.rows[row.index], row.y + HEADER_PX, labelWidth);
  texts.push({ x: 12, y: HEADER_PX + height + 15, text: footer(input), ink: 'faint', size: 9 });
  return {
    width: labelWidth + scale.width,
    height: HEADER_PX + height + FOOTER_PX,
    left: labelWidth,
    top: HEADER_PX,
    scene,
    texts,
  };
}

function addLabel(
  texts: SceneText[],
  { store, match, translate, measure = estimateWidth }: Omit<SceneInput, 'top' | 'height'>,
  row: Row | undefined,
  y: number,
  width: number,
): void {
  /** Words cut to what fits before the lanes. */
  const add = (text: SceneText): void => {
    const room = width - text.x - EDGE_PX;
    const fits = (words: string): boolean => measure(words, text.size, false) <= room;
    const [head, tail] = nameParts(text.text);
    const short = fits(text.text) ? undefined : longestFit(head, tail, fits);
    texts.push(short === undefined ? text : { ...text, text: short, full: text.text });
  };
  const addName = ({ height }: Row, name: string, sub: string, ink: SceneText['ink'] = 'muted'): void => {
    add({ x: 28, y: y + Math.min(28, height / 2 + 4), text: name, ink: 'text', size: 12 });
    if (height >= LANE_HEIGHT) add({ x: 28, y: y + 43, text: sub, ink, size: 10 });
  };
  if (row?.type === 'group') {
    // Its lane is empty: the title reaches over it.
    const title = `${row.collapsed ? '▸' : '▾'} ${groupTitle(store.groups[row.group]?.label ?? '')}`;
    const text = `${title}${foldedWords(row, translate)}`;
    texts.push({ x: 8, y: y + 17, text, ink: 'muted', size: 10, bold: true });
  } else if (row?.type === 'more') {
    add({ x: 28, y: y + 17, text: moreWords(row.count, translate), ink: 'muted', size: 10 });
  } else if (row?.type === 'readers') {
    add({ x: 28, y: y + 17, text: readersWords(row, translate), ink: 'muted', size: 10 });
  } else if (row?.type === 'track' && row.under !== undefined) {
    add({ x: 40, y: y + 18, text: trackTitle(store, row, translate), ink: 'muted', size: 10 });
  } else if (row?.type === 'track') {
    addName(row, trackTitle(store, row, translate), trackWords(store, match, row, translate, false));
  } else if (row?.type === 'lane') {
    const lane = store.lanes[row.lane];
    if (lane === undefined) return;
    const ink = lane.info.remark === undefined ? 'muted' : 'warning';
    addName(row, lane.info.name, laneSubtitle(lane, translate), ink);
  }
}

/** Pixels that names keep from the lanes. */
const EDGE_PX = 4;

function footer({ layout, translate }: Omit<SceneInput, 'top' | 'height'>): string {
  const parts = [translate('What was not observed is not shown as known.')];
  if (layout.hidden > 0) parts.push(translate('{0} lanes left out by the filter', layout.hidden));
  if (layout.height > MAX_HEIGHT_PX) parts.push(translate('lanes further down are cut off'));
  return parts.join(' · ');
}
