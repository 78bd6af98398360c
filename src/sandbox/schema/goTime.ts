/**
 * Times as the API server stores them: metav1.Time in whole seconds, metav1.MicroTime with exactly six decimals, both in UTC.
 */
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const TIME_LAYOUT = '2006-01-02T15:04:05Z07:00';
const MICRO_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';

/** The canonical form of a time, or the sentence with which Go refuses it. */
export function canonicalTime(text: string, micro: boolean): { text: string } | { problem: string } {
  const match = RFC3339.exec(text);
  const isWhole = !micro || /^\.\d{6}$/.test(match?.[7] ?? '');
  if (match === null || !isWhole || Number.isNaN(Date.parse(text)))
    return { problem: parseProblem(text, micro ? MICRO_LAYOUT : TIME_LAYOUT) };
  const fraction = (match[7] ?? '.').slice(1).padEnd(6, '0').slice(0, 6);
  const seconds = new Date(Date.parse(text.replace(/\.\d+/, ''))).toISOString().slice(0, 19);
  return { text: micro ? `${seconds}.${fraction}Z` : `${seconds}Z` };
}

/** Go names the first part of the layout that the text does not meet. */
function parseProblem(text: string, layout: string): string {
  const parts: readonly (readonly [RegExp, string])[] = [
    [/^\d{4}/, '2006'],
    [/^-/, '-'],
    [/^\d\d/, '01'],
    [/^-/, '-'],
    [/^\d\d/, '02'],
    [/^T/, 'T'],
    [/^\d\d/, '15'],
    [/^:/, ':'],
    [/^\d\d/, '04'],
    [/^:/, ':'],
    ...(layout === MICRO_LAYOUT
      ? ([
          [/^\d\d/, '05'],
          [/^\.\d{6}/, '.000000'],
        ] as const)
      : ([[/^\d\d(\.\d+)?/, '05']] as const)),
    [/^(Z|[+-]\d\d:\d\d)/, 'Z07:00'],
  ];
  let rest = text;
  for (const [pattern, name] of parts) {
    const found = pattern.exec(rest);
    if (found === null) return `parsing time "${text}" as "${layout}": cannot parse "${rest}" as "${name}"`;
    rest = rest.slice(found[0].length);
  }
  return rest === '' ? `parsing time "${text}": out of range` : `parsing time "${text}": extra text: "${rest}"`;
}

/** A time in whole seconds, as `creationTimestamp` and `managedFields` have it. */
export function secondsText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
