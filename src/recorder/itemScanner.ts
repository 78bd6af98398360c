const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const LISTS = new Set(['items', 'rows']);
const MAX_KEY = 8;

/**
 * Cuts the items out of a list in JSON as it streams (the `items` of a List, the `rows` of a Table), so that no list is ever
 * held whole; what stands around them is kept as text. A document without a list is all rest. Bytes may be cut anywhere.
 */
export class ItemScanner {
  private readonly onItem: (text: string) => void;
  private readonly maxBytes: number;
  private rest: Buffer[] = [];
  private restBytes = 0;
  private item: Buffer[] = [];
  private itemBytes = 0;
  private depth = 0;
  private inString = false;
  private escaped = false;
  private inList = false;
  private key: number[] = [];
  private lastKey = '';
  /** Whether an item or the rest outgrew the bound; it is dropped then. */
  overflowed = false;

  constructor(onItem: (text: string) => void, maxBytes: number) {
    this.onItem = onItem;
    this.maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    let start = 0;
    let inItem = this.inList && this.depth > 2;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (this.inString) {
        if (this.escaped) this.escaped = false;
        else if (byte === BACKSLASH) this.escaped = true;
        else if (byte === QUOTE) this.endString();
        else if (this.depth === 1 && this.key.length <= MAX_KEY) this.key.push(byte);
        continue;
      }
      if (byte === QUOTE) {
        this.inString = true;
        this.key = [];
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        this.depth += 1;
        if (byte === OPEN_BRACKET && this.depth === 2 && LISTS.has(this.lastKey)) {
          this.keepRest(chunk.subarray(start, at + 1));
          this.inList = true;
          start = at + 1;
        } else if (this.inList && this.depth === 3) {
          inItem = true;
          start = at;
        }
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.depth -= 1;
        if (this.inList && this.depth === 2 && inItem) {
          this.keepItem(chunk.subarray(start, at + 1));
          this.endItem();
          inItem = false;
          start = at + 1;
        } else if (this.inList && this.depth === 1) {
          this.inList = false;
          start = at;
        }
      }
    }
    if (inItem) this.keepItem(chunk.subarray(start));
    else if (!this.inList) this.keepRest(chunk.subarray(start));
  }

  /** The document with its list emptied, once all has been pushed. */
  end(): string {
    const text = Buffer.concat(this.rest).toString('utf8');
    this.rest = [];
    return text;
  }

  /** The beginning of what stands before the items: kind and version of a list are there for built-in kinds. */
  get head(): string {
    return Buffer.concat(this.rest).toString('utf8');
  }

  private endString(): void {
    this.inString = false;
    if (this.depth === 1) this.lastKey = String.fromCharCode(...this.key);
  }

  private keepRest(part: Buffer): void {
    this.restBytes += part.length;
    if (this.restBytes > this.maxBytes) {
      this.overflowed = true;
      this.rest = [];
    } else if (part.length > 0) this.rest.push(part);
  }

  private keepItem(part: Buffer): void {
    this.itemBytes += part.length;
    if (this.itemBytes > this.maxBytes) {
      this.overflowed = true;
      this.item = [];
    } else if (part.length > 0) this.item.push(part);
  }

  private endItem(): void {
    if (this.itemBytes <= this.maxBytes)
      this.onItem(
        (this.item.length === 1 ? (this.item[0] ?? Buffer.alloc(0)) : Buffer.concat(this.item)).toString('utf8'),
      );
    this.item = [];
    this.itemBytes = 0;
  }
}
