import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import type { Role } from '#identity/role.js';
import { type Person, person } from '../support/console.js';
import { type Relay, startRelay } from '../support/relay.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs, staysOn } from './support/steps.js';
import { proposal } from './support/staff.js';

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

async function open(as: Person, path: string, expectedStatuses: number[] = []) {
  const tab = await Tab.open(browser, relay, { as, expectedStatuses });
  tabs.push(tab);
  await tab.goto(path);
  return tab;
}

const staff = (...roles: Role[]) => person(relay, { roles });
const questionOf = ({ page }: Tab) => page.getByRole('dialog', { name: 'Leave without saving?' });

describe('what was entered is not lost without a question', () => {
  it('when another tab of the page is opened, but when its filters change', async () => {
    const tab = await open(await staff('admin'), '/admin/channels/sandbox?tab=settings');
    const { page } = tab;
    const weight = page.getByLabel('Weight');
    await weight.fill('7');
    await page.getByRole('tab', { name: 'Health' }).click();
    await questionOf(tab).getByRole('button', { name: 'Stay' }).click();
    await expect.poll(() => weight.inputValue()).toBe('7');
    await page.getByRole('tab', { name: 'Health' }).click();
    await questionOf(tab).getByRole('button', { name: 'Leave' }).click();
    await weight.waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: 'Settings' }).click();
    await expect.poll(() => weight.inputValue()).toBe('1');
    await page.getByRole('tab', { name: 'Health' }).click();
    await weight.waitFor({ state: 'detached' });
  });

  it('when a dialog is closed in any way but by its own buttons', async () => {
    const tab = await open(await person(relay), '/webhooks');
    const { page } = tab;
    const begin = page.getByRole('button', { name: 'Add an endpoint' }).first();
    const form = page.getByRole('dialog', { name: 'Add an endpoint' });
    const url = form.getByLabel('URL');
    const question = questionOf(tab);
    const ways = [
      () => page.keyboard.press('Escape'),
      () => page.mouse.click(5, 5),
      () => form.getByRole('button', { name: 'Close' }).click(),
    ];
    await begin.click();
    await url.fill('https://example.com/hooks');
    for (const close of ways) {
      await close();
      await question.getByRole('button', { name: 'Stay' }).click();
      await question.waitFor({ state: 'detached' });
      await expect.poll(() => url.inputValue()).toBe('https://example.com/hooks');
    }
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Leave' }).click();
    await form.waitFor({ state: 'detached' });
    await begin.click();
    await expect.poll(() => url.inputValue()).toBe('');
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
  });

  it('when the panel of a person is closed', async () => {
    const { userId } = await person(relay);
    const tab = await open(await staff('admin'), `/admin/people?person=${userId}`);
    const { page } = tab;
    await page.getByRole('checkbox', { name: 'Support' }).check();
    await page.keyboard.press('Escape');
    await questionOf(tab).getByRole('button', { name: 'Stay' }).click();
    const support = page.getByRole('checkbox', { name: 'Support' });
    await expect.poll(() => support.isChecked()).toBe(true);
    // Who stays goes on where they were.
    await support.and(page.locator(':focus')).waitFor();
    // Escape closes what is on top, and asks nothing of the form below.
    await page.getByRole('button', { name: 'Block sign-in' }).click();
    const action = page.getByRole('dialog', { name: /^Block sign-in for/ });
    await action.waitFor();
    await page.keyboard.press('Escape');
    await action.waitFor({ state: 'detached' });
    await expect.poll(() => questionOf(tab).count()).toBe(0);
    const other = await person(relay);
    await tab.follow(`/admin/people?person=${other.userId}`);
    await questionOf(tab).getByRole('button', { name: 'Stay' }).click();
    await expect.poll(() => support.isChecked()).toBe(true);
  });

  it('in the wallet, until it is ordered', async () => {
    const tab = await open(await person(relay), '/wallet');
    const { page } = tab;
    const credits = page.getByLabel('Credits to add');
    await credits.fill('50');
    await staysOn(page, '/wallet?credits=20');
    await staysOn(page, '/library');
    expect(await credits.inputValue()).toBe('50');
    await page.getByRole('button', { name: 'Pay $65.00' }).click();
    await page.getByRole('heading', { name: 'Sandbox payment' }).waitFor();
  });

  it('in the playground, when another type or a sheet for credits covers it', async () => {
    const tab = await open(await person(relay), '/playground');
    const { page } = tab;
    const prompt = page.getByLabel('Prompt');
    await prompt.fill('a boat');
    await page.getByRole('tab', { name: 'Video' }).click();
    await questionOf(tab).getByRole('button', { name: 'Stay' }).click();
    expect(await prompt.inputValue()).toBe('a boat');
    await page.getByRole('button', { name: 'Generate image' }).click();
    const sheet = page.getByRole('dialog', { name: 'Add credits to run this call' });
    await sheet.getByLabel('Credits to add').fill('50');
    await page.keyboard.press('Escape');
    await questionOf(tab).getByRole('button', { name: 'Stay' }).click();
    await questionOf(tab).waitFor({ state: 'detached' });
    await sheet.getByRole('button', { name: 'Pay $65.00' }).click();
    await page.getByRole('heading', { name: 'Sandbox payment' }).waitFor();
  });

  it('in the playground, when the address does not name a type', async () => {
    const tab = await open(await person(relay), '/playground');
    const { page } = tab;
    const prompt = page.getByLabel('Prompt');
    await page.getByRole('tab', { name: 'Video' }).click();
    await page.getByRole('button', { name: 'Generate video' }).waitFor();
    await prompt.fill('a boat');
    await page.evaluate('history.back()');
    await questionOf(tab).getByRole('button', { name: 'Stay' }).click();
    await questionOf(tab).waitFor({ state: 'detached' });
    await staysOn(page, '/playground');
    // The type stays, so nothing is lost.
    await tab.follow('/playground?kind=video&key=other');
    expect(new URL(page.url()).searchParams.get('key')).toBe('other');
    expect(await prompt.inputValue()).toBe('a boat');
  });

  it('on the close of a period, until another end is chosen', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const tab = await open(await staff('finance'), `/finance/periods/close?end=${today}`);
    const { page } = tab;
    await page.getByRole('button', { name: 'Run the checklist' }).click();
    const note = page.getByLabel('Note (optional)');
    await note.fill('All is well.');
    await staysOn(page, '/finance/periods');
    await page.locator('button:has(time)').first().click();
    await note.waitFor({ state: 'detached' });
    await tab.follow('/finance/periods');
    expect(new URL(page.url()).pathname).toBe('/finance/periods');
  });

  it('when another proposal is to be revised', async () => {
    const admin = await staff('admin');
    const change = { kind: 'multiplier', group: 'Public-Relay', multiplier: '1.2' } as const;
    const proposalId = await proposal(admin, [change], { note: 'The other one.' });
    const tab = await open(admin, '/admin/prices/propose');
    const { page } = tab;
    await page.getByLabel('Note').fill('A new one.');
    await staysOn(page, `/admin/prices/propose?revise=${proposalId}`);
    expect(await page.getByLabel('Note').inputValue()).toBe('A new one.');
    await page.getByLabel('Note').fill('');
    await tab.follow(`/admin/prices/propose?revise=${proposalId}`);
    expect(await page.getByLabel('Note').inputValue()).toBe('The other one.');
    await tab.follow('/admin/prices/propose');
    expect(await page.getByLabel('Note').inputValue()).toBe('');
  });

  it('but the question ends once the form was sent, so that a secret is shown', async () => {
    const tab = await open(await person(relay), '/webhooks');
    const { page } = tab;
    const { promise: asked, resolve: answer } = Promise.withResolvers<void>();
    await page.route('**/api/webhooks', async (route) => {
      if (route.request().method() === 'POST') await asked;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Add an endpoint' }).first().click();
    const form = page.getByRole('dialog', { name: 'Add an endpoint' });
    await form.getByLabel('URL').fill('https://example.com/hooks');
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await form.getByRole('button', { name: 'Create endpoint' }).click();
    await sent;
    await page.keyboard.press('Escape');
    await questionOf(tab).waitFor();
    answer();
    await questionOf(tab).waitFor({ state: 'detached' });
    await page.getByText(/^whsec_/).waitFor();
  });
});

describe('a form that is open while others work', () => {
  it('keeps what was entered for a channel that changed meanwhile, and undoes nothing of it', async () => {
    const tab = await open(await staff('admin'), '/admin/channels/sandbox?tab=settings', [409]);
    const { page } = tab;
    const { api } = await staff('admin');
    const params = { path: { channelId: 'sandbox' } };
    const change = (body: object) => api.PATCH('/api/admin/channels/{channelId}', { params, body });
    await page.getByLabel(/^Priority/).fill('4');
    await change({ requestTimeoutMs: 90_000 });
    await page.getByRole('button', { name: 'Drain and switch off' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain and switch off' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Switch on' }).waitFor();
    await expect.poll(() => page.getByLabel(/^Priority/).inputValue()).toBe('4');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Channel sandbox saved.').waitFor();
    // Once saved, it shows what is in force.
    const valueOf = (label: RegExp) => () => page.getByLabel(label).inputValue();
    await expect.poll(valueOf(/^Timeout/)).toMatch(/^90,?000$/);
    const saved = await api.GET('/api/admin/channels/{channelId}', { params });
    expect(saved.data).toMatchObject({ priority: 4, requestTimeoutMs: 90_000, enabled: false });
    await change({ priority: 9, enabled: true });
    await page.getByLabel(/^Priority/).fill('5');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('changed since you read it').waitFor();
    await expect.poll(valueOf(/^Priority/)).toBe('9');
    expect((await api.GET('/api/admin/channels/{channelId}', { params })).data?.priority).toBe(9);
  });

  it('does not take away a role that another administrator gave meanwhile', async () => {
    const { userId } = await person(relay, { roles: ['support'] });
    const tab = await open(await staff('admin'), `/admin/people?person=${userId}`, [409]);
    const { page } = tab;
    const box = (name: string) => page.getByRole('checkbox', { name });
    const save = page.getByRole('button', { name: 'Save the roles' });
    await box('Support').uncheck();
    const roles = ['user', 'support', 'finance'];
    await relay.fixture.owner.query('UPDATE users SET roles = $2 WHERE id = $1', [userId, roles]);
    await save.click();
    await page.getByText('changed since you read it').waitFor();
    const rolesNow = async () =>
      (await relay.fixture.owner.query('SELECT roles FROM users WHERE id = $1', [userId])).rows;
    expect(await rolesNow()).toEqual([{ roles }]);
    // The form begins anew with what is in force, and can be saved.
    await expect.poll(() => box('Finance').isChecked()).toBe(true);
    await box('Support').uncheck();
    await save.click();
    await expect.poll(rolesNow).toEqual([{ roles: ['user', 'finance'] }]);
  });

  it('begins anew with what another administrator changed in a group', async () => {
    const tab = await open(await staff('admin'), '/admin/groups?group=Public-Relay', [409]);
    const { page } = tab;
    const { api } = await staff('admin');
    const limit = page.getByLabel('Requests per minute');
    await limit.fill('70');
    const params = { path: { group: 'Public-Relay' } };
    await api.PATCH('/api/admin/groups/{group}', { params, body: { requestsPerMinute: 50 } });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('changed since you read it').waitFor();
    await expect.poll(() => limit.inputValue()).toBe('50');
    await limit.fill('70');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await limit.waitFor({ state: 'detached' });
    const { data } = await api.GET('/api/admin/groups');
    expect(data?.items.find(({ name }) => name === 'Public-Relay')?.requestsPerMinute).toBe(70);
  });

  it('does not undo a revision of a proposal that was read meanwhile', async () => {
    const admin = await staff('admin');
    const change = { kind: 'multiplier', group: 'Public-Relay', multiplier: '1.2' } as const;
    const proposalId = await proposal(admin, [change], { note: 'A first try.' });
    const { page } = await open(admin, `/admin/prices/propose?revise=${proposalId}`, [409]);
    await page.getByLabel('Note').fill('A second try.');
    const params = { path: { proposalId } };
    const body = { changes: [{ ...change, multiplier: '1.1' }], note: 'Less.', revision: 1 };
    await (await staff('admin')).api.PATCH('/api/admin/price-proposals/{proposalId}', { params, body });
    const read = page.waitForResponse(`**/api/admin/price-proposals/${proposalId}`);
    await page.evaluate('const { now } = Date; Date.now = () => now() + 60_000; undefined');
    await page.evaluate('dispatchEvent(new Event("visibilitychange"))');
    await (await read).finished();
    await page.getByRole('button', { name: 'Preview changes again' }).click();
    await page.getByRole('alert').waitFor();
    const { data } = await admin.api.GET('/api/admin/price-proposals/{proposalId}', { params });
    expect(data).toMatchObject({ note: 'Less.', revision: 2 });
  });

  it('sends the exact time of a proposal again', async () => {
    const admin = await staff('admin');
    const effectiveAt = new Date(
      Math.floor(Date.now() / 60_000) * 60_000 + 86_400_000 + 43_210,
    ).toISOString();
    const change = { kind: 'multiplier', group: 'Public-Relay', multiplier: '1.3' } as const;
    const proposalId = await proposal(admin, [change], { effectiveAt, note: 'From tomorrow.' });
    const { page } = await open(admin, `/admin/prices/propose?revise=${proposalId}`);
    await page.getByLabel('Note').fill('From tomorrow on.');
    await page.getByRole('button', { name: 'Preview changes again' }).click();
    await page.getByText('From tomorrow on.').waitFor();
    const params = { path: { proposalId } };
    const { data } = await admin.api.GET('/api/admin/price-proposals/{proposalId}', { params });
    expect(data).toMatchObject({ note: 'From tomorrow on.', revision: 2, effectiveAt });
  });
});
