import { until } from './extension.ts';
import { click, press, texts, type } from './window.ts';

/** Waits until a visible text that a selector finds is what is wanted. */
export function says(what: string, selector: string, wanted: RegExp): Promise<unknown> {
  return until(
    what,
    async () => ((await texts(selector)) ?? []).some((text) => wanted.test(text)) || undefined,
    60_000,
  );
}

/** Clicks what a selector finds, once it is there. */
export function clickOn(selector: string): Promise<unknown> {
  return until(`${selector} to click`, async () => (await click(selector)) || undefined);
}

/** Chooses on the open page of a lab where it runs: a context, and on a cluster a namespace that is there. */
export async function choosePlace(context: string, namespace?: string): Promise<void> {
  await clickOn('.place .link');
  for (const name of namespace === undefined ? [context] : [context, namespace]) {
    const isListed = new RegExp(name, 'i');
    await says(`${name} to choose`, '.quick-input-list', isListed);
    await type(name);
    await press('Enter');
    // The next question is another one, and what is typed before it stands there is lost.
    await until(
      `the choice of ${name}`,
      async () => !((await texts('.quick-input-list')) ?? []).some((text) => isListed.test(text)) || undefined,
    );
  }
  await says('the place', '.place', new RegExp(context, 'i'));
}
