import { defaultThresholds, type DetectorOptions } from '../../core/findings/options.ts';

/** The thresholds that repeat within a time; in the settings each has a `…Count` and a `…Seconds`. */
const REPEATED = ['conflictLoop', 'alreadyExistsLoop', 'noOpWrites', 'updateLoop'] as const;

/**
 * The thresholds of the findings from the flat numbers of the settings. A number that is missing, not finite or below 1 is
 * the default.
 */
export function thresholdsFrom(numbers: Readonly<Record<string, unknown>>): DetectorOptions {
  const from = (name: string, fallback: number): number => {
    const value = numbers[name];
    return typeof value === 'number' && Number.isFinite(value) && value >= 1 ? value : fallback;
  };
  const repeated = REPEATED.map((name) => {
    const { count, windowMs } = defaultThresholds[name];
    return [name, { count: from(`${name}Count`, count), windowMs: from(`${name}Seconds`, windowMs / 1000) * 1000 }];
  });
  return {
    ...(Object.fromEntries(repeated) as Pick<DetectorOptions, (typeof REPEATED)[number]>),
    fightAlternations: from('fightAlternations', defaultThresholds.fightAlternations),
    generationLagMs: from('generationLagSeconds', defaultThresholds.generationLagMs / 1000) * 1000,
  };
}
