import type { ApiState } from './state.ts';

/** Loops that a cluster has beside its API server, running until stopped. */
export interface Controllers {
  stop(): void;
}

/** Several controllers as one. */
export function startControllers(state: ApiState, starts: readonly ((state: ApiState) => Controllers)[]): Controllers {
  const running = starts.map((start) => start(state));
  return {
    stop() {
      for (const controllers of running) controllers.stop();
    },
  };
}
