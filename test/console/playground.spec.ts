import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { person } from '../support/console.js';
import { addModel } from '../support/models.js';
import { type Relay, startRelay } from '../support/relay.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs } from './support/steps.js';
import { keyOf, play } from './support/work.js';

/** A model whose price depends on sound. */
const FILM = 'dead-film';

let relay: Relay;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay(), openBrowser()]);
  const dead = { channel: 'dead', protocol: 'openai-xai', baseUrl: 'http://127.0.0.1:9' };
  for (const like of ['imgmodel-4', 'vendora-chat', 'vendora-speech'])
    await addModel(relay.fixture.owner, { id: `dead-${like}`, like, ...dead });
  const { owner } = relay.fixture;
  await addModel(owner, { id: FILM, like: 'vendora-imagine-video', ...dead });
  const rates = [{ when: { audio: 'off' }, unitPrice: '0.23' }];
  await owner.query(
    `INSERT INTO price_versions (model_id, unit_price, rates, effective_from) VALUES ($1, 0.47, $2, clock_timestamp())`,
    [FILM, JSON.stringify(rates)],
  );
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});
afterEach(() => closeTabs(tab));

describe('a key with a fallback in the playground', () => {
  it.each([
    ['image', 'imgmodel-4', 'Prompt', 'Generate image'],
    ['chat', 'vendora-chat', 'Your message', 'Send'],
    ['speech', 'vendora-speech', 'Text to read aloud', 'Generate speech'],
  ])('is charged for the model whose price was shown, or not at all: %s', async (kind, like, field, send) => {
    const someone = await person(relay, { credits: '5' });
    const { data } = await someone.api.POST('/api/keys', {
      body: { name: 'safe', group: 'Vendora-Main', fallbackModels: [like] },
    });
    tab = await Tab.open(browser, relay, { as: someone, expectedStatuses: [503] });
    await tab.goto(`/playground?kind=${kind}&model=dead-${like}&key=${data!.keyId}`);
    const { page } = tab;
    await page.getByLabel(field).fill('a boat');
    await page.getByRole('button', { name: send, exact: true }).click();
    await page.getByText(`dead-${like} is unavailable at the moment.`).waitFor();
    const { rows } = await relay.fixture.owner.query(
      'SELECT FROM charges WHERE account_id = $1 AND model_id = $2',
      [someone.accountId, like],
    );
    expect(rows).toEqual([]);
    // The key keeps its fallbacks in code that people copy.
    const code = await page.locator('.code-lines').first().innerText();
    expect(code).toContain(`dead-${like}`);
    expect(code).not.toContain('"models"');
  });
});

describe('a video whose price depends on its sound', () => {
  it('is priced and requested without it once that is switched off', async () => {
    const someone = await person(relay, { credits: '5' });
    await someone.api.POST('/api/keys', { body: { name: 'films', group: 'Vendora-Main' } });
    tab = await Tab.open(browser, relay, { as: someone });
    await tab.goto(`/playground?kind=video&model=${FILM}`);
    const { page } = tab;
    const price = page.getByRole('status').filter({ hasText: 'Price:' });
    await price.filter({ hasText: '0.47' }).waitFor();
    const code = page.locator('.code-lines').first();
    await expect.poll(() => code.innerText()).not.toContain('generate_audio');
    await page.getByRole('switch', { name: 'With sound' }).click();
    await price.filter({ hasText: '0.23' }).waitFor();
    await expect.poll(() => code.innerText()).toContain('"generate_audio": false');
    expect(await tab.barriers()).toEqual([]);
  });

  it('runs again without sound if it was requested without', async () => {
    const someone = await person(relay, { credits: '5' });
    const keyId = await keyOf(someone);
    const body = { model: FILM, prompt: 'a silent film', generate_audio: false };
    await play(relay, someone, { keyId, path: 'videos', body });
    const { data } = await someone.api.GET('/api/tasks');
    const [task] = data!.items;
    expect(task).toMatchObject({ prompt: 'a silent film', audio: false });
    tab = await Tab.open(browser, relay, { as: someone });
    await tab.goto(`/playground?kind=video&model=${FILM}&again=${task!.id}`);
    const { page } = tab;
    await expect.poll(() => page.getByRole('switch', { name: 'With sound' }).isChecked()).toBe(false);
    await page.getByRole('status').filter({ hasText: 'Price:' }).filter({ hasText: '0.23' }).waitFor();
  });
});

describe('the result of a call', () => {
  it('is still there after a reload, but only for its person', async () => {
    const someone = await person(relay, { credits: '5' });
    tab = await Tab.open(browser, relay, { as: someone });
    await tab.goto('/playground');
    const { page } = tab;
    const image = page.getByRole('img', { name: 'Generated image 1' });
    await page.getByLabel('Prompt').fill('a boat at night');
    await page.getByRole('button', { name: 'Generate image' }).click();
    await image.waitFor();
    const source = await image.getAttribute('src');
    await page.reload();
    await image.waitFor();
    await expect.poll(() => image.getAttribute('src')).toBe(source);
    await expect.poll(() => page.getByLabel('Prompt').inputValue()).toBe('a boat at night');
    await page.getByText('Verified in your browser').waitFor();
    await tab.signIn(await person(relay, { credits: '5' }));
    await page.reload();
    await page.getByText('Your result will appear here').waitFor();
    await expect.poll(() => page.getByLabel('Prompt').inputValue()).toBe('');
  });

  it('comes with the remaining balance', async () => {
    const someone = await person(relay, { credits: '5' });
    tab = await Tab.open(browser, relay, { as: someone });
    await tab.goto('/playground');
    const { page } = tab;
    const price = page.getByRole('status').filter({ hasText: 'Price:' });
    await price.locator('data[value="5"]').waitFor();
    await page.getByLabel('Prompt').fill('a boat');
    await page.getByRole('button', { name: 'Generate image' }).click();
    await page.getByRole('img', { name: 'Generated image 1' }).waitFor();
    const { data } = await someone.api.GET('/api/account');
    await price.locator(`data[value="${data!.balance.main}"]`).waitFor();
  });

  it('is still there if it is speech', async () => {
    const someone = await person(relay, { credits: '5' });
    tab = await Tab.open(browser, relay, { as: someone });
    await tab.goto('/playground?kind=speech&model=vendora-speech');
    const { page } = tab;
    const speech = page.getByLabel('Generated speech');
    await page.getByLabel('Text to read aloud').fill('The light is on.');
    await page.getByRole('button', { name: 'Generate speech' }).click();
    await speech.waitFor();
    await page.reload();
    await speech.and(page.locator('[src^="blob:"]')).waitFor();
    await expect.poll(() => page.getByLabel('Text to read aloud').inputValue()).toBe('The light is on.');
  });

  it('says what to do next if it failed', async () => {
    const someone = await person(relay, { credits: '5' });
    tab = await Tab.open(browser, relay, { as: someone, expectedStatuses: [503] });
    await tab.goto('/playground?model=dead-imgmodel-4');
    const { page } = tab;
    await page.getByLabel('Prompt').fill('a boat');
    await page.getByRole('button', { name: 'Generate image' }).click();
    await page.getByText(/^Send it again, or try another model/).waitFor();
    expect(await tab.barriers()).toEqual([]);
  });
});

/** Answers calls of the playground with a part of an answer, whose rest arrives once it is too late. */
const HALF_AN_ANSWER = `(status) => {
  const send = window.fetch;
  window.fetch = (address, init) => {
    if (!String(address).startsWith('/api/playground/')) return send(address, init);
    const start = (body) => {
      body.enqueue(new TextEncoder().encode('{'));
      init.signal.addEventListener('abort', () => body.error(init.signal.reason));
      document.title = 'half of it';
    };
    const headers = { 'content-type': 'application/json' };
    return Promise.resolve(new Response(new ReadableStream({ start }), { status, headers }));
  };
}`;

describe('a call that is cancelled while its answer arrives', () => {
  it.each([200, 503])('is no fault, whatever was answered: %i', async (status) => {
    const someone = await person(relay, { credits: '5' });
    await someone.api.POST('/api/keys', { body: { name: 'own', group: 'Vendora-Main' } });
    tab = await Tab.open(browser, relay, { as: someone });
    const { page } = tab;
    await tab.goto('/playground');
    await page.evaluate(`(${HALF_AN_ANSWER})(${status})`);
    await page.getByLabel('Prompt').fill('a boat');
    await page.getByRole('button', { name: 'Generate image' }).click();
    await expect.poll(() => page.title()).toBe('half of it');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Generate image' }).waitFor();
    await page.getByText('Your result will appear here').waitFor();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  });
});
