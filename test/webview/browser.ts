import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const MAC_APPS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'];

/** The path of a Chromium or Chrome: CHROME_PATH, the PATH, the usual places, or Playwright's own. */
export function browserPath(): string {
  const chosen = process.env['CHROME_PATH'];
  if (chosen !== undefined && chosen !== '') return chosen;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = [...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))), ...MAC_APPS].find((path) =>
    existsSync(path),
  );
  if (found !== undefined) return found;
  if (existsSync(chromium.executablePath())) return chromium.executablePath();
  throw new Error('The webview tests need a Chromium or Chrome: install one, or set CHROME_PATH to it.');
}

/** Starts a browser; the caller closes it. */
export function launchBrowser(flags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: browserPath(), args: [...FLAGS, ...flags] });
}
