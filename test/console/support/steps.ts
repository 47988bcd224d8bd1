import { expect } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { newId } from '#platform/ids.js';
import { visitor } from '../../support/console.js';
import { awaitMail, tokenIn } from '../../support/mail.js';
import { type Relay, until } from '../../support/relay.js';
import type { Tab } from './browser.js';

/** Steps that several journeys share. */
export const PASSWORD = 'correct horse battery';
/** How long to wait before repeating a step. */
const A_MOMENT_MS = 15_000;

/** A person with a password, created without the pages. */
export async function signedUp(relay: Relay): Promise<string> {
  const email = `${newId()}@example.com`;
  const api = visitor(relay);
  await api.POST('/api/public/sign-ups', { body: { email } });
  const token = tokenIn(await awaitMail(relay, email, { subject: /Finish signing up/ }));
  await api.POST('/api/public/sign-ups/confirm', { body: { token, password: PASSWORD } });
  return email;
}

/** Fills in the sign-in form, which has to be open. */
export async function signInHere({ page }: Tab, email: string, password = PASSWORD): Promise<void> {
  await page.getByRole('textbox', { name: 'Email address' }).fill(email);
  await page.getByLabel(/^Password/).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Orders credits in the wallet and pays at the sandbox provider. Ends on the order page. */
export async function topUp({ page }: Tab): Promise<void> {
  await page.getByRole('button', { name: /^Pay \$/ }).click();
  await page.getByRole('heading', { name: 'Sandbox payment' }).waitFor();
  await page.getByRole('button', { name: 'Pay' }).click();
  await page.waitForURL('**/topups/**');
  await page.getByText('Payment received — credits added').waitFor();
}

/** Follows a link, is asked first, and stays. */
export async function staysOn(page: Page, path: string, about = 'What you entered'): Promise<void> {
  await page.evaluate(`__TSR_ROUTER__.history.push(${JSON.stringify(path)})`);
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await question.getByText(about).waitFor();
  await question.getByRole('button', { name: 'Stay' }).click();
  await question.waitFor({ state: 'detached' });
}

/** A secret that is shown once stays until people say that they saved it, whatever else they press. */
export async function putAway(once: Locator): Promise<void> {
  const page = once.page();
  const done = once.getByRole('button', { name: 'Done' });
  await done.waitFor();
  expect(await once.getByRole('button', { name: 'Close' }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  await staysOn(page, '/library', 'This is shown only once.');
  expect(await done.isDisabled()).toBe(true);
  await once.getByLabel('I’ve saved this').check();
  await done.click();
}

/** Creates a key with the form on the keys page. Returns it, as shown once. */
export async function makeKey({ page }: Tab, name: string): Promise<string> {
  await page.getByRole('link', { name: 'New key' }).first().click();
  const form = page.getByRole('dialog', { name: 'New key' });
  await form.getByRole('button', { name: 'Create the key' }).click();
  await form.getByText('Give it a name.').waitFor();
  await form.getByLabel('Name').fill(name);
  await form.getByRole('button', { name: 'Advanced' }).click();
  await form.getByRole('radio', { name: 'Vendora-Main' }).check();
  await form.getByLabel('Monthly spend limit (UTC)').fill('5');
  await form.getByRole('button', { name: 'Create the key' }).click();
  const once = page.getByRole('dialog', { name: `The key ${name}` });
  const apiKey = await once.getByText(/^sk-tg-/).textContent();
  await putAway(once);
  await once.waitFor({ state: 'detached' });
  expect(await page.getByText(apiKey!).count()).toBe(0);
  return apiKey!;
}

/** Closes what a test opened, and fails the test if anything went wrong there unseen. */
export async function closeTabs(...tabs: readonly Tab[]): Promise<void> {
  const problems = tabs.flatMap((tab) => tab.problems());
  await Promise.all(tabs.map((tab) => tab.close()));
  expect(problems).toEqual([]);
}

/** Follows the last bar of a chart once it shows its figures. A chart that is redrawn forgets the pointer above it. */
export async function openLastBar(
  page: Page,
  { figures, url }: { figures: string; url: string },
): Promise<void> {
  const bar = page.locator('.recharts-bar-rectangle path').last();
  const shown = page.locator('.recharts-tooltip-wrapper').getByText(figures).first();
  const isIn = (step: Promise<void>) =>
    step.then(
      () => true,
      () => false,
    );
  await until('the page behind the bar', async () => {
    await page.mouse.move(0, 0);
    await bar.hover();
    if (!(await isIn(shown.waitFor({ timeout: A_MOMENT_MS })))) return false;
    await bar.click();
    return isIn(page.waitForURL(url, { timeout: A_MOMENT_MS }));
  });
}

/** The heights of the points in each sparkline of a row, as fractions of the drawing. */
export async function sparklinesOf(row: Locator): Promise<number[][]> {
  await row.waitFor();
  const drawings = await row.locator('.sparkline svg').all();
  return Promise.all(
    drawings.map(async (drawing) => {
      const height = Number((await drawing.getAttribute('viewBox'))!.split(' ')[3]);
      const points = (await drawing.locator('polyline').getAttribute('points'))!.split(' ');
      return points.map((point) => 1 - Number(point.split(',')[1]) / height);
    }),
  );
}
