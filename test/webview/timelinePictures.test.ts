import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { browserHarness } from './harness.ts';
import { THEMES } from './themes.ts';
import { SCREENSHOTS, TimelineDriver } from './timelineDriver.ts';

/** A pixel differs where a channel is further off than this, of 255: edges are smoothed in more than one way. */
const NOTICED = 96;

async function exported(page: TimelineDriver, format: 'PNG' | 'SVG'): Promise<string> {
  await page.page.locator('.menu > button', { hasText: 'Export' }).click();
  await page.page.locator('.menu-item', { hasText: `Picture (${format})` }).click();
  await page.page.waitForFunction(
    (last) => window.testHost.calls.some(({ params }) => (params as { format?: string }).format === last.toLowerCase()),
    format,
  );
  const { params } = (await page.calls()).at(-1) ?? assert.fail();
  return (params as { data: string }).data;
}

describe('pictures of the timeline', function () {
  this.timeout(30_000);
  const shown = browserHarness();

  for (const { name } of THEMES) {
    it(`in ${name} the PNG and the SVG are one picture`, async () => {
      const page = await TimelineDriver.open(shown.harness, { theme: name });
      const png = `data:image/png;base64,${await exported(page, 'PNG')}`;
      const svg = `data:image/svg+xml;base64,${Buffer.from(await exported(page, 'SVG')).toString('base64')}`;
      const plain = await shown.browser.newPage();
      const { share, drawn } = await plain.evaluate(
        async ([noticed, ...sources]) => {
          const images = await Promise.all(
            sources.map(async (source) => {
              const image = new Image();
              image.src = source;
              await image.decode();
              return image;
            }),
          );
          const [{ naturalWidth: width, naturalHeight: height }] = images as [HTMLImageElement];
          const all = images.map((image) => {
            const canvas = document.createElement('canvas');
            canvas.width = width;
            canvas.height = height;
            const context = canvas.getContext('2d')!;
            context.drawImage(image, 0, 0, width, height);
            return { data: context.getImageData(0, 0, width, height).data, url: canvas.toDataURL() };
          });
          const [a, b] = all.map(({ data }) => data) as [Uint8ClampedArray, Uint8ClampedArray];
          let different = 0;
          for (let at = 0; at < a.length; at += 4) {
            if ([0, 1, 2].some((channel) => Math.abs(a[at + channel]! - b[at + channel]!) > noticed)) different += 1;
          }
          return { share: different / (width * height), drawn: all.map(({ url }) => url) };
        },
        [NOTICED, png, svg] as const,
      );
      drawn.forEach((url, index) =>
        writeFileSync(
          join(SCREENSHOTS, `timeline-export-${name}-${index === 0 ? 'png' : 'svg'}.png`),
          Buffer.from(url.slice(url.indexOf(',') + 1), 'base64'),
        ),
      );
      assert.ok(share < 0.0003, `${(share * 100).toFixed(3)} % of the pixels differ`);
      await page.assertClean();
      await page.page.close();
      await plain.close();
    });
  }

  it('a PNG that the browser cannot make at twice the size is made at its own; one that it cannot make at all is said', async () => {
    const page = await TimelineDriver.open(shown.harness);
    await page.page.evaluate(() => {
      const canvases = HTMLCanvasElement.prototype as { toDataURL: (this: HTMLCanvasElement, type: string) => string };
      const { toDataURL } = canvases;
      canvases.toDataURL = function (type) {
        return this.width > 1280 ? 'data:,' : toDataURL.call(this, type);
      };
    });
    const bytes = Buffer.from(await exported(page, 'PNG'), 'base64');
    assert.ok(bytes.readUInt32BE(16) <= 1280);
    await page.page.evaluate(() => {
      HTMLCanvasElement.prototype.toDataURL = () => 'data:,';
      window.testHost.calls.length = 0;
    });
    await page.page.locator('.menu > button', { hasText: 'Export' }).click();
    await page.page.locator('.menu-item', { hasText: 'Picture (PNG)' }).click();
    await page.page.locator('.toast', { hasText: 'too large for a PNG' }).waitFor({ timeout: 5000 });
    assert.deepEqual(await page.calls(), []);
    await page.page.close();
  });

  for (const scale of [1.25, 1.5]) {
    it(`at ${scale} pixels of the screen for each of the page, a pixel of a canvas is one of the screen`, async () => {
      const page = await TimelineDriver.open(shown.harness, { scale, width: 1173 });
      const places = await page.page.evaluate(() =>
        Array.from(document.querySelectorAll('canvas')).map((canvas) => {
          const { left, top } = canvas.getBoundingClientRect();
          return { ratio: canvas.width / Number.parseFloat(canvas.style.width), left, top };
        }),
      );
      assert.equal(places.length, 4);
      for (const { ratio, left, top } of places) {
        assert.ok(Math.abs(ratio - scale) < 1e-6, `${ratio}`);
        for (const at of [left * scale, top * scale]) assert.ok(Math.abs(at - Math.round(at)) < 0.02, `${at}`);
      }
      const runs = await page.page.evaluate(() => {
        const runsOf = (selector: string, fromEnd: number): string[] => {
          const canvas = document.querySelector<HTMLCanvasElement>(selector)!;
          const { data } = canvas.getContext('2d')!.getImageData(0, canvas.height - fromEnd, canvas.width, 1);
          const words = Array.from({ length: canvas.width }, (_unused, x) => String(data.slice(x * 4, x * 4 + 4)));
          const isLine = words.map((word) => word !== words[0]);
          return isLine.flatMap((one, x) => {
            const end = isLine.indexOf(false, x);
            return one && isLine[x - 1] === false ? [`${x} ${(end < 0 ? isLine.length : end) - x}`] : [];
          });
        };
        return [runsOf('canvas.base', 4), runsOf('canvas.lines', 1)] as const;
      });
      assert.ok(runs[0].length >= 4);
      assert.deepEqual(runs[1], runs[0], 'the lines of the axis go on in those of the lanes');
      assert.deepEqual([...new Set(runs[0].map((run) => run.split(' ')[1]))], [String(Math.round(scale))]);
      await page.screenshot(`timeline-ratio-${scale}`);
      await page.page.close();
    });
  }

  it('on another screen, where the page keeps its size, the canvas takes up its pixels', async () => {
    const page = await TimelineDriver.open(shown.harness);
    const session = await page.page.context().newCDPSession(page.page);
    await session.send('Emulation.setDeviceMetricsOverride', {
      width: 1280,
      height: 620,
      deviceScaleFactor: 2,
      mobile: false,
    });
    await page.page.waitForFunction(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('canvas.base');
      return canvas !== null && canvas.width === canvas.clientWidth * 2;
    });
    await page.page.close();
  });

  it('the window of the minimap is seen at the edge where it is beyond, and follows no pointer that was taken away', async () => {
    const page = await TimelineDriver.open(shown.harness);
    const edge = (): Promise<string> =>
      page.page.evaluate(() => {
        const canvas = document.querySelector<HTMLCanvasElement>('canvas.strip');
        return String(
          canvas
            ?.getContext('2d')
            ?.getImageData(canvas.width - 2, 1, 1, 1)
            .data.slice(0, 3),
        );
      });
    await page.focusChart();
    await page.press('f', 'w', 'w', 'w');
    const outside = await edge();
    await page.press(...Array.from({ length: 30 }, () => 'd'));
    assert.notEqual(await edge(), outside);
    await page.press('f', 'w', 'w', 'w');
    const strip = (await page.page.locator('.minimap').boundingBox()) ?? assert.fail();
    await page.page.mouse.move(strip.x + strip.width / 2, strip.y + 10);
    await page.page.mouse.down();
    await page.page.mouse.move(strip.x + strip.width / 2 + 2, strip.y + 10);
    await page.page.evaluate(() => {
      const box = document.querySelector('.minimap');
      for (let id = 0; id < 50; id += 1) if (box?.hasPointerCapture(id) === true) box.releasePointerCapture(id);
    });
    await page.page.mouse.move(strip.x + strip.width / 2 + 1, strip.y + 10);
    await page.frame();
    const before = await page.kept();
    await page.page.mouse.move(strip.x + strip.width / 2 + 90, strip.y + 10, { steps: 3 });
    assert.deepEqual(await page.kept(), before);
    await page.page.mouse.up();
    await page.page.close();
  });

  it('while following, one zooms out no further than what can be shown', async () => {
    const page = await TimelineDriver.open(shown.harness, { empty: true, test: { hasCluster: true } });
    const seen = {
      type: 'observed',
      at: Date.now(),
      via: 'watch',
      cluster: 'c',
      name: { group: '', resource: 'pods', namespace: 'n', name: 'a' },
      uid: 'u',
      token: '1',
    };
    await page.page.evaluate((one) => window.testHost.append([one] as never), seen);
    await page.page.waitForFunction(() => document.querySelectorAll('.row.lane:not([hidden])').length === 1);
    await page.page.evaluate(() => {
      const chart = document.querySelector('.chart');
      for (let times = 0; times < 2500; times += 1)
        chart?.dispatchEvent(new KeyboardEvent('keydown', { key: 's', bubbles: true }));
    });
    const { from, to } = await page.kept();
    assert.ok(to - from <= 10 * 365 * 86_400_000 + 1, `${to - from} ms`);
    await page.assertClean();
    await page.page.close();
  });
});
