/**
 * One drawing for each frame of the screen, however often it is asked for. Nothing is drawn while nothing is dirty.
 */
export class FrameScheduler {
  private readonly draw: () => void;
  private asked = false;

  constructor(draw: () => void) {
    this.draw = draw;
  }

  /** Draws in the next frame. */
  request(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }
}
