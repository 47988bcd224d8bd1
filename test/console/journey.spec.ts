import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { GatedUpstream, POLLS } from '../support/gated-upstream.js';
import { awaitMail, tokenIn } from '../support/mail.js';
import { expectCleanLedger, type Relay, startRelay } from '../support/relay.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs, makeKey, PASSWORD, topUp } from './support/steps.js';

let relay: Relay;
let browser: Browser;
let upstream: GatedUpstream;
const tabs: Tab[] = [];

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay({ SANDBOX_PAYMENTS: 'true' }), openBrowser()]);
  upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
  await upstream?.close();
});
afterEach(async () => {
  await closeTabs(...tabs.splice(0));
  await expectCleanLedger(relay);
});

/** A separate browser for a person. */
async function open(as?: Person): Promise<Tab> {
  const tab = await Tab.open(browser, relay, as ? { as } : {});
  tabs.push(tab);
  return tab;
}

describe('someone who was invited', () => {
  it('tops up, earns the inviter a reward, makes a video, and gets a refund for what failed', async () => {
    const inviter = await person(relay);
    const theirs = await open(inviter);
    const link = await linkOf(theirs);
    const tab = await open();
    await signUp(tab, link);
    await topUpForTheFirstTime(tab);
    await moveReward(theirs);
    expect((await inviter.api.GET('/api/account')).data!.balance).toMatchObject({ main: '2', invite: '0' });

    await tab.page.getByRole('link', { name: 'API keys' }).click();
    await tab.page.getByRole('heading', { name: 'API keys' }).waitFor();
    await makeKey(tab, 'studio');
    await makeVideo(tab);
    await seeTheCharge(tab);
    await meetAFailure(tab);
    await seeTheStatement(tab);
  });
});

async function linkOf(tab: Tab): Promise<string> {
  await tab.goto('/wallet?tab=invites');
  await tab.page.getByText('No invitees yet').waitFor();
  return (await tab.page.getByText('/sign-up?invite=').textContent())!;
}

/** Signs up with the invite link and the link from a mail. */
async function signUp(tab: Tab, link: string): Promise<void> {
  const { page } = tab;
  const email = `${newId()}@example.com`;
  const { pathname, search, searchParams } = new URL(link);
  await tab.goto(pathname + search);
  await expect.poll(() => page.getByLabel('Invite code').inputValue()).toBe(searchParams.get('invite'));
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Send link' }).click();
  await page.getByRole('heading', { name: 'Check your inbox' }).waitFor();
  const mail = await awaitMail(relay, email, { subject: /Finish signing up/ });
  await tab.goto(`/sign-up/confirm#token=${tokenIn(mail)}`);
  expect(page.url()).toBe(`${relay.consoleUrl}/sign-up/confirm`);
  await page.getByLabel(/^New password/).fill('short');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('10 to 200 characters.').nth(1).waitFor();
  await page.getByLabel(/^New password/).fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.waitForURL('**/playground');
}

async function topUpForTheFirstTime(tab: Tab): Promise<void> {
  const { page } = tab;
  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await page.getByRole('heading', { name: 'Get started' }).waitFor();
  await page.getByRole('link', { name: 'Add credits' }).click();
  await page.getByText('20.00 credits', { exact: true }).click();
  await page.getByRole('button', { name: 'Pay $26.00' }).waitFor();
  await topUp(tab);
  await page.getByRole('link', { name: 'Go to billing' }).click();
  await page.getByRole('row', { name: /Paid.*20\.00 credits.*\$26\.00/ }).waitFor();
}

async function moveReward({ page }: Tab): Promise<void> {
  await page.reload();
  await page.getByRole('row', { name: /Invitee 1.*\+2\.00 credits.*Not yet/ }).waitFor();
  await page.getByRole('button', { name: 'Everything' }).click();
  await page.getByRole('button', { name: 'Transfer to balance' }).click();
  await page.getByText('2.00 credits transferred to the balance.').waitFor();
  await page.getByText('There are no rewards to transfer yet.').waitFor();
  await page.getByRole('tab', { name: 'Statement' }).click();
  await page.getByRole('row', { name: /Rewards transferred.*\+2\.00 credits/ }).waitFor();
}

/** Shows the price first, then progress and the hold, then the file and the time left. */
async function makeVideo(tab: Tab): Promise<void> {
  const { page } = tab;
  await page.getByRole('link', { name: 'Playground' }).click();
  await page.getByRole('heading', { name: 'Playground' }).waitFor();
  await page.getByRole('tab', { name: 'Video' }).click();
  await page.getByLabel('Seconds').fill('4');
  await page.getByText('Price: 0.20 credits ($0.26)').waitFor();
  await page.getByLabel('Prompt').fill('a boat');
  await page.getByRole('region', { name: 'curl' }).getByText('"prompt": "a boat"').waitFor();
  upstream.shut(POLLS);
  await page.getByRole('button', { name: 'Generate video' }).click();
  // Nothing is clicked from here on: the page updates by itself.
  await page.getByText('Held').first().waitFor();
  upstream.open();
  await page.getByText('Completed').waitFor();
  await page.locator('video').waitFor();
  await page.getByRole('timer').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download' }).click(),
  ]);
  expect(await download.failure()).toBeNull();
  await tab.picture('journey/video');
}

async function seeTheCharge(tab: Tab): Promise<void> {
  const { page } = tab;
  await page.getByRole('link', { name: 'Cost breakdown' }).click();
  const drawer = page.getByRole('dialog');
  await drawer.getByText('Verified in your browser').waitFor();
  const settlement = drawer.getByRole('table', { name: 'Charged' });
  await expect.poll(() => settlement.textContent()).toMatch(/Work40\.05 credits×\s10\.20 credits/);
  await drawer.getByText('Task completed').waitFor();
  await tab.picture('journey/charge');
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
}

async function meetAFailure({ page }: Tab): Promise<void> {
  await page.getByRole('link', { name: 'Playground' }).click();
  await page.getByRole('heading', { name: 'Playground' }).waitFor();
  await page.getByRole('tab', { name: 'Video' }).click();
  await page.getByLabel('Prompt').fill('a boat [[fault:fail-late]]');
  await page.getByRole('button', { name: 'Generate video' }).click();
  await page
    .getByRole('alert')
    .getByText(/Generation failed/)
    .waitFor();
  await page.getByRole('link', { name: 'Logs' }).click();
  const tabs = page.getByRole('navigation', { name: 'Logs' });
  await tabs.getByRole('link', { name: 'Tasks' }).click();
  await page.getByRole('heading', { name: 'Tasks' }).waitFor();
  const list = page.getByRole('table', { name: 'Tasks, newest first' });
  await list.getByText('Refunded 0.25 credits').waitFor();
  await tabs.getByRole('link', { name: 'Requests' }).click();
  await page.getByRole('heading', { name: 'Logs' }).waitFor();
  const usage = page.getByRole('table', { name: /^Requests/ });
  await usage.getByText('Refunded').waitFor();
}

/** One line for each of the two videos, which opens, and the entries of each balance. */
async function seeTheStatement(tab: Tab): Promise<void> {
  const { page } = tab;
  await page.getByRole('link', { name: 'Billing' }).click();
  await page.getByRole('tab', { name: 'Statement' }).click();
  const lines = [
    /Refunded 0\.00 credits/,
    /Charged -0\.20 credits/,
    /Top-up Receipt \(PDF\) \+20\.00 credits/,
  ];
  for (const line of lines) await page.getByRole('row', { name: line }).waitFor();
  await tab.picture('journey/statement');
  await page.getByRole('row', { name: lines[0]! }).getByRole('link').click();
  await page
    .getByRole('dialog')
    .getByRole('row', { name: /Refunded 0\.25 credits/ })
    .waitFor();
  await page.keyboard.press('Escape');
  await page.waitForURL((url) => !url.searchParams.has('charge'));
  await tab.goto('/wallet?tab=statement&balance=main');
  for (const line of [
    /Call failed, refunded.*\+0\.25 credits\s*19\.80 credits/,
    /Hold.*-0\.25 credits\s*19\.55 credits/,
    /Hold.*-0\.20 credits\s*19\.80 credits/,
    /Top-up.*\+20\.00 credits\s*20\.00 credits/,
  ])
    await page.getByRole('row', { name: line }).waitFor();
  await tab.goto('/wallet?tab=statement&balance=held');
  await page.getByRole('row', { name: /Call charged.*-0\.20 credits\s*0\.00 credits/ }).waitFor();
}
