import { toDisposable, type Disposable } from './disposable.ts';

/** Subscribes a listener; the returned disposable unsubscribes it. */
export type Event<T> = (listener: (value: T) => void) => Disposable;

/** A source of events. A listener that throws is reported to `onError` and does not stop the others. */
export class Emitter<T> implements Disposable {
  private readonly listeners = new Set<(value: T) => void>();
  private readonly onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.onError = onError;
  }

  readonly event: Event<T> = (listener) => {
    const own = (value: T): void => listener(value);
    this.listeners.add(own);
    return toDisposable(() => this.listeners.delete(own));
  };

  fire(value: T): void {
    for (const listener of Array.from(this.listeners)) {
      try {
        listener(value);
      } catch (error) {
        this.onError(error);
      }
    }
  }

  dispose(): void {
    this.listeners.clear();
  }
}
