/** What a record must tell so that iteration follows the order in which things became known. */
interface Ordered {
  readonly firstSeq: number;
}

/** How a map of records finds those that are still asleep. */
interface Waker {
  size(): number;
  hasAsleep(key: string): boolean;
  /** Makes the record of a key, if it is asleep; it then is in the map. */
  wake(key: string): void;
  wakeAll(): void;
}

/** A map of records of which some are asleep; whoever reads one wakes it. Iteration is in order of `firstSeq`. */
export class WakingMap<R extends Ordered> implements ReadonlyMap<string, R> {
  private awake = new Map<string, R>();
  private readonly waker: Waker;
  private lastSeq = -1;
  private isOrdered = true;

  constructor(waker: Waker) {
    this.waker = waker;
  }

  get size(): number {
    return this.awake.size + this.waker.size();
  }

  get(key: string): R | undefined {
    const known = this.awake.get(key);
    if (known !== undefined || this.waker.size() === 0) return known;
    this.waker.wake(key);
    return this.awake.get(key);
  }

  has(key: string): boolean {
    return this.awake.has(key) || this.waker.hasAsleep(key);
  }

  set(key: string, record: R): void {
    if (record.firstSeq < this.lastSeq) this.isOrdered = false;
    else this.lastSeq = record.firstSeq;
    this.awake.set(key, record);
  }

  forEach(use: (record: R, key: string, map: ReadonlyMap<string, R>) => void): void {
    for (const [key, record] of this.all()) use(record, key, this);
  }

  keys(): MapIterator<string> {
    return this.all().keys();
  }

  values(): MapIterator<R> {
    return this.all().values();
  }

  entries(): MapIterator<[string, R]> {
    return this.all().entries();
  }

  [Symbol.iterator](): MapIterator<[string, R]> {
    return this.entries();
  }

  private all(): Map<string, R> {
    this.waker.wakeAll();
    if (!this.isOrdered) {
      this.awake = new Map([...this.awake].sort(([, a], [, b]) => a.firstSeq - b.firstSeq));
      this.isOrdered = true;
    }
    return this.awake;
  }
}
