// Finds a Chromium for the tests, or gets one.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { root, run, say } from './bootstrap.mjs';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const macApps = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The path of a Chromium or Chrome that is installed, or undefined. */
export function findBrowser() {
  if (process.env.CHROME_PATH) return process.env.CHROME_PATH;
  const folders = (process.env.PATH ?? '').split(delimiter);
  return (
    [...folders.flatMap((folder) => names.map((name) => join(folder, name))), ...macApps].find((path) =>
      existsSync(path),
    ) ?? downloaded()
  );
}

function downloaded() {
  const asked = spawnSync(
    process.execPath,
    ['-e', "import('playwright-core').then((p) => console.log(p.chromium.executablePath()))"],
    { cwd: root, encoding: 'utf8' },
  );
  const path = asked.stdout?.trim();
  return path && existsSync(path) ? path : undefined;
}

const isRootOnDebian = () => process.getuid?.() === 0 && existsSync('/etc/debian_version');

/**
 * A browser's path. First one that is there, then a download into Playwright's own cache, and only as root on Debian, and
 * saying so, the distribution's package.
 */
export function ensureBrowser() {
  const found = findBrowser();
  if (found) return found;
  say('no Chromium found; asking Playwright for one …');
  const download = spawnSync(
    process.execPath,
    [join(root, 'node_modules/playwright-core/cli.js'), 'install', 'chromium'],
    { cwd: root, stdio: 'ignore', timeout: 120_000 },
  );
  if (download.status === 0 && downloaded()) return downloaded();
  if (isRootOnDebian()) {
    say('installing the Debian package "chromium" on this machine (root on Debian): apt-get install -y chromium …');
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    run('apt-get', ['update', '-qq'], { stdio: 'ignore', env });
    run('apt-get', ['install', '-y', '-qq', 'chromium'], { stdio: 'ignore', env });
    const installed = findBrowser();
    if (installed) return installed;
  }
  throw new Error('No Chromium or Chrome could be found. Install one, or set CHROME_PATH to it.');
}
