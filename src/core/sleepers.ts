import type { PackedObservation } from './packedObservation.ts';

const FREE = 0;
const TAKEN = -1;
const SMALLEST = 64;

/**
 * Objects that a list showed and nobody has asked about since, packed, found by name and by UID without a key string for
 * each. Whoever needs one takes it out, for good.
 */
export class Sleepers {
  private rows: (PackedObservation | undefined)[] = [];
  private readonly byName = new HashIndex((row) => this.rows[row]?.nameKey);
  private readonly byUid = new HashIndex((row) => this.rows[row]?.uidKey);
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** The keys are the object's own, which the caller has at hand. */
  add(object: PackedObservation, nameKey: string, uidKey: string): void {
    const row = this.rows.push(object) - 1;
    this.byName.add(nameKey, row);
    this.byUid.add(uidKey, row);
    this.count += 1;
  }

  hasName(key: string): boolean {
    return this.count > 0 && this.byName.find(key) !== undefined;
  }

  hasUid(key: string): boolean {
    return this.count > 0 && this.byUid.find(key) !== undefined;
  }

  takeName(key: string): PackedObservation | undefined {
    return this.count === 0 ? undefined : this.take(this.byName.find(key));
  }

  takeUid(key: string): PackedObservation | undefined {
    return this.count === 0 ? undefined : this.take(this.byUid.find(key));
  }

  /** Takes all of them, in order of their arrival. */
  takeAll(): PackedObservation[] {
    const all = this.rows.filter((row) => row !== undefined);
    this.rows = [];
    this.byName.clear();
    this.byUid.clear();
    this.count = 0;
    return all;
  }

  private take(row: number | undefined): PackedObservation | undefined {
    const object = row === undefined ? undefined : this.rows[row];
    if (row === undefined || object === undefined) return undefined;
    this.byName.remove(object.nameKey);
    this.byUid.remove(object.uidKey);
    this.rows[row] = undefined;
    this.count -= 1;
    return object;
  }
}

/** Finds rows by their keys, which it asks for instead of keeping them: open addressing with linear probing. */
class HashIndex {
  private readonly keyOf: (row: number) => string | undefined;
  /** Row + 1; `FREE` and `TAKEN` slots hold none. */
  private slots = new Int32Array(SMALLEST);
  private hashes = new Int32Array(SMALLEST);
  private used = 0;
  /** A key is mostly looked for before it is added. */
  private lastKey = '';
  private lastHash = hash('');

  constructor(keyOf: (row: number) => string | undefined) {
    this.keyOf = keyOf;
  }

  add(key: string, row: number): void {
    if ((this.used + 1) * 3 > this.slots.length * 2) this.grow();
    this.put(this.hashOf(key), row + 1);
  }

  find(key: string): number | undefined {
    const slot = this.slotOf(key);
    return slot === undefined ? undefined : (this.slots[slot] ?? 1) - 1;
  }

  remove(key: string): void {
    const slot = this.slotOf(key);
    if (slot !== undefined) this.slots[slot] = TAKEN;
  }

  clear(): void {
    this.slots = new Int32Array(SMALLEST);
    this.hashes = new Int32Array(SMALLEST);
    this.used = 0;
  }

  private slotOf(key: string): number | undefined {
    const wanted = this.hashOf(key);
    const mask = this.slots.length - 1;
    for (let slot = wanted & mask; ; slot = (slot + 1) & mask) {
      const value = this.slots[slot];
      if (value === FREE || value === undefined) return undefined;
      if (value !== TAKEN && this.hashes[slot] === wanted && this.keyOf(value - 1) === key) return slot;
    }
  }

  private hashOf(key: string): number {
    if (key !== this.lastKey) {
      this.lastHash = hash(key);
      this.lastKey = key;
    }
    return this.lastHash;
  }

  private put(wanted: number, value: number): void {
    const mask = this.slots.length - 1;
    let slot = wanted & mask;
    while (this.slots[slot] !== FREE) slot = (slot + 1) & mask;
    this.slots[slot] = value;
    this.hashes[slot] = wanted;
    this.used += 1;
  }

  private grow(): void {
    const { slots, hashes } = this;
    this.slots = new Int32Array(slots.length * 2);
    this.hashes = new Int32Array(slots.length * 2);
    this.used = 0;
    for (let slot = 0; slot < slots.length; slot += 1) {
      const value = slots[slot] ?? FREE;
      if (value > 0) this.put(hashes[slot] ?? 0, value);
    }
  }
}

/** FNV-1a over UTF-16 units. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value ^ (value >>> 15);
}
