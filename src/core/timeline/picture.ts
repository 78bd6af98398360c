import { dateText, durationText, ticksOf } from './axis.ts';
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
/** How much room the label of a tick needs. */
const TICK_LABEL_PX = 56;
const MAX_HEIGHT_PX = 6000;

/** The whole of the lanes, not only what is scrolled into view, as one picture. Pure. */
export function pictureOf(input: Omit<SceneInput, 'top' | 'height'>, labelWidth: number): Picture {
  const height = Math.min(MAX_HEIGHT_PX, Math.max(LANE_HEIGHT, input.layout.height));
  const scene = sceneOf({ ...input, top: 0, height, namesWidth: labelWidth });
  const { scale, timeZoneOffsetMin, translate } = input;
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
    if (tick.x < scale.width - TICK_LABEL_PX)
      texts.push({ x: labelWidth + tick.x + 3, y: HEADER_PX - 8, text: tick.label, ink: 'muted', size: 10 });
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
  { store, match, translate }: Omit<SceneInput, 'top' | 'height'>,
  row: Row | undefined,
  y: number,
  width: number,
): void {
  if (row?.type === 'group') {
    const label = store.groups[row.group]?.label ?? '';
    texts.push({
      x: 8,
      y: y + 17,
      text: `${row.collapsed ? '▸' : '▾'} ${groupTitle(label)}${foldedWords(row, translate)}`,
      ink: 'muted',
      size: 10,
      bold: true,
    });
  } else if (row?.type === 'more') {
    texts.push({ x: 28, y: y + 17, text: moreWords(row.count, translate), ink: 'muted', size: 10 });
  } else if (row?.type === 'readers') {
    texts.push({ x: 28, y: y + 17, text: readersWords(row, translate), ink: 'muted', size: 10 });
  } else if (row?.type === 'track' && row.under !== undefined) {
    texts.push(clipped({ x: 40, y: y + 18, text: trackTitle(store, row, translate), ink: 'muted', size: 10 }, width));
  } else if (row?.type === 'track') {
    const words = trackWords(store, match, row, translate, false);
    addName(texts, row, y, width, trackTitle(store, row, translate), { text: words, ink: 'muted' });
  } else if (row?.type === 'lane') {
    const lane = store.lanes[row.lane];
    if (lane === undefined) return;
    const ink = lane.info.remark === undefined ? 'muted' : 'warning';
    addName(texts, row, y, width, lane.info.name, { text: laneSubtitle(lane, translate), ink });
  }
}

function addName(
  texts: SceneText[],
  { height }: Row,
  y: number,
  width: number,
  name: string,
  sub: Pick<SceneText, 'text' | 'ink'>,
): void {
  texts.push(clipped({ x: 28, y: y + Math.min(28, height / 2 + 4), text: name, ink: 'text', size: 12 }, width));
  if (height >= LANE_HEIGHT) texts.push(clipped({ x: 28, y: y + 43, text: sub.text, ink: sub.ink, size: 10 }, width));
}

/** Words cut to what fits before `width`. */
function clipped(text: SceneText, width: number): SceneText {
  const length = Math.floor((width - text.x) / (CHARACTER_PARTS * text.size));
  if (text.text.length <= length) return text;
  const [, tail] = nameParts(text.text);
  return { ...text, text: `${text.text.slice(0, length - 1 - tail.length)}…${tail}`, full: text.text };
}

/** How wide a character is drawn, in parts of the size. */
const CHARACTER_PARTS = 0.59;

function footer({ layout, translate }: Omit<SceneInput, 'top' | 'height'>): string {
  const parts = [translate('What was not observed is not shown as known.')];
  if (layout.hidden > 0) parts.push(translate('{0} lanes left out by the filter', layout.hidden));
  if (layout.height > MAX_HEIGHT_PX) parts.push(translate('lanes further down are cut off'));
  return parts.join(' · ');
}
