/**
 * The page's side of a bridge: what the view posts goes to the test's process, where the real session and the real host's
 * code are, and what they post comes back. Messages are cloned on their way, as `postMessage` does.
 */
declare global {
  interface Window {
    /** Set by the test; called with each message of the view. */
    labToHost?: (message: unknown) => void;
    /** Messages posted before the bridge was there. */
    labWaiting: unknown[];
    labViolations: string[];
  }
}

window.labWaiting = [];
window.labViolations = [];
document.addEventListener('securitypolicyviolation', (event) =>
  window.labViolations.push(`${event.violatedDirective} ${event.blockedURI}`),
);
/** What the page kept, which lives as long as the page here. */
let kept: unknown;
const api = {
  postMessage: (message: unknown) => {
    const copy: unknown = structuredClone(message);
    if (window.labToHost === undefined) window.labWaiting.push(copy);
    else window.labToHost(copy);
  },
  getState: () => kept,
  setState: (state: unknown) => {
    kept = structuredClone(state);
  },
};
window.acquireVsCodeApi = () => api;
