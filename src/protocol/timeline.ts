import type { EventDetails, ObjectRef } from '../core/timeline/detailTypes.ts';
import type { TimelineDelta, TimelineModel } from '../core/timeline/model.ts';
import type { RequestChecks } from './channel.ts';
import { isDelta, isDetails, isModel, isObjectRef, isVersionRef } from './timelineChecks.ts';
import {
  exactly,
  isBoolean,
  isCount,
  isNumber,
  isString,
  objectOf,
  oneOf,
  optional,
  recordOf,
  unionBy,
  type Check,
  type Checked,
} from './validate.ts';

/** The version of the messages between the host and the timeline; `ready` carries it, and the host refuses another. */
export const TIMELINE_PROTOCOL = 1;

/** How the timeline shows things, from the settings; the host sends it with `init`. */
const isSettings = objectOf({
  /** Minutes east of UTC of the times shown. */
  timeZoneOffsetMin: isNumber,
  /** How much is shown while following live, until the person zooms. */
  followMs: isNumber,
  /** Whether "Safe edit" and "Show in tree" are offered: not for a trace without a cluster. */
  hasCluster: isBoolean,
});

/** Messages of the host that have no reply. Each snapshot and each append carries the next `sequence`. */
export type HostToTimeline =
  | {
      readonly type: 'init';
      readonly protocol: number;
      /** Translations of the view's English sentences; empty where the language is English. */
      readonly translations: Readonly<Record<string, string>>;
      readonly settings: TimelineSettings;
    }
  | { readonly type: 'snapshot'; readonly sequence: number; readonly model: TimelineModel }
  | { readonly type: 'append'; readonly sequence: number; readonly delta: TimelineDelta }
  /** Select this event and bring it into view: a finding's evidence, or a row of the tree. */
  | { readonly type: 'reveal'; readonly event: number; readonly finding?: string }
  /** Bring the lane of this object into view, and what of its incarnation is nearest to what is shown. */
  | { readonly type: 'revealObject'; readonly object: ObjectRef }
  | { readonly type: 'setFilter'; readonly filter: string };

/** The settings of the view. */
export type TimelineSettings = Checked<typeof isSettings>;

/** Checks what the host sends, in the view. */
export const isHostToTimeline: Check<HostToTimeline> = unionBy('type', {
  init: objectOf({
    type: exactly('init'),
    protocol: isCount,
    translations: recordOf(isString),
    settings: isSettings,
  }),
  snapshot: objectOf({ type: exactly('snapshot'), sequence: isCount, model: isModel }),
  append: objectOf({ type: exactly('append'), sequence: isCount, delta: isDelta }),
  reveal: objectOf({ type: exactly('reveal'), event: isCount, finding: optional(isString) }),
  revealObject: objectOf({ type: exactly('revealObject'), object: isObjectRef }),
  setFilter: objectOf({ type: exactly('setFilter'), filter: isString }),
});

/** Messages of the view that have no reply. */
export type TimelineToHost =
  /** Listening: send `init` and a snapshot. Sent once after each load. */
  | { readonly type: 'ready'; readonly protocol: number }
  /** An append was missed: send a full snapshot. */
  | { readonly type: 'resync'; readonly sequence: number }
  /** The view could not go on; for the log. */
  | { readonly type: 'problem'; readonly message: string };

/** Checks what the view sends, in the host. */
export const isTimelineToHost: Check<TimelineToHost> = unionBy('type', {
  ready: objectOf({ type: exactly('ready'), protocol: isCount }),
  resync: objectOf({ type: exactly('resync'), sequence: isCount }),
  problem: objectOf({ type: exactly('problem'), message: isString }),
});

const isNothing = exactly(null);

/** What the view may ask of the host, checked at both ends; every request gets a reply. */
export const TIMELINE_REQUESTS = {
  /**
   * What is known about one event; `finding`: the id of the finding that it is evidence of; `of`: which of the objects that a
   * read gave is looked at.
   */
  details: {
    params: objectOf({
      event: isCount,
      finding: optional(isString),
      of: optional(objectOf({ namespace: isString, name: isString })),
    }),
    result: isDetails,
  },
  /** Opens a diff of two versions. */
  openDiff: {
    params: objectOf({ object: isObjectRef, before: isVersionRef, after: isVersionRef }),
    result: isNothing,
  },
  /** Shows the object in the tree. */
  revealInTree: { params: objectOf({ object: isObjectRef }), result: isNothing },
  /** Opens the living object for a safe edit. */
  safeEdit: { params: objectOf({ object: isObjectRef }), result: isNothing },
  /** Looks for what is around the object, and watches what the person chooses of it. */
  showRelated: { params: objectOf({ object: isObjectRef }), result: isNothing },
  /** Opens the page of a finding. */
  openFinding: { params: objectOf({ id: isString }), result: isNothing },
  copy: { params: objectOf({ text: isString }), result: isNothing },
  /** Lets the tree show the state as of an event; null: as of now. */
  scrub: { params: objectOf({ event: optional(isCount) }), result: isNothing },
  /** Saves the trace to a file that the person chooses. `shared`: names and values replaced consistently. */
  exportTrace: { params: objectOf({ shared: isBoolean }), result: objectOf({ saved: isBoolean }) },
  /** Saves a picture that the view made to a file that the person chooses. `data`: SVG text, or PNG in base64. */
  saveImage: {
    params: objectOf({ format: oneOf('svg', 'png'), data: isString }),
    result: objectOf({ saved: isBoolean }),
  },
  /** The whole model with names and values replaced consistently, for a picture that can be shared. */
  sharedModel: { params: objectOf({}), result: isModel },
} satisfies RequestChecks;

/** The requests of the view. */
export type TimelineRequests = typeof TIMELINE_REQUESTS;

/** The host asks nothing of the view that wants a reply. */
export const HOST_REQUESTS = {} satisfies RequestChecks;

/** What `details` gives. */
export type { EventDetails };
