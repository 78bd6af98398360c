import type { TraceEvent } from '../traceEvent.ts';
import type { Finding } from './finding.ts';
import { FindingStore } from './findingStore.ts';
import { defaultThresholds, type DetectorOptions } from './options.ts';
import type { Rule } from './rule.ts';
import { AssociationRule } from './rules/associations.ts';
import { ConflictRule } from './rules/conflicts.ts';
import { CreationRule } from './rules/creations.ts';
import { IncarnationRule } from './rules/incarnations.ts';
import { LoopRule } from './rules/loops.ts';
import { LostUpdateRule } from './rules/lostUpdate.ts';
import { MutualLoopRule } from './rules/mutualLoops.ts';
import { OwnershipRule } from './rules/ownership.ts';
import { PatchRule } from './rules/patches.ts';
import { ReferenceRule } from './rules/references.ts';
import { ResponsibilityRule } from './rules/responsibility.ts';
import { RevivalRule } from './rules/revivals.ts';
import { ServerRule } from './rules/server.ts';
import { StaleReadRule } from './rules/staleRead.ts';
import { StaleUseRule } from './rules/staleUse.ts';
import { StatusRule } from './rules/status.ts';
import { UncertainRule } from './rules/uncertain.ts';
import { World } from './world.ts';

/** Finds in the events of one log, one event at a time, in bounded memory; the same events give the same findings. */
export interface Detector {
  /** Takes the next event and returns the findings that are new or grew by it. */
  add(event: TraceEvent): Finding[];
  /**
   * Time has come to `now` (milliseconds since the epoch) without an event: returns what that alone tells. No event from
   * before `now` may come later; then the findings are the same however often this is called.
   */
  advance(now: number): Finding[];
  /** When time alone tells something next, in milliseconds since the epoch; undefined where nothing waits for it. */
  due(): number | undefined;
  /** The log ends here: returns what only its end can tell. */
  end(): Finding[];
  /** All findings so far, in order of their first event. */
  findings(): Finding[];
  /** How many findings were taken back, because later events disproved them or a person settled what they were about. */
  retracted(): number;
}

/** Makes a detector with all rules. */
export function createDetector(options: DetectorOptions = {}): Detector {
  const thresholds = { ...defaultThresholds, ...options };
  const store = new FindingStore(thresholds.maxFindings, thresholds.translate);
  const world = new World(thresholds, store, allRules());
  return {
    add: (event) => {
      world.add(event);
      return store.drain();
    },
    advance: (now) => {
      world.advance(now);
      return store.drain();
    },
    due: () => world.due(),
    end: () => {
      world.end();
      return store.drain();
    },
    findings: () => store.all(),
    retracted: () => store.retracted,
  };
}

/** Rules that look at what the others were told before come later. */
function allRules(): Rule[] {
  return [
    new IncarnationRule(),
    new RevivalRule(),
    new ReferenceRule(),
    new StaleUseRule(),
    new AssociationRule(),
    new ServerRule(),
    new StaleReadRule(),
    new CreationRule(),
    new UncertainRule(),
    new ConflictRule(),
    new LoopRule(),
    new MutualLoopRule(),
    new LostUpdateRule(),
    new PatchRule(),
    new OwnershipRule(),
    new ResponsibilityRule(),
    new StatusRule(),
  ];
}
