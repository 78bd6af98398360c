import type { Palette } from '../../src/core/timeline/shapes.ts';
import type { Ink } from '../../src/core/timeline/sceneTypes.ts';

const INKS: Readonly<Record<Ink, string>> = {
  renewal: '--tl-metadata',
  metadata: '--tl-metadata',
  status: '--tl-status',
  spec: '--tl-spec',
  unknown: '--tl-unknown',
  created: '--tl-spec',
  terminating: '--tl-deleted',
  deleted: '--tl-deleted',
  note: '--tl-note',
  refused: '--tl-refused',
  uncertain: '--tl-uncertain',
  conflict: '--tl-conflict',
  'uid-mismatch': '--tl-uid-mismatch',
  'field-conflict': '--tl-field-conflict',
  takeover: '--tl-takeover',
  'stale-reference': '--tl-stale',
  'lost-update': '--tl-lost',
  finding: '--tl-finding',
  text: '--ov-strong',
  muted: '--ov-muted',
  faint: '--ov-faint',
  warning: '--tl-lost',
  error: '--tl-conflict',
  info: '--ov-muted',
};

const BARS = ['--tl-bar-0', '--tl-bar-1', '--tl-bar-2', '--tl-bar-3'];

/** Colours that only the screen needs. */
export interface ScreenPalette extends Palette {
  readonly selection: string;
  readonly measure: string;
  readonly minimap: string;
  readonly panel: string;
}

/** The theme's colours as they are now, resolved so that a canvas understands them. */
export function readPalette(): ScreenPalette {
  const styles = getComputedStyle(document.body);
  const probe = document.createElement('span');
  probe.hidden = true;
  document.body.append(probe);
  // A custom property keeps `color-mix(…)` as it was written; a real property resolves it.
  const colour = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const outline = colour('--ov-contrast');
  const palette = {
    background: colour('--ov-background'),
    panel: colour('--ov-panel'),
    grid: colour('--tl-grid'),
    row: colour('--tl-row'),
    hatch: colour('--tl-hatch'),
    selection: colour('--tl-selection'),
    measure: colour('--tl-measure'),
    minimap: colour('--tl-minimap'),
    // What a theme leaves out is transparent.
    ...(/[,/] 0\)$/.test(outline) ? {} : { outline }),
    bars: BARS.map((name) => colour(name)),
    inks: Object.fromEntries(Object.entries(INKS).map(([ink, name]) => [ink, colour(name)])) as Record<Ink, string>,
    font: styles.getPropertyValue('--ov-font').trim() || 'sans-serif',
    mono: styles.getPropertyValue('--ov-mono').trim() || 'monospace',
  };
  probe.remove();
  return palette;
}

/** Calls back when the theme changes: VS Code changes the classes of the body and its variables. */
export function onThemeChange(changed: () => void): void {
  const observer = new MutationObserver(changed);
  observer.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style'] });
}
