export function onceAtATime(
  lock: string,
  isDone: () => boolean,
  work: () => void | Promise<void>,
  onWait?: () => void,
): Promise<void>;
