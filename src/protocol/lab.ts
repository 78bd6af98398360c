import type { RequestChecks } from './channel.ts';
import { isContentionOptions, isLabState, LAB_PAGES, type LabPage, type LabState } from './labStates.ts';
import { exactly, isCount, isString, listOf, objectOf, oneOf, recordOf, unionBy, type Check } from './validate.ts';

/** The version of the messages between the host and a lab's page; `ready` carries it, and the host refuses another. */
export const LAB_PROTOCOL = 1;

/** Messages of the host that have no reply. Every state is the whole of it, with the next `sequence`. */
export type HostToLab =
  | {
      readonly type: 'init';
      readonly protocol: number;
      readonly page: LabPage;
      /** Translations of the page's English sentences; empty where the language is English. */
      readonly translations: Readonly<Record<string, string>>;
    }
  | { readonly type: 'state'; readonly sequence: number; readonly state: LabState };

/** Checks what the host sends, in the page. */
export const isHostToLab: Check<HostToLab> = unionBy('type', {
  init: objectOf({
    type: exactly('init'),
    protocol: isCount,
    page: oneOf(...LAB_PAGES),
    translations: recordOf(isString),
  }),
  state: objectOf({ type: exactly('state'), sequence: isCount, state: isLabState }),
});

/** Messages of a lab's page that have no reply. */
export type LabToHost =
  /** Listening: send `init` and the state. Sent once after each load. */
  | { readonly type: 'ready'; readonly protocol: number }
  /** The page could not go on; for the log. */
  | { readonly type: 'problem'; readonly message: string };

/** Checks what a lab's page sends, in the host. */
export const isLabToHost: Check<LabToHost> = unionBy('type', {
  ready: objectOf({ type: exactly('ready'), protocol: isCount }),
  problem: objectOf({ type: exactly('problem'), message: isString }),
});

const isNothing = exactly(null);
const nothing = { params: objectOf({}), result: isNothing };

/** What every page may ask; what came of it arrives as a state. */
export const COMMON_REQUESTS = {
  /** Lets the person choose the cluster and namespace that the lab runs on. */
  choosePlace: nothing,
  openTimeline: nothing,
  /** Opens another lab's page. */
  openPage: { params: objectOf({ page: oneOf(...LAB_PAGES) }), result: isNothing },
} satisfies RequestChecks;

/** What the page of the modular lab may ask. m and a are what a person typed; a bad one fails with `usage`. */
export const MODULAR_REQUESTS = {
  modularReset: { params: objectOf({ m: isString, a: isString }), result: isNothing },
  modularStep: { params: objectOf({ predicted: isString }), result: isNothing },
  modularAnswer: {
    params: objectOf({ id: isString, choice: oneOf('newer', 'older', 'the same') }),
    result: isNothing,
  },
} satisfies RequestChecks;

/** What the page of the equality-token replay may ask. */
export const REPLAY_REQUESTS = {
  replayStart: nothing,
  /** Runs the step that is asked about; the prediction is one of its choices. */
  replayStep: { params: objectOf({ prediction: isString }), result: isNothing },
  /** Ends it and removes what it created. */
  replayStop: nothing,
} satisfies RequestChecks;

/** What the page of the contention lab may ask. */
export const CONTENTION_REQUESTS = {
  /** One run, or two one after the other with the same server, to be compared. */
  contentionStart: { params: objectOf({ runs: listOf(isContentionOptions) }), result: isNothing },
  contentionCancel: nothing,
} satisfies RequestChecks;

/** What the page of the lessons may ask. */
export const LESSON_REQUESTS = {
  lessonStart: { params: objectOf({ id: isString }), result: isNothing },
  lessonPredict: { params: objectOf({ choice: isString }), result: isNothing },
  lessonPredictLabels: { params: objectOf({ labels: listOf(isString) }), result: isNothing },
  lessonCheck: nothing,
  lessonSolve: nothing,
  /** Ends the lesson, and removes what stands at its names. */
  lessonEnd: nothing,
  lessonExport: { params: objectOf({ format: oneOf('json', 'markdown') }), result: isNothing },
  lessonOpenFile: nothing,
  /** Opens one of the step's objects for a safe edit. */
  lessonOpenObject: { params: objectOf({ object: isString }), result: isNothing },
  /** Opens a terminal in which kubectl means the server of the lesson. */
  lessonTerminal: nothing,
} satisfies RequestChecks;

/** The requests of all pages. */
export const LAB_REQUESTS = {
  ...COMMON_REQUESTS,
  ...MODULAR_REQUESTS,
  ...REPLAY_REQUESTS,
  ...CONTENTION_REQUESTS,
  ...LESSON_REQUESTS,
} satisfies RequestChecks;

/** The requests of all pages. */
export type LabRequests = typeof LAB_REQUESTS;
