import { preciseTimeText } from '../../src/core/timeline/axis.ts';
import { eventBefore } from '../../src/core/timeline/navigate.ts';
import { withTimeInView } from '../../src/core/timeline/scale.ts';
import { element, isHidden, setAttribute, setText } from '../common/dom.ts';
import type { TimelineView } from './view.ts';

const STEPS = 1000;
const PLAY_TICK_MS = 100;
const TELL_MS = 120;
/** Playing the whole stretch takes this long. */
const PLAY_WHOLE_MS = 20_000;

/** The bar of the replay: a slider over all time, play, and a word that the tree shows the past. */
export class Replay {
  readonly root = element('section', { class: 'replay', attributes: { hidden: '' } });
  private readonly slider = element('input', {
    attributes: { type: 'range', min: '0', max: String(STEPS), step: '1' },
  });
  private readonly words = element('span', { class: 'replay-words' });
  private readonly play: HTMLButtonElement;
  private readonly now: HTMLButtonElement;
  private readonly view: TimelineView;
  private readonly tell: (event: number | undefined) => void;
  private playing: ReturnType<typeof setInterval> | undefined;
  private telling: ReturnType<typeof setTimeout> | undefined;
  private pending: number | undefined;

  /** `tell` lets the host's tree show the state as of an event; undefined: as of now. */
  constructor(view: TimelineView, tell: (event: number | undefined) => void) {
    this.view = view;
    this.tell = tell;
    this.play = element('button', { attributes: { type: 'button' }, onClick: () => this.togglePlay() });
    this.now = element('button', { attributes: { type: 'button' }, onClick: () => this.stop() });
    this.root.append(this.play, this.slider, this.words, this.now);
    this.slider.addEventListener('input', () => {
      const { firstAt, lastAt } = view.store;
      this.moveTo(firstAt + (Number(this.slider.value) / STEPS) * (lastAt - firstAt));
    });
  }

  /** Starts at the right edge of what is shown, or ends. */
  toggle(): void {
    if (this.view.scrubAt === undefined) this.moveTo(Math.min(this.view.store.lastAt, this.view.scale.to));
    else this.stop();
  }

  /** Shows the state as of a time. */
  moveTo(at: number): void {
    const { firstAt, lastAt } = this.view.store;
    if (!this.view.hasData) return;
    const inside = Math.max(firstAt, Math.min(lastAt, at));
    this.view.scrub(inside);
    this.pending = eventBefore(this.view.store, inside) ?? 0;
    const moved = withTimeInView(this.view.scale, inside, 20);
    if (moved !== this.view.scale) this.view.setScale(moved);
    this.telling ??= setTimeout(() => {
      this.telling = undefined;
      if (this.view.scrubAt !== undefined) this.tell(this.pending);
    }, TELL_MS);
  }

  draw(): void {
    const { scrubAt, settings, translate, store } = this.view;
    const shown = scrubAt !== undefined;
    if (!shown && !isHidden(this.root)) {
      this.pause();
      this.tell(undefined);
    }
    this.root.hidden = !shown;
    if (scrubAt === undefined) return;
    setAttribute(this.root, 'aria-label', translate('Replay'));
    const time = preciseTimeText(scrubAt, settings.timeZoneOffsetMin);
    setText(this.play, this.playing === undefined ? translate('Play') : translate('Pause'));
    setText(this.now, translate('Back to now'));
    setText(
      this.words,
      settings.hasCluster ? translate('The tree shows the state as of {0}', time) : translate('As of {0}', time),
    );
    this.slider.setAttribute('aria-label', translate('Time'));
    this.slider.setAttribute('aria-valuetext', time);
    const part = (scrubAt - store.firstAt) / Math.max(1, store.lastAt - store.firstAt);
    if (document.activeElement !== this.slider || this.playing !== undefined)
      this.slider.value = String(Math.round(part * STEPS));
  }

  private stop(): void {
    this.pause();
    this.view.scrub(undefined);
  }

  private pause(): void {
    clearInterval(this.playing);
    this.playing = undefined;
  }

  private togglePlay(): void {
    if (this.playing === undefined) {
      const { firstAt, lastAt } = this.view.store;
      if ((this.view.scrubAt ?? lastAt) >= lastAt) this.moveTo(firstAt);
      this.playing = setInterval(() => this.tick(), PLAY_TICK_MS);
    } else this.pause();
    this.view.touch('toolbar');
  }

  private tick(): void {
    const { firstAt, lastAt } = this.view.store;
    const next = (this.view.scrubAt ?? lastAt) + ((lastAt - firstAt) * PLAY_TICK_MS) / PLAY_WHOLE_MS;
    if (next >= lastAt) this.pause();
    this.moveTo(next);
  }
}
