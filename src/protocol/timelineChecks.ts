import type { EventDetails, ObjectRef } from '../core/timeline/detailTypes.ts';
import {
  BAR_BEGINNINGS,
  BAR_ENDS,
  LINK_KINDS,
  NO_LANE,
  MARK_KINDS,
  MARK_OUTCOMES,
  READ_VERBS,
  type AnnotationInfo,
  type BarColumns,
  type GapInfo,
  type GroupInfo,
  type LagColumns,
  type LaneColumns,
  type LinkColumns,
  type MarkColumns,
  type NoteInfo,
  type PackedLanes,
  type ReadColumns,
  type TimelineDelta,
  type TimelineModel,
} from '../core/timeline/model.ts';
import {
  isBoolean,
  isCount,
  isNumber,
  isPlainObject,
  isString,
  listOf,
  objectOf,
  oneOf,
  optional,
  typedArray,
  type Check,
} from './validate.ts';

const LANE_ARRAYS = objectOf({
  place: typedArray(Uint32Array),
  group: typedArray(Uint32Array),
  kind: typedArray(Uint32Array),
  namespace: typedArray(Uint32Array),
  name: typedArray(Uint32Array),
  remark: typedArray(Uint32Array),
  findings: typedArray(Uint32Array),
  watched: typedArray(Uint8Array),
  lagFrom: typedArray(Float64Array),
  barsEnd: typedArray(Uint32Array),
});

const BAR_ARRAYS = objectOf({
  uid: typedArray(Uint32Array),
  from: typedArray(Float64Array),
  began: typedArray(Uint8Array),
  terminatingAt: typedArray(Float64Array),
  to: typedArray(Float64Array),
  endHow: typedArray(Uint8Array),
});

const isGroup: Check<GroupInfo> = objectOf({
  key: isString,
  cluster: isString,
  clusterLabel: isString,
  apiGroup: isString,
  resource: isString,
  kind: isString,
  label: isString,
});

const isGap: Check<GapInfo> = objectOf({
  id: isString,
  cluster: isString,
  scope: objectOf({ group: isString, resource: isString, namespace: optional(isString), name: optional(isString) }),
  from: isNumber,
  to: optional(isNumber),
  cause: isString,
  event: isCount,
}) as Check<GapInfo>;

const isAnnotation: Check<AnnotationInfo> = objectOf({
  lane: isCount,
  from: isNumber,
  to: isNumber,
  id: isString,
  key: isString,
  severity: oneOf('info', 'warning', 'error'),
  glyph: optional(oneOf(...MARK_KINDS)),
  text: isString,
  events: listOf(isCount),
  count: isCount,
  repeats: listOf(isNumber),
  originLane: optional(isCount),
  originAt: optional(isNumber),
}) as Check<AnnotationInfo>;

const isNote: Check<NoteInfo> = objectOf({ at: isNumber, text: isString, event: isCount });

const isPatch = objectOf({ index: isCount, kind: isCount, flags: isCount, actor: isCount, label: isCount });

const MARK_ARRAYS = objectOf({
  at: typedArray(Float64Array),
  lane: typedArray(Uint32Array),
  kind: typedArray(Uint8Array),
  flags: typedArray(Uint8Array),
  event: typedArray(Uint32Array),
  actor: typedArray(Uint32Array),
  label: typedArray(Uint32Array),
  uid: typedArray(Uint32Array),
  outcome: typedArray(Uint8Array),
});

const READ_ARRAYS = objectOf({
  at: typedArray(Float64Array),
  lane: typedArray(Uint32Array),
  actor: typedArray(Uint32Array),
  event: typedArray(Uint32Array),
  uid: typedArray(Uint32Array),
  verb: typedArray(Uint8Array),
});

const LINK_ARRAYS = objectOf({
  kind: typedArray(Uint8Array),
  event: typedArray(Uint32Array),
  fromLane: typedArray(Uint32Array),
  fromAt: typedArray(Float64Array),
  toLane: typedArray(Uint32Array),
  toAt: typedArray(Float64Array),
});

const LAG_ARRAYS = objectOf({
  lane: typedArray(Uint32Array),
  from: typedArray(Float64Array),
  to: typedArray(Float64Array),
});

const isLanes: Check<LaneColumns> = (value, path) =>
  LANE_ARRAYS(value, path) ??
  sameLengths(value, path) ??
  ((value as LaneColumns).barsEnd.every((end, row, ends) => end >= (ends[row - 1] ?? 0))
    ? undefined
    : `${path}.barsEnd is not in order`);

const isBars: Check<BarColumns> = (value, path) =>
  BAR_ARRAYS(value, path) ??
  sameLengths(value, path) ??
  below((value as BarColumns).began, BAR_BEGINNINGS.length, `${path}.began`) ??
  below((value as BarColumns).endHow, BAR_ENDS.length, `${path}.endHow`);

/** Columns of one table are of one length, and numbered kinds exist. */
const isMarks: Check<MarkColumns> = (value, path) =>
  MARK_ARRAYS(value, path) ??
  sameLengths(value, path) ??
  below((value as MarkColumns).kind, MARK_KINDS.length, `${path}.kind`) ??
  below((value as MarkColumns).outcome, MARK_OUTCOMES.length, `${path}.outcome`);

const isLinks: Check<LinkColumns> = (value, path) =>
  LINK_ARRAYS(value, path) ??
  sameLengths(value, path) ??
  below((value as LinkColumns).kind, LINK_KINDS.length, `${path}.kind`);

const isReads: Check<ReadColumns> = (value, path) =>
  READ_ARRAYS(value, path) ??
  sameLengths(value, path) ??
  below((value as ReadColumns).verb, READ_VERBS.length, `${path}.verb`);

const isLags: Check<LagColumns> = (value, path) => LAG_ARRAYS(value, path) ?? sameLengths(value, path);

const MODEL = objectOf({
  strings: listOf(isString),
  groups: listOf(isGroup),
  lanes: isLanes,
  bars: isBars,
  marks: isMarks,
  links: isLinks,
  lags: isLags,
  reads: isReads,
  gaps: listOf(isGap),
  annotations: listOf(isAnnotation),
  notes: listOf(isNote),
  lastAt: isNumber,
  lastSeq: isCount,
});

/** Checks a full model: shapes, and that every place named in a column exists. */
export const isModel: Check<TimelineModel> = (value, path) => {
  const problem = MODEL(value, path);
  if (problem !== undefined) return problem;
  const model = value as TimelineModel;
  const { marks, links, lags, reads, strings } = model;
  const lanes = model.lanes.place;
  return (
    (lanes.every((place, row) => place === row) ? undefined : `${path}.lanes.place is not in order`) ??
    below(model.lanes.group, model.groups.length, `${path}.lanes.group`) ??
    below(model.lanes.kind, strings.length, `${path}.lanes.kind`) ??
    below(model.lanes.namespace, strings.length, `${path}.lanes.namespace`) ??
    below(model.lanes.name, strings.length, `${path}.lanes.name`) ??
    below(model.lanes.remark, strings.length, `${path}.lanes.remark`) ??
    barsExist(model, path) ??
    below(model.bars.uid, strings.length, `${path}.bars.uid`) ??
    below(marks.lane, lanes.length, `${path}.marks.lane`) ??
    below(marks.actor, strings.length, `${path}.marks.actor`) ??
    below(marks.label, strings.length, `${path}.marks.label`) ??
    below(marks.uid, strings.length, `${path}.marks.uid`) ??
    below(links.fromLane, lanes.length, `${path}.links.fromLane`) ??
    below(links.toLane, lanes.length, `${path}.links.toLane`) ??
    below(lags.lane, lanes.length, `${path}.lags.lane`) ??
    below(
      reads.lane.filter((lane) => lane !== NO_LANE),
      lanes.length,
      `${path}.reads.lane`,
    ) ??
    below(reads.actor, strings.length, `${path}.reads.actor`) ??
    below(reads.uid, strings.length, `${path}.reads.uid`) ??
    placesOf(model.annotations, (note) => note.lane, lanes.length, `${path}.annotations`)
  );
};

const DELTA = objectOf({
  strings: listOf(isString),
  groups: listOf(isGroup),
  lanes: isLanes,
  bars: isBars,
  marks: isMarks,
  patches: listOf(isPatch),
  links: isLinks,
  lags: isLags,
  reads: isReads,
  gaps: optional(listOf(isGap)),
  annotations: optional(listOf(isAnnotation)),
  notes: optional(listOf(isNote)),
  lastAt: isNumber,
  lastSeq: isCount,
});

/** Checks the shapes of an append; whether its places exist depends on what it is appended to. */
export const isDelta: Check<TimelineDelta> = (value, path) =>
  DELTA(value, path) ?? barsExist(value as TimelineDelta, path);

const isTone = oneOf('plain', 'same', 'different', 'muted', 'good', 'bad');
/** Checks what names an object. */
export const isObjectRef: Check<ObjectRef> = objectOf({
  cluster: isString,
  group: isString,
  resource: isString,
  namespace: isString,
  name: isString,
  uid: isString,
});
/** Checks what names a version of it. */
export const isVersionRef = objectOf({ uid: isString, token: isString });

/** Checks the reply to `details`. */
const isSections = listOf(
  objectOf({
    title: isString,
    entries: listOf(
      objectOf({
        actor: optional(isString),
        how: optional(isString),
        lines: listOf(isString),
        tone: optional(isTone),
      }),
    ),
  }),
);
const isRelated = listOf(objectOf({ label: isString, event: isCount }));

export const isDetails: Check<EventDetails> = objectOf({
  event: isCount,
  kind: oneOf(...MARK_KINDS),
  title: isString,
  at: isNumber,
  kindName: isString,
  actor: optional(isString),
  clusterLabel: isString,
  object: isObjectRef,
  facts: listOf(
    objectOf({
      label: isString,
      value: optional(isString),
      badge: optional(objectOf({ code: isString, colour: isCount, token: isString })),
      remark: optional(isString),
      isActor: optional(isBoolean),
      tone: optional(isTone),
    }),
  ),
  sections: isSections,
  related: isRelated,
  diff: optional(objectOf({ object: isObjectRef, before: isVersionRef, after: isVersionRef })),
  canEdit: isBoolean,
  finding: optional(objectOf({ id: isString, sections: isSections, evidence: isRelated })),
  text: isString,
});

function barsExist({ lanes, bars }: PackedLanes, path: string): string | undefined {
  return below(lanes.barsEnd, bars.uid.length + 1, `${path}.lanes.barsEnd`);
}

function sameLengths(value: unknown, path: string): string | undefined {
  if (!isPlainObject(value)) return `${path} is not an object`;
  const lengths = new Set(Object.values(value).map((column) => (column as ArrayLike<unknown>).length));
  return lengths.size <= 1 ? undefined : `${path} has columns of different lengths`;
}

function below(column: ArrayLike<number>, limit: number, path: string): string | undefined {
  for (let index = 0; index < column.length; index += 1) {
    if ((column[index] ?? 0) >= limit) return `${path}[${index}] is a place that does not exist`;
  }
  return undefined;
}

function placesOf<T>(items: readonly T[], place: (item: T) => number, limit: number, path: string): string | undefined {
  const wrong = items.findIndex((item) => place(item) >= limit);
  return wrong < 0 ? undefined : `${path}[${wrong}] names a place that does not exist`;
}
