import type { TokenBadge } from '../../tokenBadge.ts';
import type { Token } from '../../traceEvent.ts';
import type { Finding } from '../finding.ts';
import { escape } from './junit.ts';
import { Badges, type Mark } from './mark.ts';
import { evidenceOf, sectionsOf, spanOf, type Section } from './occurrences.ts';
import { reportTimeline, TIMELINE_STYLE } from './reportTimeline.ts';
import { EVENTS_COUNT, findingsText, headOf, objectText, titleOf, type FindingsReport } from './report.ts';

const MAX_PROOF = 24;
const MAX_OPEN = 3;
const MAX_OCCURRENCES = 200;
const MAX_VALUES = 20;
const MAX_FOLDED = 200;

/**
 * The report as one HTML file that needs nothing else: findings with their proof, and a timeline with a lane for each object
 * that has findings, its writes, and the findings on them. Data enters as text only; there is no script. `days` says of
 * which days the findings are, as times are those of a day.
 */
export function reportHtml(report: FindingsReport, marks: readonly Mark[], title: string, days: string): string {
  const sections = sectionsOf(report.findings);
  const shown = { marks: new Map(marks.map((mark) => [mark.seq, mark])), badges: new Badges(marks) };
  const notes = [
    ...report.notes,
    ...Object.entries(report.notAnalysed)
      .filter(([, value]) => typeof value === 'number' && value > 0)
      .map(([what, count]) => `Not analysed: ${String(count)} ${what}.`),
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escape(title)}</title><style>${STYLE}</style></head>
<body><main><h1>${escape(title)}</h1>
<p>${findingsText(report)} in ${report.events} events${days === '' ? '' : `, ${escape(days)}`}.</p>
${timeline(sections, marks, shown.badges)}
${sections.map((section, index) => sectionHtml(section, index, shown)).join('\n')}
${sections.length === 0 ? '' : '<p class="note">Each finding has a page that says what it knows and what it cannot know: “Explain Finding” in the editor, or docs/findings in the package.</p>'}
<p class="note">${EVENTS_COUNT} A version is named by the equality badge of its token: two are the same exactly if their badges are, and nothing says which is newer.</p>
${notes.map((note) => `<p class="note">${escape(note)}</p>`).join('\n')}
</main></body></html>
`;
}

interface Shown {
  readonly marks: ReadonlyMap<number, Mark>;
  readonly badges: Badges;
}

function sectionHtml(section: Section, index: number, shown: Shown): string {
  const { first, all, count, objects } = section;
  const list = (name: string, values: readonly string[]): string =>
    values.length === 0 ? '' : `<dt>${name}</dt><dd>${codes([...new Set(values)])}</dd>`;
  const [single] = all.length === 1 ? all : [];
  const likely = all.every(({ sureness }) => sureness === 'likely') ? ', likely' : '';
  const fields = list(
    'fields',
    all.flatMap((finding) => finding.fields),
  );
  const actors = list(
    'actors',
    all.flatMap((finding) => finding.actors),
  );
  const { from, to } = spanOf(all);
  return `<section id="f${index}" class="${first.severity}"><h2>${escape(objects.length > 1 ? headOf(section) : titleOf(first))} <small>${first.severity}${likely}</small></h2>
${objects.length > 1 ? '' : `<p class="object">${escape(objectText(first))}${single === undefined ? '' : ` <code>${escape(single.object.uid)}</code>`}</p>`}
${single === undefined ? occurrencesList(section, index, shown) : `<p>${explanationHtml(single, shown.badges)}</p>`}
<dl>${fields}${actors}${single === undefined ? '' : `<dt>proof</dt><dd>${proof(single, shown)}</dd>`}
<dt>times</dt><dd>${count}, from ${time(from)} to ${time(to)}</dd></dl>
<p><b>What to do:</b> ${escape(first.remedy)}</p></section>`;
}

/** The first of many values are shown, some more are folded away. */
function codes(values: readonly string[]): string {
  const items = values.slice(0, MAX_FOLDED).map((value) => `<code>${escape(value)}</code>`);
  const more = items.slice(MAX_VALUES);
  const left = values.length - items.length;
  const folded =
    more.length === 0
      ? ''
      : ` <details><summary>${more.length + left} more</summary>${more.join(' ')}${left > 0 ? ` and ${left} more` : ''}</details>`;
  return `${items.slice(0, MAX_VALUES).join(' ')}${folded}`;
}

/** Every occurrence with its proof folded away; all but the first ones are folded themselves. */
function occurrencesList({ all, objects }: Section, index: number, shown: Shown): string {
  const where = (finding: Finding): string => (objects.length > 1 ? `<b>${escape(objectText(finding))}</b>, ` : '');
  const items = all
    .slice(0, MAX_OCCURRENCES)
    .map(
      (finding, at) =>
        `<li id="f${index}-${at}">${where(finding)}${time(finding.firstAt)}${finding.count > 1 ? `, ${finding.count} times:` : ''} ${explanationHtml(finding, shown.badges)}<details><summary>proof</summary>${proof(finding, shown)}</details></li>`,
    );
  const more = items.slice(MAX_OPEN);
  const left = all.length - items.length;
  const folded =
    more.length === 0
      ? ''
      : `<details><summary>${more.length + left} more</summary><ol start="${MAX_OPEN + 1}">${more.join('')}</ol>${left > 0 ? `<p>and ${left} more</p>` : ''}</details>`;
  return `<ol>${items.slice(0, MAX_OPEN).join('')}</ol>${folded}`;
}

/** The events that prove a finding in the order of the log, each with what it was where that is known. */
function proof(finding: Finding, { marks, badges }: Shown): string {
  const lines = evidenceOf(finding)
    .slice(0, MAX_PROOF)
    .map((seq) => {
      const mark = marks.get(seq);
      if (mark === undefined) return `<li>event ${seq}</li>`;
      return `<li class="${mark.kind}">event ${seq}: ${time(mark.at)} <b>${escape(mark.actor)}</b> ${saidHtml(mark, badges)}</li>`;
    });
  const more = finding.events.length - lines.length;
  return `<ul>${lines.join('')}${more > 0 ? `<li>and ${more} more</li>` : ''}</ul>`;
}

/** What a mark says, with the badge of each token; the token itself is its tooltip. */
function saidHtml(mark: Mark, badges: Badges): string {
  return mark.text
    .map((part) => (typeof part === 'string' ? escape(part) : badgeHtml(part.token, badges.of(mark, part.token))))
    .join('');
}

function badgeHtml(token: Token, badge: TokenBadge | undefined): string {
  const { code, colour } = badge ?? { code: `“${token}”`, colour: -1 };
  return `<span class="badge${colour < 0 ? '' : ` c${colour}`}" title="token &quot;${escape(token)}&quot;">${escape(code)}</span>`;
}

/** An explanation, in which versions are named by the same badges as in its proof. */
function explanationHtml({ explanation, object }: Finding, badges: Badges): string {
  // Every second part is what stands in quotes after "version" or "token".
  return explanation
    .split(/(?<=\b(?:version|token) )"([^"]+)"/)
    .map((part, index) => {
      if (index % 2 === 0) return escape(part);
      const badge = badges.ofUid(object.uid, part);
      return badge === undefined ? escape(`"${part}"`) : badgeHtml(part, badge);
    })
    .join('');
}

function saidText(mark: Mark, badges: Badges): string {
  return mark.text
    .map((part) => (typeof part === 'string' ? part : (badges.of(mark, part.token)?.code ?? `“${part.token}”`)))
    .join('');
}

function timeline(sections: readonly Section[], marks: readonly Mark[], badges: Badges): string {
  const targets = new Map(
    sections.flatMap(({ all }, index) =>
      all.map((finding, at) => [finding, all.length === 1 || at >= MAX_OCCURRENCES ? `f${index}` : `f${index}-${at}`]),
    ),
  );
  return reportTimeline(
    sections.flatMap(({ all }) => all),
    marks,
    {
      ofMark: (mark) => `event ${mark.seq}: ${mark.actor} ${saidText(mark, badges)}, ${time(mark.at)}`,
      ofFinding: (finding) => ({ title: titleOf(finding), target: targets.get(finding) ?? '' }),
    },
  );
}

/** UTC time of day with milliseconds. */
function time(at: number): string {
  const ms = ((at % 86_400_000) + 86_400_000) % 86_400_000;
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}.${String(Math.floor(ms % 1_000)).padStart(3, '0')}`;
}

/** Colours that are told apart on light and dark pages; a badge is never told by its colour alone. */
const BADGE_STYLE = ['#3b78c4', '#b8860b', '#2e8b57', '#8250bd', '#c4314b', '#0f8b8d', '#c2611f', '#7a7f87']
  .map((colour, index) => `.c${index}{--badge:${colour}}`)
  .join('');
const STYLE = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:0}main{max-width:1040px;margin:auto;padding:1rem}
section{border-left:4px solid #888;padding:0 1rem;margin:1.5rem 0}section.error{border-color:#c4314b}section.warning{border-color:#b8860b}section.info{border-color:#3b78c4}
h2 small{font-weight:normal}code{font-size:.92em}dt{font-weight:600}dd{margin:0 0 .4rem 1rem}svg{width:100%;height:auto}ul{margin:0;padding:0;list-style:none}li.refused{color:#c4314b}@media(prefers-color-scheme:dark){li.refused{color:#f0788c}}
figure{margin:1rem 0}.note{opacity:.8}
ol{margin:.2rem 0;padding-left:1.6rem}summary{cursor:pointer;opacity:.8}.badge{font:.88em ui-monospace,monospace;border-bottom:2px solid var(--badge,#888)}${BADGE_STYLE}${TIMELINE_STYLE}`;
