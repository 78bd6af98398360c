import { AppError } from '../../base/appError.ts';
import { Emitter } from '../../base/emitter.ts';
import {
  isPrediction,
  labelOf,
  MODULAR_DISCLAIMER,
  PREDICTION_MISSING,
  questionAbout,
  resetModular,
  stepModular,
  visitedCount,
  type ModularLab,
} from '../../lab/modular.ts';
import type { Handlers } from '../../protocol/channel.ts';
import { MODULAR_REQUESTS } from '../../protocol/lab.ts';
import type { OrderWord, StateOf } from '../../protocol/labStates.ts';
import type { LabSession, LabSessionParts } from './labPlaces.ts';

/** Up to so many residues the ring shows all of them, visited or not. */
const WHOLE_RING = 64;
/** How many visited residues a longer ring shows, and how many steps the history: the newest. */
const SHOWN = 200;
/** How many questions about order are asked at most. */
const QUESTIONS = 4;
/** A turn of the ring is divided into so many parts: far finer than a screen shows, and exact in a number. */
const TURN = 1n << 30n;
const DEFAULTS = { m: '8', a: '1' };

type State = StateOf<'modular'>;

/** The modular lab behind its page: needs no server, and computes with integers of any size. */
export class ModularSession implements LabSession<'modular', typeof MODULAR_REQUESTS> {
  readonly page = 'modular';
  readonly requests = MODULAR_REQUESTS;
  readonly handlers: Handlers<typeof MODULAR_REQUESTS> = {
    modularReset: async ({ m, a }) => this.reset(m, a),
    modularStep: async ({ predicted }) => this.step(predicted),
    modularAnswer: async ({ id, choice }) => this.answer(id, choice),
  };
  private readonly parts: Pick<LabSessionParts, 'translate' | 'onError'>;
  private readonly changed: Emitter<void>;
  private readonly answers = new Map<string, OrderWord>();
  private lab: ModularLab;

  constructor(parts: Pick<LabSessionParts, 'translate' | 'onError'>) {
    this.parts = parts;
    this.changed = new Emitter(parts.onError);
    this.lab = this.begin(DEFAULTS.m, DEFAULTS.a);
  }

  get onDidChange(): Emitter<void>['event'] {
    return this.changed.event;
  }

  state(): State {
    const { lab } = this;
    const { residues } = lab;
    const visited = new Set(residues);
    return {
      page: 'modular',
      disclaimer: this.parts.translate(MODULAR_DISCLAIMER),
      m: `${lab.m}`,
      a: `${lab.a}`,
      label: `${labelOf(lab)}`,
      steps: residues.length - 1,
      visited: visited.size,
      visitedInAll: `${visitedCount(lab)}`,
      ring: ringOf(lab, visited),
      ringIsWhole: lab.m <= WHOLE_RING,
      history: historyOf(lab),
      questions: this.questions(),
    };
  }

  dispose(): void {
    this.changed.dispose();
  }

  ended(): Promise<void> {
    return Promise.resolve();
  }

  private begin(m: string, a: string): ModularLab {
    const { translate } = this.parts;
    const made = resetModular(m, a);
    if ('lab' in made) return made.lab;
    throw new AppError('usage', translate(made.sentence, ...made.values));
  }

  private reset(m: string, a: string): null {
    this.lab = this.begin(m, a);
    this.answers.clear();
    this.changed.fire();
    return null;
  }

  private step(predicted: string): null {
    if (!isPrediction(predicted)) throw new AppError('usage', PREDICTION_MISSING);
    this.lab = stepModular(this.lab, predicted);
    this.changed.fire();
    return null;
  }

  private answer(id: string, choice: OrderWord): null {
    this.answers.set(id, choice);
    this.changed.fire();
    return null;
  }

  /** Asks about the steps at which greater did not mean newer, and about the first label's coming back. */
  private questions(): State['questions'] {
    const { lab } = this;
    const pairs = lab.residues.flatMap((residue, step): [number, number][] => {
      const before = lab.residues[step - 1];
      if (before === undefined) return [];
      const failing: [number, number][] = residue > before ? [] : [[step - 1, step]];
      return residue === 0n && step > 1 ? [...failing, [0, step]] : failing;
    });
    return pairs.slice(0, QUESTIONS).flatMap(([earlierStep, laterStep]) => {
      const asked = questionAbout(lab, earlierStep, laterStep);
      if (asked === undefined) return [];
      const id = `${earlierStep}-${laterStep}`;
      const chosen = this.answers.get(id);
      return {
        id,
        earlierStep,
        laterStep,
        older: `${asked.older}`,
        newer: `${asked.newer}`,
        ...(chosen === undefined ? {} : { chosen, ruleSays: asked.orderSays }),
      };
    });
  }
}

function ringOf(lab: ModularLab, visited: ReadonlySet<bigint>): State['ring'] {
  const all =
    lab.m <= WHOLE_RING
      ? Array.from({ length: Number(lab.m) }, (_, index) => BigInt(index))
      : [...new Set([0n, ...[...visited].slice(-SHOWN), labelOf(lab)])];
  return all.map((residue) => ({
    label: `${residue}`,
    turn: Number((residue * TURN) / lab.m) / Number(TURN),
    visited: visited.has(residue),
    current: residue === labelOf(lab),
  }));
}

function historyOf(lab: ModularLab): State['history'] {
  const first = Math.max(0, lab.predictions.length - SHOWN);
  return lab.predictions.slice(first).map(({ predicted, actual, right }, index) => ({
    step: first + index + 1,
    ...(predicted === undefined ? {} : { predicted: `${predicted}` }),
    actual: `${actual}`,
    right,
    isGreater: actual > (lab.residues[first + index] ?? 0n),
  }));
}
