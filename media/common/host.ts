import { toDisposable } from '../../src/base/disposable.ts';
import type { Port } from '../../src/protocol/channel.ts';

/** What VS Code gives a webview. It may be asked for once only. */
export interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

/** The extension's host as seen from a webview. */
export interface WebviewHost {
  readonly port: Port;
  /** What `keep` kept before the webview was hidden or the window reloaded. */
  readonly kept: unknown;
  keep(state: unknown): void;
}

/** Connects to the host. Call once. */
export function connectHost(): WebviewHost {
  const api = acquireVsCodeApi();
  return {
    kept: api.getState(),
    keep: (state) => api.setState(state),
    port: {
      post: (message) => api.postMessage(message),
      onMessage: (listener) => {
        const receive = (event: MessageEvent<unknown>): void => listener(event.data);
        window.addEventListener('message', receive);
        return toDisposable(() => window.removeEventListener('message', receive));
      },
    },
  };
}
