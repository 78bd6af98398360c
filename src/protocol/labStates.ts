import {
  isBoolean,
  isCount,
  isNumber,
  isString,
  listOf,
  objectOf,
  oneOf,
  optional,
  type Check,
  type Checked,
} from './validate.ts';

/** The pages of the labs; each is a panel of its own. */
export const LAB_PAGES = ['modular', 'replay', 'contention', 'lessons'] as const;

/** One of the labs' pages. */
export type LabPage = (typeof LAB_PAGES)[number];

/** Where a lab's requests go. */
const isPlace = objectOf({ label: isString, namespace: isString, isSandbox: isBoolean });

/** A token as an equality badge: its code and one of the colours of the palette. */
const isBadge = objectOf({ code: isString, colour: isCount });

/** What `rule says` of two labels: greater means newer. */
const isOrder = oneOf('newer', 'older', 'the same');

/** The modular lab as its page shows it. Labels travel as text, because they may be greater than what a number holds. */
const isModularState = objectOf({
  /** What the labels are, and what they are not; always in sight. */
  disclaimer: isString,
  m: isString,
  a: isString,
  label: isString,
  steps: isCount,
  /** How many different labels were shown so far, the start included, and how many there are in all. */
  visited: isCount,
  visitedInAll: isString,
  /** What stands on the ring: `turn` is the place, from 0 at the top clockwise to 1. */
  ring: listOf(objectOf({ label: isString, turn: isNumber, visited: isBoolean, current: isBoolean })),
  /** Whether the ring shows every residue; a long one shows those visited only. */
  ringIsWhole: isBoolean,
  /** The newest steps, oldest first. */
  history: listOf(
    objectOf({
      step: isCount,
      predicted: optional(isString),
      actual: isString,
      right: isBoolean,
      isGreater: isBoolean,
    }),
  ),
  questions: listOf(
    objectOf({
      id: isString,
      earlierStep: isCount,
      laterStep: isCount,
      older: isString,
      newer: isString,
      chosen: optional(isOrder),
      /** What the rule says; there once the learner has chosen. */
      ruleSays: optional(isOrder),
    }),
  ),
});

/** One request of a lab and what came back. */
const isExchange = objectOf({
  who: isString,
  method: isString,
  status: isCount,
  reason: optional(isString),
  uid: optional(isString),
  sent: optional(isBadge),
  answered: optional(isBadge),
});

const isFacts = listOf(objectOf({ name: isString, expected: isString, observed: isString, holds: isBoolean }));

/** The equality-token replay as its page shows it. */
const isReplayState = objectOf({
  place: isPlace,
  phase: oneOf('idle', 'starting', 'asking', 'running', 'done', 'stopped'),
  total: isCount,
  steps: listOf(
    objectOf({
      id: isString,
      title: isString,
      question: isString,
      predicted: isString,
      answer: isString,
      right: isBoolean,
      lesson: isString,
      holds: isBoolean,
      facts: isFacts,
      exchanges: listOf(isExchange),
    }),
  ),
  current: optional(objectOf({ index: isCount, title: isString, question: isString, choices: listOf(isString) })),
  /** Why it ended before its end. */
  problem: optional(isString),
  /** There when it is done: whether the server behaved as the contract says in every step. */
  holds: optional(isBoolean),
});

/** The ways to write that the contention lab compares. */
export const CONTENTION_STRATEGIES = ['naive', 'token-swap', 'read-modify-write', 'apply'] as const;

/** What one run of the contention lab is to do. */
export const isContentionOptions = objectOf({
  strategy: oneOf(...CONTENTION_STRATEGIES),
  actors: isCount,
  updates: isCount,
  thinkMs: isCount,
  /** Attempts of one update before its actor gives up. */
  maxAttempts: isCount,
  seed: isCount,
});

/** The contention lab as its page shows it: one run, or two side by side. */
const isContentionState = objectOf({
  place: isPlace,
  running: isBoolean,
  runs: listOf(
    objectOf({
      options: isContentionOptions,
      phase: oneOf('running', 'done', 'cancelled', 'failed'),
      accepted: isCount,
      refused: isCount,
      retried: isCount,
      attempts: isCount,
      gaveUp: isCount,
      /** Counted from what the server holds: at least this many while it runs, exactly this many afterwards. */
      lost: isCount,
      lostIsFinal: isBoolean,
      seconds: isNumber,
      problem: optional(isString),
      /** Attempts over time, in bins of `binMs`. */
      binMs: isCount,
      acceptedBins: listOf(isCount),
      refusedBins: listOf(isCount),
    }),
  ),
});

const isChecks = listOf(objectOf({ text: isString, passed: isBoolean }));

/** The lessons as their page shows them: the list, and the one that is open. */
const isLessonsState = objectOf({
  place: isPlace,
  lessons: listOf(
    objectOf({
      id: isString,
      title: isString,
      about: isString,
      steps: isCount,
      state: oneOf('new', 'running', 'passed', 'not-passed'),
    }),
  ),
  open: optional(
    objectOf({
      id: isString,
      title: isString,
      about: isString,
      phase: oneOf('starting', 'working', 'over'),
      busy: isBoolean,
      passed: isBoolean,
      /** Why it ended before its end, or what of it could not be removed. */
      problem: optional(isString),
      /** The step that the learner is at; absent before the first and after the last. */
      step: optional(
        objectOf({
          id: isString,
          index: isCount,
          title: isString,
          task: isString,
          question: optional(isString),
          choices: listOf(isString),
          /** The objects that the step is about, as `RESOURCE/NAME`. */
          objects: listOf(isString),
          /** What can be typed in a terminal to do the step. */
          commands: listOf(isString),
          predicted: optional(isString),
          predictedRight: optional(isBoolean),
          answer: optional(isString),
          /** Asks for that many labels of the modular lab. */
          labels: optional(objectOf({ m: isString, a: isString, steps: isCount })),
          checks: isChecks,
        }),
      ),
      /** The steps passed, with what was learnt. */
      steps: listOf(
        objectOf({
          id: isString,
          title: isString,
          passed: isBoolean,
          shown: isBoolean,
          tries: isCount,
          predicted: optional(isString),
          predictedRight: optional(isBoolean),
          lesson: optional(isString),
          checks: isChecks,
        }),
      ),
    }),
  ),
});

/** What a lab's page shows, by page. */
export type LabState =
  | ({ readonly page: 'modular' } & Checked<typeof isModularState>)
  | ({ readonly page: 'replay' } & Checked<typeof isReplayState>)
  | ({ readonly page: 'contention' } & Checked<typeof isContentionState>)
  | ({ readonly page: 'lessons' } & Checked<typeof isLessonsState>);

/** The state of one page. */
export type StateOf<P extends LabPage> = Extract<LabState, { page: P }>;

const checks: { readonly [P in LabPage]: Check<unknown> } = {
  modular: isModularState,
  replay: isReplayState,
  contention: isContentionState,
  lessons: isLessonsState,
};
const isPaged = objectOf({ page: oneOf(...LAB_PAGES) });

/** Checks the state of whichever page it is. */
export const isLabState: Check<LabState> = (value, path) => {
  const problem = isPaged(value, path);
  if (problem !== undefined) return problem;
  const { page } = value as { page: LabPage };
  return checks[page](value, path);
};

/** What one run of the contention lab is to do. */
export type ContentionRunOptions = Checked<typeof isContentionOptions>;
/** A token's badge on a lab's page. */
export type LabBadge = Checked<typeof isBadge>;
/** One request of a lab and what came back. */
export type LabExchange = Checked<typeof isExchange>;
/** Where a lab's requests go. */
export type LabPlaceState = Checked<typeof isPlace>;
/** What "greater means newer" says of two labels. */
export type OrderWord = Checked<typeof isOrder>;
