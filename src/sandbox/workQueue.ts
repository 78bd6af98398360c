/** Runs work behind the current answer, once for each key however often it was asked for, until stopped. */
export class WorkQueue {
  private readonly work: (key: string) => void;
  private readonly due = new Set<string>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private handle: NodeJS.Immediate | undefined;
  private stopped = false;

  constructor(work: (key: string) => void) {
    this.work = work;
  }

  /** Asks for a key's work. */
  add(key: string): void {
    if (this.stopped) return;
    this.due.add(key);
    this.handle ??= setImmediate(() => this.drain());
  }

  /** Asks for a key's work later. */
  addAfter(key: string, ms: number): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.add(key);
    }, ms);
    timer.unref();
    this.timers.add(timer);
  }

  /** Ends; nothing more is done. */
  stop(): void {
    this.stopped = true;
    this.due.clear();
    if (this.handle !== undefined) clearImmediate(this.handle);
    for (const timer of this.timers) clearTimeout(timer);
  }

  private drain(): void {
    this.handle = undefined;
    const keys = [...this.due];
    this.due.clear();
    for (const key of keys) this.work(key);
  }
}
