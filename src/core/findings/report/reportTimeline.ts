import { matchFilter } from '../../timeline/filterMatch.ts';
import { layOut } from '../../timeline/layout.ts';
import { pictureOf } from '../../timeline/picture.ts';
import { fitted } from '../../timeline/scale.ts';
import type { Ink } from '../../timeline/sceneTypes.ts';
import { TimelineStore } from '../../timeline/store.ts';
import type { Palette } from '../../timeline/shapes.ts';
import { svgOf } from '../../timeline/svg.ts';
import { openKey } from '../../timeline/tracks.ts';
import { english } from '../../timeline/translate.ts';
import type { Finding } from '../finding.ts';
import type { Mark } from './mark.ts';
import { reportModel } from './reportModel.ts';

const WIDTH = 1_000;
const NAMES = 230;

/** What is said of a mark, and where in the page a finding is told. */
export interface ReportWords {
  readonly ofMark: (mark: Mark) => string;
  readonly ofFinding: (finding: Finding) => { readonly title: string; readonly target: string };
}

/** The timeline of the editor in a report: a lane for each object with findings, opened into a row for each actor. '' where there is nothing to show. */
export function reportTimeline(findings: readonly Finding[], marks: readonly Mark[], words: ReportWords): string {
  const { model, marks: shown } = reportModel(findings, marks);
  if (model.lanes.place.length === 0) return '';
  const store = new TimelineStore(model);
  const times = findings.flatMap(({ firstAt, lastAt }) => [firstAt, lastAt]);
  const firstAt = times.reduce((a, b) => Math.min(a, b), store.firstAt);
  const match = matchFilter(store, { terms: [] });
  const expanded = new Set(store.lanes.flatMap(({ count }, lane) => (count > 0 ? [openKey(store, { lane })] : [])));
  const picture = pictureOf(
    {
      store,
      match,
      layout: layOut(store, match, { sort: 'findings', collapsed: new Set(), compact: false, expanded }),
      annotationDim: () => false,
      scale: fitted(firstAt, store.lastAt, WIDTH - NAMES),
      timeZoneOffsetMin: 0,
      translate: english,
      now: store.lastAt,
    },
    NAMES,
  );
  const told = new Map(findings.map((finding) => [finding.events, finding]));
  const findingOf = new Map(model.annotations.map(({ key, events }) => [key, told.get(events)]));
  const proved = new Map(findings.toReversed().flatMap((finding) => finding.events.map((seq) => [seq, finding])));
  const svg = svgOf(picture, PALETTE, {
    label: 'Timeline of writes and findings',
    about: ({ mark, finding: key }) => {
      const finding = key === undefined ? undefined : findingOf.get(key);
      if (finding !== undefined) return words.ofFinding(finding);
      const of = mark === undefined ? undefined : shown[mark];
      if (of === undefined) return {};
      const proves = proved.get(of.seq);
      return { title: words.ofMark(of), ...(proves === undefined ? {} : { target: words.ofFinding(proves).target }) };
    },
  });
  return `<figure>${svg}<figcaption>A lane for each object, and beneath it a row for each actor that wrote it. On the lines stand accepted writes: a filled dot changed the desired state, a ring the status, a small dot metadata, a small ring something that is not known. Above them stands what was refused; a curve goes to the write that won. Times are UTC.</figcaption></figure>`;
}

const INKS: Readonly<Record<Ink, string>> = {
  renewal: '--muted',
  metadata: '--muted',
  status: '--good',
  unknown: '--muted',
  spec: '--info',
  created: '--info',
  terminating: '--muted',
  deleted: '--muted',
  note: '--warning',
  refused: '--error',
  uncertain: '--warning',
  conflict: '--error',
  'uid-mismatch': '--warning',
  'field-conflict': '--purple',
  takeover: '--purple',
  'stale-reference': '--warning',
  'lost-update': '--warning',
  finding: '--warning',
  text: '--text',
  muted: '--muted',
  faint: '--muted',
  warning: '--warning',
  error: '--error',
  info: '--info',
};

const PALETTE: Palette = {
  background: 'none',
  grid: 'var(--grid)',
  row: 'var(--grid)',
  hatch: 'var(--muted)',
  bars: ['var(--bar0)', 'var(--bar1)', 'var(--bar2)'],
  inks: Object.fromEntries(Object.entries(INKS).map(([ink, name]) => [ink, `var(${name})`])) as Record<Ink, string>,
  font: 'system-ui, sans-serif',
  mono: 'ui-monospace, monospace',
};

/** The colours of the timeline, on light pages and dark ones. */
export const TIMELINE_STYLE =
  'figure{--text:#222;--muted:#666;--grid:#8883;--info:#1f6fc4;--good:#2e7d4f;--error:#c4314b;--warning:#94600a;--purple:#7b3fb5;--bar0:#4f8fc04d;--bar1:#7a68c84d;--bar2:#4c9a744d}' +
  '@media(prefers-color-scheme:dark){figure{--text:#eee;--muted:#aaa;--info:#5aa9f5;--good:#5fc48a;--error:#f0788c;--warning:#e0a848;--purple:#c79bff}}';
