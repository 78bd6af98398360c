import { dateText, durationText, ticksOf } from './axis.ts';
import { shortUid } from './laneScene.ts';
import { LANE_HEIGHT } from './layout.ts';
import type { LaneInfo } from './model.ts';
import { sceneOf, type SceneInput } from './scene.ts';
import type { Scene, SceneText } from './sceneTypes.ts';
import type { TimelineStore } from './store.ts';
import type { Translate } from './translate.ts';

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

/** What stands below the name of a lane. */
export function laneSubtitle(lane: LaneInfo, translate: Translate): string {
  const last = lane.bars.at(-1);
  const what =
    lane.remark ??
    (lane.bars.length > 1
      ? translate('{0} incarnations', lane.bars.length)
      : last === undefined
        ? ''
        : shortUid(last.uid));
  return [lane.namespace, what].filter((part) => part !== '').join(' · ');
}

/** The whole of the lanes, not only what is scrolled into view, as one picture. Pure. */
export function pictureOf(input: Omit<SceneInput, 'top' | 'height'>, labelWidth: number): Picture {
  const height = Math.min(MAX_HEIGHT_PX, Math.max(LANE_HEIGHT, input.layout.height));
  const scene = sceneOf({ ...input, top: 0, height });
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
    if (tick.x < scale.width - 40)
      texts.push({ x: labelWidth + tick.x + 3, y: HEADER_PX - 8, text: tick.label, ink: 'muted', size: 10 });
  }
  for (const row of scene.rows)
    addLabel(texts, input.store, input.layout.rows[row.index], row.y + HEADER_PX, translate);
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
  store: TimelineStore,
  row: SceneInput['layout']['rows'][number] | undefined,
  y: number,
  translate: Translate,
): void {
  if (row?.type === 'group') {
    const label = store.groups[row.group]?.label ?? '';
    texts.push({
      x: 8,
      y: y + 17,
      text: `${row.collapsed ? '▸' : '▾'} ${groupTitle(label)}`,
      ink: 'muted',
      size: 10,
      bold: true,
    });
  } else if (row?.type === 'lane') {
    const lane = store.lanes[row.lane]?.info;
    if (lane === undefined) return;
    texts.push({ x: 28, y: y + Math.min(28, row.height / 2 + 4), text: clipped(lane.name, 24), ink: 'text', size: 12 });
    if (row.height >= LANE_HEIGHT) {
      const subtitle = clipped(laneSubtitle(lane, translate), 30);
      texts.push({ x: 28, y: y + 43, text: subtitle, ink: lane.remark === undefined ? 'muted' : 'warning', size: 10 });
    }
  }
}

/** The title of a group: capitals, but a version in brackets as it is. */
export function groupTitle(label: string): string {
  const bracket = label.indexOf(' (');
  return bracket < 0 ? label.toUpperCase() : label.slice(0, bracket).toUpperCase() + label.slice(bracket);
}

function clipped(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

function footer({ layout, translate }: Omit<SceneInput, 'top' | 'height'>): string {
  const parts = [translate('What was not observed is not shown as known.')];
  if (layout.hidden > 0) parts.push(translate('{0} lanes left out by the filter', layout.hidden));
  if (layout.height > MAX_HEIGHT_PX) parts.push(translate('lanes further down are cut off'));
  return parts.join(' · ');
}
