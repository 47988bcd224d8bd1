import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { person } from '../support/console.js';
import { type Relay, startRelay } from '../support/relay.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs } from './support/steps.js';

let relay: Relay;
let browser: Browser;
const tabs: Tab[] = [];

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay(), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});
afterEach(() => closeTabs(...tabs.splice(0)));

async function newGroup(expectedStatuses: number[] = []) {
  const tab = await Tab.open(browser, relay, {
    as: await person(relay, { roles: ['admin'] }),
    expectedStatuses,
  });
  tabs.push(tab);
  await tab.goto('/admin/groups?new=yes');
  const form = tab.page.getByRole('dialog', { name: 'Add a group' });
  const name = form.getByRole('textbox', { name: 'Group', exact: true });
  await name.waitFor();
  return { page: tab.page, form, name };
}

/** Records the headings of the open dialogs, however briefly they are shown. */
const RECORD_HEADINGS = `
  headings = [];
  new MutationObserver(() => {
    for (const { textContent } of document.querySelectorAll('[role="dialog"] h2'))
      if (!headings.includes(textContent)) headings.push(textContent);
  }).observe(document, { subtree: true, childList: true, characterData: true });`;

describe('a question before a switch', () => {
  it('asks one thing until it is closed, whatever the switch changes', async () => {
    const as = await person(relay, { roles: ['admin'] });
    const tab = await Tab.open(browser, relay, { as });
    tabs.push(tab);
    const { page } = tab;
    await tab.goto('/admin/channels/sandbox?tab=settings');
    const dialog = page.getByRole('dialog');
    for (const action of ['Drain and switch off', 'Switch on']) {
      await page.evaluate(RECORD_HEADINGS);
      await page.getByRole('button', { name: action }).click();
      await dialog.getByRole('button', { name: action }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await page.evaluate('headings')).toHaveLength(1);
    }
    await page.getByRole('button', { name: 'Drain and switch off' }).waitFor();
  });

  it('cannot be answered again while the first answer is under way', async () => {
    const as = await person(relay, { roles: ['admin'] });
    const tab = await Tab.open(browser, relay, { as });
    tabs.push(tab);
    const { page } = tab;
    await tab.goto('/admin/channels/sandbox?tab=settings');
    const { promise: asked, resolve: answer } = Promise.withResolvers<void>();
    await page.route('**/api/admin/channels/sandbox', async (route) => {
      if (route.request().method() !== 'GET') await asked;
      await route.continue();
    });
    const begin = page.getByRole('button', { name: 'Drain and switch off' });
    const dialog = page.getByRole('dialog');
    const act = dialog.getByRole('button', { name: 'Drain and switch off' });
    await begin.click();
    await act.click();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await begin.click();
    await act.waitFor();
    expect(await act.isDisabled()).toBe(true);
    answer();
    await page.getByRole('button', { name: 'Switch on' }).click();
    await dialog.getByRole('button', { name: 'Switch on' }).click();
    await dialog.waitFor({ state: 'detached' });
  });
});

describe('the / key', () => {
  it('focuses the search of the page or the global one, but is a character in fields and when shortcuts are off', async () => {
    const tab = await Tab.open(browser, relay, { as: await person(relay, { roles: ['admin'] }) });
    tabs.push(tab);
    const { page } = tab;
    await tab.goto('/admin/models');
    await page.keyboard.press('/');
    const own = page.getByRole('searchbox');
    await own.and(page.locator(':focus')).waitFor();
    await page.keyboard.type('a/?');
    await expect.poll(() => own.inputValue()).toBe('a/?');
    await tab.follow('/admin/retention');
    await page.keyboard.press('/');
    const everywhere = page.getByLabel('Search pages, or paste any ID');
    await everywhere.waitFor();
    await page.keyboard.press('Escape');
    await everywhere.waitFor({ state: 'detached' });
    await page.keyboard.press('Shift+Slash');
    const single = page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByRole('checkbox');
    await single.uncheck();
    await page.keyboard.press('Escape');
    await single.waitFor({ state: 'detached' });
    await tab.follow('/admin/models');
    await page.keyboard.press('/');
    await expect.poll(() => own.and(page.locator(':focus')).count()).toBe(0);
  });
});

describe('a form', () => {
  it('asks before discarding what was entered, and does not ask when nothing was', async () => {
    const { page, form, name } = await newGroup();
    await name.fill('north');
    await form.getByRole('button', { name: 'Close' }).click();
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await question.getByRole('button', { name: 'Stay' }).click();
    await expect.poll(() => name.inputValue()).toBe('north');
    await form.getByRole('button', { name: 'Close' }).click();
    await question.getByRole('button', { name: 'Leave' }).click();
    await form.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Add a group' }).click();
    await expect.poll(() => name.inputValue()).toBe('');
    await form.getByRole('button', { name: 'Close' }).click();
    await form.waitFor({ state: 'detached' });
  });

  it('shows a refusal at its field, keeps what was entered, and leaves without a question once sent', async () => {
    const { page, form, name } = await newGroup([400, 409]);
    await name.fill('north-studio');
    const multiplier = form.getByLabel('Multiplier');
    await multiplier.fill('99999999999999');
    await form.getByRole('button', { name: 'Add the group' }).click();
    await form.locator('input[aria-invalid="true"]:focus').waitFor();
    await expect.poll(() => multiplier.getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => name.inputValue()).toBe('north-studio');
    await multiplier.fill('0.1');
    await form.getByRole('button', { name: 'Add the group' }).click();
    await form.getByText('Propose that afterwards').waitFor();
    await multiplier.fill('1.2');
    await form.getByRole('button', { name: 'Add the group' }).click();
    await form.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'north-studio' }).waitFor();
  });

  it('takes a half-entered time for no answer, not for never', async () => {
    const owner = await person(relay);
    const tab = await Tab.open(browser, relay, { as: owner });
    tabs.push(tab);
    await tab.goto('/tokens?new=yes');
    const form = tab.page.getByRole('dialog', { name: 'New key' });
    await form.getByLabel('Name').fill('until then');
    await form.getByRole('button', { name: 'Advanced' }).click();
    const expiry = form.getByLabel('Expires');
    await expiry.focus();
    await tab.page.keyboard.type('31122030');
    await expect.poll(() => expiry.inputValue()).toBe('');
    await form.getByRole('button', { name: 'Create the key' }).click();
    await form.getByText('Enter a date and a time, or clear the field.').waitFor();
    await expiry.and(tab.page.locator(':focus')).waitFor();
    await expiry.fill('2030-12-31T12:00');
    await form.getByRole('button', { name: 'Create the key' }).click();
    await tab.page.getByRole('dialog', { name: 'The key until then' }).waitFor();
    const { data } = await owner.api.GET('/api/keys');
    const made = data!.items.find(({ name }) => name === 'until then');
    expect(made?.expiresAt).toMatch(/^2030-12-31/);
  });
});

describe('what was entered', () => {
  it('is not lost without a question, in answers to tickets, proposals and the rules of a key, either', async () => {
    const owner = await person(relay);
    const body = { kind: 'question', subject: 'A gate', body: 'How high is it?' } as const;
    const { data } = await owner.api.POST('/api/tickets', { body });
    const support = await person(relay, { roles: ['support'] });
    const admin = await person(relay, { roles: ['admin'] });
    for (const [as, path, label] of [
      [owner, `/tickets/${data!.id}`, 'Your message'],
      [support, `/support/tickets/${data!.id}`, 'Answer to the customer'],
      [admin, '/admin/prices/propose', 'Note'],
      [owner, '/tokens?new=yes', 'Name'],
    ] as const) {
      const tab = await Tab.open(browser, relay, { as });
      tabs.push(tab);
      await tab.goto(path);
      const field = tab.page.getByLabel(label);
      await field.fill('As high as a house.');
      await tab.page.locator('.back-link, .mantine-Drawer-close').click();
      const question = tab.page.getByRole('dialog', { name: 'Leave without saving?' });
      await question.getByRole('button', { name: 'Stay' }).click();
      await expect.poll(() => field.inputValue()).toBe('As high as a house.');
    }
  });
});
