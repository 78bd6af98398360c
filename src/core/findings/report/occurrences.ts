import { doersOf, severities, type Finding } from '../finding.ts';

/** What one rule says of one object's name: one finding, or several of the same kind, as of one incarnation after another. */
export interface Occurrences {
  readonly first: Finding;
  /** In order of time; at least one. */
  readonly all: readonly Finding[];
  /** How often it happened in all. */
  readonly count: number;
}

/** What a report tells at once: what one rule says of one object, or the same of many, done by the same actors. */
export interface Section extends Occurrences {
  /** By object, in order of time; `all` has the findings of one after the other. */
  readonly objects: readonly Occurrences[];
}

/** So many objects have a section each before they share one. */
const MAX_APART = 3;
/** Beyond so many groups of actors, a rule's objects are told together whoever did it. */
const MAX_GROUPS = 10;

/** The sections of a report, the gravest first, then by the time of the first finding. */
export function sectionsOf(findings: readonly Finding[]): Section[] {
  const byRule = Map.groupBy(occurrencesOf(findings), ({ first: { severity, id, kind, cluster } }) =>
    [severity, id, kind, cluster].join('\0'),
  );
  return [...byRule.values()]
    .flatMap((objects) => {
      const byActors = [...Map.groupBy(objects, ({ all }) => doersOfAll(all).join('\0')).values()];
      return byActors.length > MAX_GROUPS ? [objects] : byActors;
    })
    .flatMap((objects) => (objects.length > MAX_APART ? [objects] : objects.map((one) => [one])))
    .flatMap((objects): Section[] => {
      const [one] = objects;
      return one === undefined ? [] : [{ ...together(one, objects), objects }];
    })
    .sort(
      (a, b) =>
        severities.indexOf(a.first.severity) - severities.indexOf(b.first.severity) ||
        a.first.firstAt - b.first.firstAt,
    );
}

/** Whose doing findings are, each once, in order of their names. */
export function doersOfAll(findings: readonly Finding[]): string[] {
  return [...new Set(findings.flatMap(doersOf))].sort();
}

function together({ first }: Occurrences, objects: readonly Occurrences[]): Occurrences {
  return {
    first,
    all: objects.flatMap(({ all }) => all),
    count: objects.reduce((sum, { count }) => sum + count, 0),
  };
}

/** Findings by object, in the order in which they begin. */
function occurrencesOf(findings: readonly Finding[]): Occurrences[] {
  const inTime = findings.toSorted((a, b) => a.firstAt - b.firstAt);
  const groups = Map.groupBy(inTime, ({ severity, id, kind, cluster, object }) =>
    [severity, id, kind, cluster, object.group, object.resource, object.namespace, object.name].join('\0'),
  );
  return [...groups.values()].flatMap((all) => {
    const [first] = all;
    return first === undefined ? [] : [{ first, all, count: all.reduce((sum, { count }) => sum + count, 0) }];
  });
}

/** The numbers of the events that prove a finding, in the order of the log. */
export function evidenceOf(finding: Finding): number[] {
  return finding.events.toSorted((a, b) => a - b);
}

/** From when to when findings are, of which there may be more than a call can have arguments. */
export function spanOf(findings: readonly Finding[]): { readonly from: number; readonly to: number } {
  let [from, to] = [Infinity, -Infinity];
  for (const { firstAt, lastAt } of findings) {
    if (firstAt < from) from = firstAt;
    if (lastAt > to) to = lastAt;
  }
  return { from, to };
}
