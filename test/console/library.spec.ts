import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { instantPng } from '#apps/sandbox-upstream/images.js';
import { type Person, person } from '../support/console.js';
import { type Relay, startRelay } from '../support/relay.js';
import { unzipped } from '../support/zip.js';
import { type Look, openBrowser, Tab } from './support/browser.js';
import { closeTabs } from './support/steps.js';
import { endedMesh, endedVideo, keyOf, play } from './support/work.js';

let relay: Relay;
let browser: Browser;
let someone: Person;
let tab: Tab;

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay(), openBrowser()]);
  someone = await person(relay, { credits: '5' });
  const keyId = await keyOf(someone);
  await endedVideo(relay, someone, { keyId, prompt: 'a boat at dawn', size: '1280x720' });
  await endedMesh(relay, someone, { keyId, prompt: 'a wooden boat' });
  await endedVideo(relay, someone, { keyId, prompt: 'a boat that sinks [[fault:fail-late]]' });
  const picture = { prompt: 'a gate', model: 'imgmodel-4', n: 3 };
  await play(relay, someone, { keyId, path: 'images/generations', body: picture });
  const sent = { ...picture, n: 2, response_format: 'b64_json' };
  await play(relay, someone, { keyId, path: 'images/generations', body: sent });
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});
afterEach(() => closeTabs(tab));

async function open(as: Person, path: string, look: Partial<Look> = {}): Promise<Page> {
  tab = await Tab.open(browser, relay, { as, look });
  await tab.goto(path);
  return tab.page;
}

const cards = (page: Page) => page.getByRole('list', { name: 'Library' }).getByRole('listitem');

/** The files in the zip that a button downloads. */
async function saved(page: Page, button: string): Promise<Map<string, Buffer>> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: button }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('library.zip');
  return unzipped(await readFile(await download.path()));
}

describe('the library', () => {
  it('shows what was made, with its cost and file, and runs it again in the playground', async () => {
    const page = await open(someone, '/overview');
    await page.getByRole('link', { name: 'Library', exact: true }).click();
    const card = cards(page).filter({ hasText: 'a boat at dawn' });
    await card.getByText('0.20 credits').waitFor();
    // A video, a 3D asset and two requests for images. What failed made nothing.
    await expect.poll(() => cards(page).count()).toBe(4);
    await cards(page).filter({ hasText: 'a wooden boat' }).getByText('3D asset', { exact: true }).waitFor();
    await cards(page).filter({ hasText: '3 images' }).getByRole('img', { name: 'Image 3' }).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      card.getByRole('link', { name: 'Download' }).click(),
    ]);
    expect(await file.failure()).toBeNull();
    await card.getByRole('link', { name: 'Run again: a boat at dawn' }).click();
    await page.getByText('Price: 0.20 credits ($0.26)').waitFor();
    await expect.poll(() => page.getByLabel('Prompt').inputValue()).toBe('a boat at dawn');
    await expect.poll(() => page.getByLabel('Seconds').inputValue()).toBe('4');
    await expect
      .poll(() => page.getByRole('combobox', { name: 'Model' }).inputValue())
      .toBe('vendora-imagine-video');
    // A size that no field shows would decide the charge.
    const lines = await page.getByRole('region', { name: 'curl' }).textContent();
    expect(lines).toContain('"resolution": "720p"');
    expect(lines).not.toContain('"size"');
  });

  it('saves all files of the selected type as one zip', async () => {
    const page = await open(someone, '/library', { width: 'narrow' });
    const files = await saved(page, 'Download all');
    expect([...files.keys()].map((name) => name.slice(-3)).toSorted()).toEqual([
      'glb',
      'mp4',
      'png',
      'png',
      'png',
    ]);
    for (const [name, bytes] of files) {
      if (name.endsWith('.png')) continue;
      const answer = await someone.send(`/api/tasks/${name.slice(0, -4)}/content`);
      expect(bytes).toEqual(Buffer.from(await answer.arrayBuffer()));
    }
    expect(await tab.barriers()).toEqual([]);
    expect(await tab.isTooWide()).toBe(false);
    await tab.goto('/library?kind=3d');
    await cards(page).getByText('a wooden boat').waitFor();
    const mesh = [...files.keys()].filter((name) => name.endsWith('.glb'));
    expect([...(await saved(page, 'Download all')).keys()]).toEqual(mesh);
  });

  it('does not rerun what was made from images alone', async () => {
    const other = await person(relay, { credits: '5' });
    const image = instantPng.toString('base64');
    await endedMesh(relay, other, { keyId: await keyOf(other), image });
    const page = await open(other, '/library');
    await cards(page).getByText('No prompt').waitFor();
    await cards(page).getByRole('link', { name: 'Download' }).waitFor();
    expect(
      await cards(page)
        .getByRole('link', { name: /^Run again/ })
        .count(),
    ).toBe(0);
  });

  it('is narrowed to a type, and lists requests for images, including stored ones', async () => {
    const page = await open(someone, '/library?kind=3d', { width: 'narrow', scheme: 'dark' });
    await cards(page).getByText('a wooden boat').waitFor();
    await expect.poll(() => cards(page).count()).toBe(1);
    expect(await tab.barriers()).toEqual([]);
    await tab.goto('/library?kind=image');
    await cards(page).getByText('3 images').waitFor();
    await cards(page).getByText('0.09 credits').waitFor();
    const made = cards(page).filter({ hasText: '3 images' });
    await made.getByRole('img', { name: 'Image 3' }).waitFor();
    await expect.poll(() => made.getByRole('img').count()).toBe(3);
    await made.getByText(/^Expires in \d\d min$/).waitFor();
    const [opened] = await Promise.all([
      page.waitForEvent('popup'),
      made.getByRole('link', { name: 'Image 1' }).click(),
    ]);
    expect(opened.url()).toMatch(/\/api\/charges\/\w{26}\/images\/\w{26}-0\.png\?exp=/);
    await opened.close();
    // Images that were only sent have nothing to show.
    const sent = cards(page).filter({ hasText: '2 images' });
    await sent.getByText('Not stored').waitFor();
    await expect.poll(() => sent.getByRole('img').count()).toBe(0);
    await page.getByText('are kept for: 1 hour').waitFor();
    expect(await tab.barriers()).toEqual([]);
    expect(await tab.isTooWide()).toBe(false);
    await made.getByRole('link', { name: 'imgmodel-4', exact: true }).click();
    await page.getByRole('dialog', { name: 'Request cost' }).getByText('Verified in your browser').waitFor();
  });

  it('says that an image is not stored once that is known', async () => {
    const page = await open(someone, '/overview');
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const asked = page.waitForRequest('**/api/charges/*/images');
    await page.route('**/api/charges/*/images', async (route) => {
      await answered;
      await route.continue();
    });
    await tab.follow('/library?kind=image');
    await asked;
    await cards(page).getByText('2 images').waitFor();
    await expect.poll(() => cards(page).getByText('Not stored').count()).toBe(0);
    answer();
    await cards(page).getByText('Not stored').waitFor();
  });

  it('says where to begin while it is empty', async () => {
    const page = await open(await person(relay), '/library', { language: 'zh' });
    await page.getByText('这里还没有作品').waitFor();
    await page.getByText('您生成的作品会显示在这里。').waitFor();
    await page.getByRole('link', { name: '打开操练场' }).waitFor();
    await tab.goto('/library?kind=image');
    await page.getByText('图像请求会显示在这里。').waitFor();
  });
});
