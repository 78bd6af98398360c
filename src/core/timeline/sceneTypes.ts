import type { Row } from './layout.ts';
import type { LinkKind, MarkKind } from './model.ts';

/** What colour something has; the theme says which. */
export type Ink = MarkKind | 'text' | 'muted' | 'faint' | 'warning' | 'error' | 'info';

/** Positions are CSS pixels from the top left of the drawing area of the lanes. */
export interface SceneBar {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Which incarnation of its name it is, from 0: told apart by tint, and by the words beside it. */
  readonly incarnation: number;
  /** Its left or right end is out of view or not known: no round corner there. */
  readonly openLeft: boolean;
  readonly openRight: boolean;
  readonly dim: boolean;
}

/** A hatched stretch. */
export interface SceneHatch {
  readonly kind: 'terminating' | 'gap';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** What a part of a drawing is about, for words and links on it. */
export interface SceneSubject {
  /** A mark, the first of the most important ones where there are several, by its place. */
  readonly mark?: number;
  /** The key of a finding. */
  readonly finding?: string;
}

/** One mark. */
export interface SceneGlyph extends SceneSubject {
  readonly kind: MarkKind;
  readonly x: number;
  readonly y: number;
  readonly dim: boolean;
}

/** Several marks in one place. */
export interface SceneCluster extends SceneSubject {
  readonly kind: MarkKind;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly dim: boolean;
}

/** A curve from one place to another. */
export interface SceneArc {
  readonly kind: LinkKind;
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  /** From one row to another. */
  readonly across?: boolean;
}

/** A thin line: generation that observedGeneration has not reached. */
export interface SceneLag {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly dim?: boolean;
}

/** Words. `y` is the baseline. */
export interface SceneText extends SceneSubject {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  /** The whole of it, where it is cut. */
  readonly full?: string;
  readonly ink: Ink;
  readonly size: 9 | 10 | 11 | 12;
  readonly mono?: boolean;
  readonly bold?: boolean;
  readonly dim?: boolean;
}

/** The part of a row that is drawn. */
export interface SceneRow {
  readonly type: Row['type'];
  readonly index: number;
  readonly y: number;
  readonly height: number;
}

/** All that is drawn of the lanes in one frame, or in one picture. */
export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly rows: readonly SceneRow[];
  readonly gridX: readonly number[];
  readonly bars: readonly SceneBar[];
  readonly hatches: readonly SceneHatch[];
  readonly lags: readonly SceneLag[];
  readonly clusters: readonly SceneCluster[];
  readonly glyphs: readonly SceneGlyph[];
  readonly arcs: readonly SceneArc[];
  readonly texts: readonly SceneText[];
}
