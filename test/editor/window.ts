import { commands } from 'vscode';

/** The window that the tests run in, as a person sees it; there only where our launcher is the executable. */
const address = process.env['OBJECT_VERSIONS_WINDOW'];

async function ask(request: object): Promise<unknown> {
  if (address === undefined) return null;
  const response = await fetch(address, { method: 'POST', body: JSON.stringify(request) });
  const answer = (await response.json()) as { value?: unknown; error?: string };
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer.value;
}

/** Skips a test that drives the window, and so has it counted, where VS Code runs by itself, without our launcher. */
export function needWindow(test: Mocha.Context): void {
  if (address === undefined) test.skip();
}

/** Keeps a picture of the window among the files of the run. */
export async function screenshot(name: string): Promise<void> {
  await ask({ do: 'screenshot', name });
}

/** Presses a key or chord, such as `Control+S`. */
export async function press(key: string): Promise<void> {
  await ask({ do: 'press', key });
}

/** Types text into what has the focus. */
export async function type(text: string): Promise<void> {
  await ask({ do: 'type', text });
}

/** Clicks the first element that a selector finds, in the window or in a webview. */
export async function click(selector: string): Promise<boolean> {
  return (await ask({ do: 'click', selector })) === true;
}

/** The notifications that nobody dismissed, toasts or not. */
export async function notifications(): Promise<string[]> {
  await commands.executeCommand('notifications.showList');
  return (await texts('.notification-list-item')) ?? [];
}

/** The visible texts that a selector finds, webviews included; undefined where the window cannot be asked. */
export async function texts(selector: string): Promise<string[] | undefined> {
  const found = await ask({ do: 'texts', selector });
  return Array.isArray(found) ? (found as string[]) : undefined;
}
