/** Something that holds a resource until it is disposed; disposing twice does nothing. */
export interface Disposable {
  dispose(): void;
}

/** One disposable made of a function that runs once. */
export function toDisposable(release: () => void): Disposable {
  let done = false;
  return {
    dispose() {
      if (done) return;
      done = true;
      release();
    },
  };
}

/** Owns disposables and disposes them last-first; what arrives after disposal is disposed at once. */
export class DisposableStore implements Disposable {
  private items: Disposable[] = [];
  private disposed = false;

  add<T extends Disposable>(item: T): T {
    if (this.disposed) item.dispose();
    else this.items.push(item);
    return item;
  }

  dispose(): void {
    this.disposed = true;
    const items = this.items;
    this.items = [];
    for (const item of items.reverse()) item.dispose();
  }
}
