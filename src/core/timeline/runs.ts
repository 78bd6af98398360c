import { FLAG, type MarkKind } from './model.ts';

/** A mark of a lane that may still change: something about it may become known. */
export interface RecentMark {
  /** UID and token of its version; '' for a mark that is not a version's. */
  readonly key: string;
  readonly mark: number;
  kind: MarkKind;
  renewal: boolean;
  unplaced: boolean;
  actor: number;
  flags: number;
}

/** A run of foldable changes of one actor: how many there were so far. */
interface Run {
  readonly actor: number;
  readonly length: number;
}

/** How far back a mark may still change. */
const MAX_RECENT = 64;
/** The third of a run of foldable changes is a heartbeat. */
const HEARTBEAT_FROM = 3;
const NO_RUN: Run = { actor: 0, length: 0 };

/**
 * The last marks of one lane, and which of them are runs of noise. What becomes known later gives the same flags as if it
 * had been known at once.
 */
export class RecentMarks {
  private readonly entries: RecentMark[] = [];
  /** The run that the oldest entry may continue. */
  private before: Run = NO_RUN;

  /** Adds the newest mark and gives its flags. */
  push(entry: Omit<RecentMark, 'flags'>): number {
    const last = this.entries.at(-1);
    const run = last === undefined ? this.before : this.runAt(this.entries.length - 1);
    const { flags } = flagged(entry, run);
    this.entries.push({ ...entry, flags });
    if (this.entries.length > MAX_RECENT) {
      const oldest = this.entries.shift();
      if (oldest !== undefined) this.before = flagged(oldest, this.before).run;
    }
    return flags;
  }

  /** The mark of a version, if it is recent. */
  find(key: string): RecentMark | undefined {
    return this.entries.findLast((entry) => entry.key === key);
  }

  /** Works out all flags anew and gives the marks whose flags changed. */
  reflag(): RecentMark[] {
    const changed: RecentMark[] = [];
    let run = this.before;
    for (const entry of this.entries) {
      const next = flagged(entry, run);
      run = next.run;
      if (entry.flags === next.flags) continue;
      entry.flags = next.flags;
      changed.push(entry);
    }
    return changed;
  }

  private runAt(index: number): Run {
    const entry = this.entries[index];
    if (entry === undefined || (entry.flags & FLAG.foldable) === 0) return NO_RUN;
    let length = 1;
    let at = index;
    while (at > 0 && ((this.entries[at]?.flags ?? 0) & FLAG.continuesRun) !== 0) {
      at -= 1;
      length += 1;
    }
    const continues = ((this.entries[at]?.flags ?? 0) & FLAG.continuesRun) !== 0;
    return { actor: entry.actor, length: continues ? length + this.before.length : length };
  }
}

function flagged(entry: Omit<RecentMark, 'flags'>, before: Run): { flags: number; run: Run } {
  const unplaced = entry.unplaced ? FLAG.unplaced : 0;
  if (entry.kind !== 'status' && !entry.renewal) return { flags: unplaced, run: NO_RUN };
  const continues = before.length > 0 && before.actor === entry.actor;
  const length = continues ? before.length + 1 : 1;
  const heartbeat = entry.renewal || length >= HEARTBEAT_FROM ? FLAG.heartbeat : 0;
  return {
    flags: unplaced | FLAG.foldable | heartbeat | (continues ? FLAG.continuesRun : 0),
    run: { actor: entry.actor, length },
  };
}
