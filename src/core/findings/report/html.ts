import type { Finding } from '../finding.ts';
import { escape } from './junit.ts';
import { bySeverity, objectText, titleOf, type FindingsReport } from './report.ts';

/** A write as the report's timeline draws it. */
export interface Mark {
  readonly seq: number;
  readonly at: number;
  readonly object: string;
  readonly actor: string;
  readonly accepted: boolean;
}

const WIDTH = 1_000;
const LANE = 22;
const LEFT = 260;
const MAX_LANES = 60;

/**
 * The report as one HTML file that needs nothing else: findings with their proof, and a timeline with a lane for each object
 * that has findings, its writes, and the findings on them. Data enters as text only; there is no script.
 */
export function reportHtml(report: FindingsReport, marks: readonly Mark[], title: string): string {
  const findings = bySeverity(report.findings);
  const sections = findings.map((finding, index) => section(finding, index)).join('\n');
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
<p>${findings.length} findings in ${report.events} events.</p>
${timeline(findings, marks)}
${sections}
${notes.map((note) => `<p class="note">${escape(note)}</p>`).join('\n')}
</main></body></html>
`;
}

function section(finding: Finding, index: number): string {
  const list = (name: string, values: readonly string[]): string =>
    values.length === 0
      ? ''
      : `<dt>${name}</dt><dd>${values.map((value) => `<code>${escape(value)}</code>`).join(' ')}</dd>`;
  return `<section id="f${index}" class="${finding.severity}"><h2>${escape(titleOf(finding))} <small>${finding.severity}${finding.sureness === 'likely' ? ', likely' : ''}</small></h2>
<p class="object">${escape(objectText(finding))} <code>${escape(finding.object.uid)}</code></p>
<p>${escape(finding.explanation)}</p><dl>${list('fields', finding.fields)}${list('actors', finding.actors)}${list('proof: events', finding.events.map(String))}
<dt>times</dt><dd>${finding.count}, from ${time(finding.firstAt)} to ${time(finding.lastAt)}</dd></dl>
<p><b>What to do:</b> ${escape(finding.remedy)}</p></section>`;
}

function timeline(findings: readonly Finding[], marks: readonly Mark[]): string {
  const lanes = [...new Set(findings.map(objectText))].slice(0, MAX_LANES);
  const shown = marks.filter((mark) => lanes.includes(mark.object));
  const times = [...findings.flatMap((finding) => [finding.firstAt, finding.lastAt]), ...shown.map((mark) => mark.at)];
  if (lanes.length === 0 || times.length === 0) return '';
  const from = times.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const to = times.reduce((a, b) => Math.max(a, b), from + 1);
  const x = (at: number): number => LEFT + ((at - from) / (to - from)) * (WIDTH - LEFT - 20);
  const y = (lane: number): number => 16 + lane * LANE;
  const rows = lanes.map(
    (name, lane) =>
      `<text x="4" y="${y(lane) + 4}">${escape(name.length > 40 ? `${name.slice(0, 39)}…` : name)}<title>${escape(name)}</title></text><line x1="${LEFT}" x2="${WIDTH - 10}" y1="${y(lane)}" y2="${y(lane)}"/>`,
  );
  const dots = shown.map((mark) => {
    const label = `<title>event ${mark.seq}: ${escape(mark.actor)}, ${mark.accepted ? 'accepted' : 'refused'}, ${time(mark.at)}</title>`;
    const [cx, cy] = [x(mark.at), y(lanes.indexOf(mark.object))];
    return mark.accepted
      ? `<circle class="write" cx="${cx.toFixed(1)}" cy="${cy}" r="3">${label}</circle>`
      : `<path class="refused" d="M${cx.toFixed(1)} ${cy - 5}l5 5l-5 5l-5 -5z">${label}</path>`;
  });
  const flags = findings.map((finding, index) => {
    const lane = lanes.indexOf(objectText(finding));
    if (lane < 0) return '';
    const start = x(finding.firstAt);
    return `<a href="#f${index}"><rect class="${finding.severity}" x="${(start - 4).toFixed(1)}" y="${y(lane) - 8}" width="${Math.max(8, x(finding.lastAt) - start + 8).toFixed(1)}" height="16"><title>${escape(titleOf(finding))}</title></rect></a>`;
  });
  return `<figure><svg role="img" aria-label="Timeline of writes and findings" viewBox="0 0 ${WIDTH} ${y(lanes.length) + 20}">${rows.join('')}${flags.join('')}${dots.join('')}
<text x="${LEFT}" y="${y(lanes.length) + 8}">${time(from)}</text><text x="${WIDTH - 10}" y="${y(lanes.length) + 8}" text-anchor="end">${time(to)}</text></svg>
<figcaption>Dots are accepted writes, diamonds refused ones, boxes findings.</figcaption></figure>`;
}

/** UTC time of day with milliseconds. */
function time(at: number): string {
  const ms = ((at % 86_400_000) + 86_400_000) % 86_400_000;
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}.${String(Math.floor(ms % 1_000)).padStart(3, '0')}`;
}

const STYLE = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:0}main{max-width:1040px;margin:auto;padding:1rem}
section{border-left:4px solid #888;padding:0 1rem;margin:1.5rem 0}section.error{border-color:#c4314b}section.warning{border-color:#b8860b}section.info{border-color:#3b78c4}
h2 small{font-weight:normal}code{font-size:.92em}dt{font-weight:600}dd{margin:0 0 .4rem 1rem}svg{width:100%;height:auto}svg text{font:11px system-ui,sans-serif;fill:currentColor}
svg line{stroke:#8886}svg .write{fill:#2e8b57}svg .refused{fill:none;stroke:#c4314b}svg rect{fill-opacity:.25}svg rect.error{fill:#c4314b}svg rect.warning{fill:#b8860b}svg rect.info{fill:#3b78c4}figure{margin:1rem 0}.note{opacity:.8}`;
