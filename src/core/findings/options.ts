import { english, type Translate } from '../timeline/translate.ts';
import type { Responsibility } from '../responsibility.ts';
import type { ObjectName } from '../traceEvent.ts';

/** Thresholds of the rules and bounds of what they remember; all have defaults. Times are in milliseconds. */
export interface DetectorOptions {
  readonly conflictLoop?: { readonly count: number; readonly windowMs: number };
  readonly alreadyExistsLoop?: { readonly count: number; readonly windowMs: number };
  readonly noOpWrites?: { readonly count: number; readonly windowMs: number };
  readonly updateLoop?: { readonly count: number; readonly windowMs: number };
  readonly fightAlternations?: number;
  readonly generationLagMs?: number;
  /** Objects whose history is remembered; the longest untouched is forgotten first. */
  readonly maxObjects?: number;
  /** Versions remembered of each object. */
  readonly maxVersions?: number;
  /** Values (of any depth) in the contents remembered; the content of the object longest unseen is forgotten first. */
  readonly maxValues?: number;
  /** Findings kept; beyond them only counts of those that exist grow. */
  readonly maxFindings?: number;
  /** Where a user's objects hold the UID of another object besides what Kubernetes itself has, as printed paths. */
  readonly externalReferences?: readonly string[];
  /** Which actor is responsible for which field. Default: nobody declared any. */
  readonly responsibilities?: readonly Responsibility[];
  /** The language of explanations and remedies. Default: English, which is what their JSON is in. */
  readonly translate?: Translate;
  /** About which objects findings are asked for; the others are only looked at for their sake. Default: about all. */
  readonly isAsked?: (name: ObjectName) => boolean;
}

/** Options with every default filled in. */
export type Thresholds = Required<DetectorOptions>;

/** The thresholds of the findings' documentation and bounds that keep a day of a busy cluster in some 200 MB. */
export const defaultThresholds: Thresholds = {
  conflictLoop: { count: 10, windowMs: 10_000 },
  alreadyExistsLoop: { count: 5, windowMs: 10_000 },
  noOpWrites: { count: 5, windowMs: 60_000 },
  updateLoop: { count: 10, windowMs: 60_000 },
  fightAlternations: 3,
  generationLagMs: 30_000,
  maxObjects: 20_000,
  maxVersions: 24,
  maxValues: 1_000_000,
  maxFindings: 10_000,
  externalReferences: [],
  responsibilities: [],
  translate: english,
  isAsked: () => true,
};
