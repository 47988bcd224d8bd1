import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { person } from '../support/console.js';
import { addModel } from '../support/models.js';
import { type Relay, startRelay } from '../support/relay.js';
import { silentMp3 } from '../support/sounds.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs } from './support/steps.js';

/** An image arrives as text. */
const MOST_BYTES = 2 ** 26;
const run = (program: string, args: string[], options: { cwd?: string } = {}) =>
  promisify(execFile)(program, args, { maxBuffer: MOST_BYTES, ...options });

let relay: Relay;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay(), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});
afterEach(() => closeTabs(tab));

/** The names in the table, from top to bottom. */
function names({ page }: Tab): Promise<string[]> {
  return page.locator('tbody tr td:first-child').allTextContents();
}

describe('the marketplace', () => {
  it('searches, filters and sorts, and its address shows the same to somebody else', async () => {
    tab = await Tab.open(browser, relay);
    const { page } = tab;
    await tab.goto('/marketplace');
    await page.getByRole('searchbox').fill('imagine');
    await page.waitForURL('**/marketplace?text=imagine');
    await page.getByText('Table', { exact: true }).click();
    await page.getByRole('combobox', { name: 'Type' }).click();
    await page.getByRole('option', { name: 'Video' }).click();
    // The address changes before the table does.
    const sorted = (how: string) =>
      page.locator(`th[aria-sort=${how}]`).filter({ hasText: 'Model' }).waitFor();
    await page.getByRole('button', { name: 'Model' }).click();
    await sorted('ascending');
    await page.waitForURL('**sort=model**');
    await page.getByRole('button', { name: 'Model' }).click();
    await sorted('descending');
    await page.waitForURL('**sort=-model**');
    const videos = [
      'vendora-imagine-video-1.5-preview',
      'vendora-imagine-video-1.5',
      'vendora-imagine-video',
    ];
    expect(await names(tab)).toEqual(videos);

    const other = await Tab.open(browser, relay);
    await other.goto(page.url());
    expect(await names(other)).toEqual(videos);
    await expect.poll(() => other.page.getByRole('searchbox').inputValue()).toBe('imagine');
    await closeTabs(other);
  });

  it('shows each exact price, in each group, and what it was before', async () => {
    tab = await Tab.open(browser, relay);
    const { page } = tab;
    await tab.goto('/marketplace?text=imgmodel-lite');
    await page.getByRole('link', { name: 'imgmodel-lite' }).click();
    await page.getByRole('heading', { level: 1, name: 'imgmodel-lite' }).waitFor();
    const group = page.getByRole('row', { name: /Public-Relay/ });
    await expect.poll(() => group.locator('data').first().getAttribute('value')).toBe('0.0002');
    await page.getByText('fixed price per call').waitFor();
    await page.getByText('from launch').first().waitFor();
    await page.getByRole('link', { name: 'All models' }).click();
    await page.waitForURL('**/marketplace');
  });

  it('says what to do if nothing is found', async () => {
    tab = await Tab.open(browser, relay);
    await tab.goto('/marketplace?text=nothing-is-called-so');
    await tab.page.getByRole('link', { name: 'Clear filters' }).click();
    await tab.page.getByText('14 models').waitFor();
  });

  it('shows an error with its request ID, and the models once they load again', async () => {
    tab = await Tab.open(browser, relay, { expectedStatuses: [503] });
    const { page } = tab;
    await page.route('**/api/public/prices?*', (route) =>
      route.fulfill({
        status: 503,
        headers: { 'x-request-id': '01hzzzzzzzzzzzzzzzzzzzzzzz' },
        json: { error: { code: 'service_unavailable', message: 'away', param: null, type: 'server_error' } },
      }),
    );
    await page.goto('/marketplace');
    await page.getByText('01hzzzzzzzzzzzzzzzzzzzzzzz').waitFor();
    await page.unroute('**/api/public/prices?*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('14 models').waitFor();
  });
});

describe('a price list that is there', () => {
  it('stays if it cannot be read again', async () => {
    tab = await Tab.open(browser, relay, { expectedStatuses: [500] });
    const { page } = tab;
    await page.clock.install();
    await tab.goto('/marketplace');
    await page.route('**/api/public/prices?*', (route) => route.fulfill({ status: 500, json: {} }));
    await page.clock.fastForward('01:00');
    const refused = page.waitForResponse((response) => response.status() === 500);
    await page.evaluate('dispatchEvent(new Event("visibilitychange"))');
    await (await refused).finished();
    await page.clock.runFor(1_000);
    await page.getByText('14 models').waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'imgmodel-lite' }).count()).toBe(1);
  });

  it('is read again after a change of a group', async () => {
    tab = await Tab.open(browser, relay, { as: await person(relay, { roles: ['admin'] }) });
    const { page } = tab;
    const { api } = await person(relay, { roles: ['admin'] });
    await api.POST('/api/admin/groups', {
      body: { name: 'Shelf', multiplier: '2', models: [], open: false },
    });
    // However long this takes, the list does not get old.
    await page.clock.setFixedTime(Date.now());
    await tab.goto('/marketplace');
    await page.getByText('14 models').waitFor();
    const asked = page.waitForRequest('**/api/public/prices?*');
    await tab.follow('/admin/groups?group=Shelf');
    const form = page.getByRole('dialog', { name: 'Shelf' });
    await form.getByLabel('Requests per minute').fill('70');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    await tab.follow('/marketplace');
    await asked;
  });
});

describe('the page of a model', () => {
  it('shows working code for a call, with this relay’s address', async () => {
    tab = await Tab.open(browser, relay);
    const { page } = tab;
    await tab.goto('/marketplace/imgmodel-4');
    for (const name of ['Python', 'Node.js', 'curl']) {
      await page.getByRole('tab', { name }).click();
      await page.getByRole('region', { name }).getByText(`${relay.baseUrl}/v1/images/generations`).waitFor();
    }
    const lines = (await page.getByRole('region', { name: 'curl' }).textContent())!;
    const { apiKey } = await relay.customer('1');
    const { stdout } = await run('bash', ['-c', lines.replace('<API_KEY>', apiKey)]);
    expect((JSON.parse(stdout) as { data: unknown[] }).data).toHaveLength(1);
    await page.getByRole('link', { name: 'Sign up to try it' }).waitFor();
  });

  it('shows a call even if the playground has no form for it', async () => {
    const fresh = await startRelay();
    const sandbox = { channel: 'sandbox', protocol: 'openai-xai', baseUrl: fresh.sandboxUrl };
    const { owner } = fresh.fixture;
    await addModel(owner, { id: 'some-embedder', like: 'vendora-chat', ...sandbox });
    await addModel(owner, { id: 'some-whisper', like: 'vendora-speech', unit: 'second', ...sandbox });
    const { apiKey } = await fresh.customer('1');
    const cwd = mkdtempSync(join(tmpdir(), 'tollgate-samples-'));
    writeFileSync(join(cwd, 'speech.mp3'), silentMp3(40));
    tab = await Tab.open(browser, fresh);
    for (const [model, said] of [
      ['some-embedder', '"embedding":'],
      ['some-whisper', '"text":'],
    ] as const) {
      await tab.goto(`/marketplace/${model}`);
      const lines = (await tab.page.getByRole('region', { name: 'curl' }).textContent())!;
      const { stdout } = await run('bash', ['-c', lines.replace('<API_KEY>', apiKey)], { cwd });
      expect(stdout).toContain(said);
    }
    rmSync(cwd, { recursive: true });
    await fresh.close();
  });

  it('links people with an account to the playground, with the model selected', async () => {
    tab = await Tab.open(browser, relay, { as: await person(relay, { credits: '1' }) });
    const { page } = tab;
    await tab.goto('/marketplace/vendora-imagine-video');
    await page.getByRole('link', { name: 'Try in the Playground' }).click();
    await page.waitForURL('**/playground?kind=video&model=vendora-imagine-video');
  });

  it('shows how often and how fast it delivered, and says if too little is known', async () => {
    await relay.fixture.owner.query(
      `INSERT INTO model_days SELECT (now() AT TIME ZONE 'UTC')::date - ago, 'vendora-speech', 0.995, 1250
       FROM generate_series(1, 3) AS ago`,
    );
    tab = await Tab.open(browser, relay);
    const { page } = tab;
    await tab.goto('/marketplace/vendora-speech');
    await page.getByRole('definition').filter({ hasText: '99.5%' }).waitFor();
    await page.getByRole('definition').filter({ hasText: '1.25 sec' }).waitFor();
    const days = page.getByRole('list', { name: 'Delivered, by UTC day' }).getByRole('listitem');
    await expect.poll(() => days.count()).toBe(30);
    await expect.poll(() => days.filter({ hasText: '99.5%' }).count()).toBe(3);
    await expect.poll(() => days.filter({ hasText: 'Unknown' }).count()).toBe(27);
    await tab.goto('/marketplace/vendora-3d');
    await page
      .getByText('Not enough customers used this model in the last 30 days to show figures.')
      .waitFor();
  });

  it('is found at its former address, and says so if there is no such model', async () => {
    tab = await Tab.open(browser, relay, { expectedStatuses: [404] });
    const { page } = tab;
    await tab.goto('/marketplace?model=vendora-chat');
    await page.waitForURL('**/marketplace/vendora-chat');
    await tab.goto('/marketplace/nobody-has-it');
    await page.getByText('We couldn’t find this.').waitFor();
  });
});

describe('language and colours', () => {
  it('follow the system at first, and then what was chosen', async () => {
    tab = await Tab.open(browser, relay, { look: { language: 'zh', scheme: 'dark' } });
    const { page } = tab;
    await tab.goto('/sign-in');
    await expect.poll(() => page.locator('html').getAttribute('lang')).toBe('zh-Hans');
    await expect.poll(() => page.locator('html').getAttribute('data-mantine-color-scheme')).toBe('dark');
    await page.getByRole('button', { name: '语言' }).click();
    await page.getByRole('menuitemradio', { name: 'English' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByRole('button', { name: 'Theme' }).click();
    await page.getByRole('menuitemradio', { name: 'Light' }).click();
    await page.reload();
    await tab.settled();
    await expect.poll(() => page.locator('html').getAttribute('lang')).toBe('en');
    await expect.poll(() => page.locator('html').getAttribute('data-mantine-color-scheme')).toBe('light');
  });
});

describe('the frame', () => {
  it('is reached by keyboard alone, beginning with the link to the content', async () => {
    tab = await Tab.open(browser, relay);
    const { page } = tab;
    await tab.goto('/');
    await page.keyboard.press('Tab');
    const skip = page.getByRole('link', { name: 'Skip to the content' });
    await skip.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();
  });

  it('opens a menu by keyboard and returns to its button, every time', async () => {
    tab = await Tab.open(browser, relay);
    const { page } = tab;
    await tab.goto('/');
    const button = page.getByRole('button', { name: 'Theme' });
    await button.focus();
    for (const _time of ['first', 'second']) {
      await page.keyboard.press('Enter');
      await page.getByRole('menu').and(page.locator(':focus-within')).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.getByRole('menuitemradio').first().and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Escape');
      await button.and(page.locator(':focus[aria-expanded=false]')).waitFor();
    }
  });

  it('starts all pages at the same edge, however wide they are', async () => {
    tab = await Tab.open(browser, relay, { look: { width: 'widest' } });
    await tab.goto('/marketplace');
    const edge = async () => (await tab.page.getByRole('heading', { level: 1 }).boundingBox())!.x;
    const common = await edge();
    for (const path of ['/connect', '/status', '/retention']) {
      await tab.follow(path);
      expect([path, await edge()]).toEqual([path, common]);
    }
  });

  it('copies SDK code with this relay’s address', async () => {
    tab = await Tab.open(browser, relay);
    const { page } = tab;
    await tab.goto('/');
    await tab.toEnd();
    await page.getByRole('tab', { name: 'OpenAI Python' }).click();
    await page.getByRole('tabpanel').getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toContain(`OpenAI(base_url="${relay.baseUrl}/v1", api_key="<API_KEY>")`);
  });

  it('has a policy that refuses everything but the console’s own', async () => {
    tab = await Tab.open(browser, relay);
    const answer = await tab.page.goto('/');
    const policy = answer!.headers()['content-security-policy'] ?? '';
    expect(policy).toMatch(/default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[\w+/=]{22,}'/);
    expect(policy).not.toContain('unsafe');
    const again = await tab.page.goto('/');
    expect(again!.headers()['content-security-policy']).not.toBe(policy);
  });
});
