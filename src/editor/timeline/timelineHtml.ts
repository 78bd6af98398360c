import { randomBytes } from 'node:crypto';
import { env, l10n, Uri, type Webview } from 'vscode';

/** The folder of the webviews' files, the only one a webview may read. */
export function mediaFolder(extensionUri: Uri): Uri {
  return Uri.joinPath(extensionUri, 'dist', 'media');
}

/** The page of a webview app: one script and two style sheets of ours, nothing from anywhere else, nothing inline. */
export function webviewHtml(webview: Webview, extensionUri: Uri, app: string, title: string): string {
  const media = mediaFolder(extensionUri);
  const nonce = randomBytes(18).toString('base64');
  const address = (file: string): string => escaped(webview.asWebviewUri(Uri.joinPath(media, file)).toString());
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource}`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${escaped(env.language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<link rel="stylesheet" href="${address('shared.css')}">
<link rel="stylesheet" href="${address(`${app}.css`)}">
<title>${escaped(title)}</title>
</head>
<body>
<div id="app"></div>
<noscript>${escaped(l10n.t('This view needs scripts.'))}</noscript>
<script nonce="${nonce}" src="${address(`${app}.js`)}"></script>
</body>
</html>`;
}

/** A page that only says something, where there is nothing to show. */
export function sentenceHtml(sentence: string, advice: string): string {
  return `<!DOCTYPE html>
<html lang="${escaped(env.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<title>${escaped(sentence)}</title>
</head>
<body>
<h1>${escaped(sentence)}</h1>
<p>${escaped(advice)}</p>
</body>
</html>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
