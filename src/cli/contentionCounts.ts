import type { Clock } from '../base/clock.ts';
import type { AttemptSeries } from '../lab/attemptSeries.ts';
import type { ContentionCounts } from '../lab/contention.ts';
import type { CliIo } from './io.ts';

/** How often the line is drawn, at most, in ms. */
const DRAW_MS = 100;
/** Heights of a bar, from none to full. */
const BARS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/** Clears the line that the cursor is in. */
const CLEAR = '\r\u001b[K';

/** The counts of a contention run in one line on stderr while it runs, drawn over and over; elsewhere than at a terminal nothing. */
export class LiveCounts {
  private readonly io: Pick<CliIo, 'stderr' | 'hasLiveStderr'> & { readonly clock: Pick<Clock, 'now'> };
  private counts: Pick<ContentionCounts, 'accepted' | 'refused' | 'retried'> = { accepted: 0, refused: 0, retried: 0 };
  private lost = 0;
  private drawnAt = -Infinity;

  constructor(io: LiveCounts['io']) {
    this.io = io;
  }

  /** What was counted so far. */
  progress({ accepted, refused, retried }: LiveCounts['counts']): void {
    this.counts = { accepted, refused, retried };
    this.draw();
  }

  /** At least so many updates are lost: never fewer than were before. */
  losses(atLeast: number): void {
    this.lost = Math.max(this.lost, atLeast);
    this.draw();
  }

  /** Takes the line away. */
  end(): void {
    if (this.drawnAt !== -Infinity) this.io.stderr(CLEAR);
  }

  private draw(): void {
    const now = this.io.clock.now();
    if (this.io.hasLiveStderr !== true || now - this.drawnAt < DRAW_MS) return;
    this.drawnAt = now;
    const { accepted, refused, retried } = this.counts;
    this.io.stderr(
      `${CLEAR}accepted ${accepted}, refused ${refused}, retried ${retried}, lost ${this.lost === 0 ? '0' : `at least ${this.lost}`}`,
    );
  }
}

/** The attempts of a run as two rows of bars on one scale, a column for each stretch of time; empty where there were none. */
export function attemptsChart({ accepted, refused, binMs }: AttemptSeries): string {
  const most = Math.max(0, ...accepted, ...refused);
  if (most === 0) return '';
  const row = (counts: readonly number[]): string =>
    counts.map((count) => BARS[Math.ceil((count / most) * (BARS.length - 1))] ?? '').join('');
  return `attempts, ${binMs} ms a column, ${most} at most\naccepted |${row(accepted)}|\nrefused  |${row(refused)}|\n`;
}
