import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import { THEMES } from './themes.ts';

const ROOT = join(import.meta.dirname, '../..');

/** How a page is opened. */
export interface PageOptions {
  readonly theme?: string;
  readonly width?: number;
  readonly height?: number;
  readonly scale?: number;
  readonly bodyClass?: string;
  readonly reducedMotion?: boolean;
  /** What `window.testOptions` holds before anything runs. */
  readonly test?: object;
  /** Another webview's entry than the timeline's, or another page script. */
  readonly webview?: string;
  readonly pageScript?: string;
  /** More style sheets, by their path in the repository. */
  readonly styles?: readonly string[];
}

/**
 * Serves webviews on loopback as VS Code does: one document with a nonce, the strict content policy of ours, the bundle and
 * its styles, the theme's variables on the root element, and a host in the page that speaks the real protocol.
 */
export class WebviewHarness {
  private readonly browser: Browser;
  private readonly contexts: BrowserContext[] = [];
  private readonly bundles = new Map<string, Promise<string>>();
  private server: Server | undefined;
  private origin = '';
  private readonly documents = new Map<string, string>();

  constructor(browser: Browser) {
    this.browser = browser;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      void this.answer(url.pathname).then(
        ({ type, body }) => response.writeHead(200, { 'content-type': type }).end(body),
        (error: unknown) => response.writeHead(404).end(String(error)),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    this.server = server;
    this.origin = `http://127.0.0.1:${address.port}`;
  }

  async stop(): Promise<void> {
    for (const context of this.contexts) await context.close();
    const { server } = this;
    if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  /** Opens a page; problems of the page itself fail the test that asks `pageErrors`. */
  async open(options: PageOptions = {}): Promise<Page & { pageErrors: string[] }> {
    const context = await this.browser.newContext({
      viewport: { width: options.width ?? 1280, height: options.height ?? 620 },
      deviceScaleFactor: options.scale ?? 1,
      reducedMotion: options.reducedMotion === true ? 'reduce' : 'no-preference',
    });
    this.contexts.push(context);
    const page = await context.newPage();
    const pageErrors: string[] = [];
    page.on('pageerror', (error) => pageErrors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') pageErrors.push(message.text());
    });
    const id = randomBytes(6).toString('hex');
    this.documents.set(`/${id}`, documentOf(options));
    await page.goto(`${this.origin}/${id}`);
    return Object.assign(page, { pageErrors });
  }

  private async answer(path: string): Promise<{ type: string; body: string }> {
    const document = this.documents.get(path);
    if (document !== undefined) return { type: 'text/html; charset=utf-8', body: document };
    if (path === '/favicon.ico') return { type: 'image/x-icon', body: '' };
    const file = /^\/file\/([\w/.-]+)$/.exec(path)?.[1];
    if (file === undefined || file.includes('..')) throw new Error(`there is no ${path}`);
    if (file.endsWith('.css')) return { type: 'text/css', body: await readFile(join(ROOT, file), 'utf8') };
    return { type: 'text/javascript', body: await this.bundle(file) };
  }

  private bundle(entry: string): Promise<string> {
    const known = this.bundles.get(entry) ?? bundled(entry);
    this.bundles.set(entry, known);
    return known;
  }
}

/** One script of the page, bundled as scripts/build does it. */
async function bundled(entry: string): Promise<string> {
  const result = await build({
    entryPoints: [join(ROOT, entry)],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    platform: 'browser',
    logLevel: 'silent',
    minify: true,
  });
  return result.outputFiles[0]?.text ?? '';
}

function documentOf(options: PageOptions): string {
  const theme = THEMES.find((one) => one.name === (options.theme ?? 'dark'));
  if (theme === undefined) throw new Error(`there is no theme ${options.theme}`);
  const webview = options.webview ?? 'timeline';
  const nonce = randomBytes(16).toString('base64');
  const variables = JSON.stringify(theme.variables);
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'self'; font-src 'self'; img-src 'self'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Timeline</title>
<link rel="stylesheet" href="/file/media/common/shared.css">
<link rel="stylesheet" href="/file/media/${webview}/${webview}.css">
${(options.styles ?? []).map((path) => `<link rel="stylesheet" href="/file/${path}">`).join('\n')}
</head>
<body class="${theme.bodyClass} ${options.bodyClass ?? ''}">
<div id="app"></div>
<script nonce="${nonce}">
window.testOptions = ${JSON.stringify(options.test ?? {})};
for (const [name, value] of Object.entries(${variables})) document.documentElement.style.setProperty(name, value);
</script>
<script nonce="${nonce}" src="/file/${options.pageScript ?? 'test/webview/hostMain.ts'}"></script>
<script nonce="${nonce}" src="/file/media/${webview}/main.ts"></script>
</body>
</html>`;
}

/** A browser with a harness, there for all tests of the suite that asks for it. */
export function browserHarness(): { readonly browser: Browser; readonly harness: WebviewHarness } {
  const made = {} as { browser: Browser; harness: WebviewHarness };
  before(async () => {
    made.browser = await launchBrowser();
    made.harness = new WebviewHarness(made.browser);
    await made.harness.start();
  });
  after(async () => {
    await made.harness.stop();
    await made.browser.close();
  });
  return made;
}
