export function onceAtATime(
  lock: string,
  isDone: () => boolean,
  work: () => void | Promise<void>,
  options?: { onWait?: () => void; staleMs?: number },
): Promise<void>;
