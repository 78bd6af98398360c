import { message } from '../base/message.ts';
import { fillIn } from '../core/timeline/translate.ts';

/**
 * The modular lab: labels that are explicitly integers modulo m, `next = (label + a) mod m`, from 0. It shows what reading
 * an order into labels costs. Kubernetes resourceVersion is not modelled by it and is not claimed to wrap.
 */
export interface ModularLab {
  readonly m: bigint;
  readonly a: bigint;
  /** From 0, the start included: one more than the steps taken. */
  readonly residues: readonly bigint[];
  /** One for each step: what was predicted (absent if nobody did) and whether it was right. */
  readonly predictions: readonly Prediction[];
}

/** What a learner said the next residue would be. */
export interface Prediction {
  readonly predicted?: bigint;
  readonly actual: bigint;
  readonly right: boolean;
}

/** What the lab says on its face, wherever it is shown. */
export const MODULAR_DISCLAIMER =
  'The labels here are explicitly integers modulo m. Kubernetes resourceVersion is not modelled by them and is not claimed to wrap.';

/** The greatest m and a that are taken: 2^53 - 1. */
export const MODULAR_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** Why an m or an a cannot be: the sentence, and the parts of it for a translation. */
export interface BadInput {
  readonly problem: string;
  /** The sentence with places `{0}`, `{1}` … for `values`. */
  readonly sentence: string;
  readonly values: readonly string[];
}

/** A lab at its start, or one sentence that says why m or a cannot be. Inputs are what a person typed. */
export function resetModular(m: string, a: string): { lab: ModularLab } | BadInput {
  const modulus = readInteger('m', m, 1n);
  if (typeof modulus !== 'bigint') return modulus;
  const addend = readInteger('a', a, 0n);
  if (typeof addend !== 'bigint') return addend;
  return { lab: { m: modulus, a: addend, residues: [0n], predictions: [] } };
}

/** The value, or a sentence that says what is wrong with it. */
function readInteger(name: string, text: string, least: bigint): bigint | BadInput {
  const digits = text.trim();
  const sentence = '{0} must be a whole number from {1} to 2^53-1 ({2}); "{3}" is not.';
  const values = [name, `${least}`, `${MODULAR_MAX}`, text];
  const bad = { problem: fillIn(sentence, values), sentence, values };
  if (!/^[+-]?\d{1,400}$/.test(digits)) return bad;
  const value = BigInt(digits.replace(/^\+/, ''));
  return value < least || value > MODULAR_MAX ? bad : value;
}

/** The label shown now. */
export function labelOf(lab: ModularLab): bigint {
  return lab.residues.at(-1) ?? 0n;
}

/** The label after the next step. */
export function nextLabel(lab: ModularLab): bigint {
  return (labelOf(lab) + lab.a) % lab.m;
}

/** What is said where a step is asked for without a prediction. */
export const PREDICTION_MISSING = message`First predict the next label: a whole number from 0.`;

/** Whether what a learner typed predicts a label, right or wrong. */
export function isPrediction(typed: string): boolean {
  return /^\s*\d{1,400}\s*$/.test(typed);
}

/** One step. `predicted` is what the learner typed; text that is no prediction counts as a wrong one. */
export function stepModular(lab: ModularLab, predicted?: string): ModularLab {
  const actual = nextLabel(lab);
  const guess = predicted === undefined || !isPrediction(predicted) ? undefined : BigInt(predicted.trim());
  const prediction: Prediction =
    guess === undefined ? { actual, right: false } : { predicted: guess, actual, right: guess === actual };
  return { ...lab, residues: [...lab.residues, actual], predictions: [...lab.predictions, prediction] };
}

/** The residues of `steps` steps from the start, the start included. */
export function runModular(lab: ModularLab, steps: number): bigint[] {
  const residues = [0n];
  for (let step = 0; step < steps; step += 1) residues.push(((residues[step] ?? 0n) + lab.a) % lab.m);
  return residues;
}

/** How many different residues are ever visited: m / gcd(a, m). */
export function visitedCount(lab: ModularLab): bigint {
  return lab.m / gcd(lab.a, lab.m);
}

/** The first step at which the label is not greater than the one before: where "greater means newer" fails first. */
export function firstFailureOfOrder(lab: ModularLab): bigint | undefined {
  if (lab.a === 0n || lab.a % lab.m === 0n) return 1n;
  const addend = lab.a % lab.m;
  return (lab.m + addend - 1n) / addend;
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x === 0n ? b : x;
}

/** A question about the labels so far, with the answer that the labels themselves give. */
export interface OrderQuestion {
  readonly text: string;
  readonly older: bigint;
  readonly newer: bigint;
  /** What "the greater label is the newer one" would answer, and whether that is true. */
  readonly orderSays: 'newer' | 'older' | 'the same';
  readonly orderIsRight: boolean;
}

/** Two labels in the order in which they were shown, and what comparing them as numbers would make of it. */
export function questionAbout(lab: ModularLab, earlierStep: number, laterStep: number): OrderQuestion | undefined {
  const older = lab.residues[earlierStep];
  const newer = lab.residues[laterStep];
  if (older === undefined || newer === undefined || earlierStep >= laterStep) return undefined;
  const orderSays = newer > older ? 'newer' : newer < older ? 'older' : 'the same';
  return {
    text: `Step ${earlierStep} showed ${older}, step ${laterStep} showed ${newer}. If greater meant newer, what would the later label be?`,
    older,
    newer,
    orderSays,
    orderIsRight: orderSays === 'newer',
  };
}
