import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SingleBar } from 'cli-progress';
import OpenAI from 'openai';
import type pg from 'pg';
import { createCustomer } from '#people/accounts/customers.js';
import { operatorSentence } from '#database/operator-sentence.js';
import { dataFolder } from '#operations/data-folder.js';
import { VENDORA_MAIN } from '#groups/group.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import { checkLedger } from '#ledger/checks/ledger-check.js';
import { playTopup } from '#finance/provider-reports/sandbox-books.js';
import { formatAmount, parseAmount } from '#money/amount.js';
import { OperatorError } from '#platform/errors.js';
import { hashApiKey, newId } from '#platform/ids.js';
import { priceCredits, STANDARD_RATE } from '#topup/conversion.js';
import { onDatabase } from './database.access.js';
import { type DemoRelay, findOrStartRelay } from './demo.relay.js';
import { checkReport } from './money.commands.js';
import { printText } from './output.js';
import { readWholeStatement, statementTable } from './statement.js';

const HELP = `Shows the main scenario with the OpenAI client: models, images, videos, a failure, and the account's statement.

Usage: npm run demo

Environment:
    BASE_URL, API_KEY   the relay to use; DATABASE_URL or DATA_DIR names its database
  DATA_DIR            otherwise the relay running on this folder (.data), or one started on it for the demo

Without API_KEY, the demo creates an account with a recorded sandbox top-up.
Exits with 1 if a file, a price, the balance or the ledger check is wrong.
`;

const IMAGE_MODEL = 'vendora-imagine-image';
const VIDEO_MODEL = 'vendora-imagine-video';
const VIDEO_SECONDS = '4';
/** Credits, at the prices of the first catalog: two images, four seconds of video; the failed video costs nothing. */
const EXPECTED_COST = parseAmount('0.24');
const DEMO_CREDITS = parseAmount('1');
const VIDEO_LIMIT_MS = 120_000;
/** How long to wait until the charge of an ended task is resolved. */
const SETTLE_LIMIT_MS = 20_000;
const STATEMENT_LINES = 12;

class DemoFailed extends Error {}

function expectThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new DemoFailed(otherwise);
}

async function main(): Promise<void> {
  const relay = await findOrStartRelay(process.env);
  try {
    // Simulated credit belongs in the books of the relay that is shown, never in those that DATABASE_URL may name.
    const env = relay.apiKey === undefined ? { ...process.env, DATABASE_URL: '' } : process.env;
    await onDatabase((pool) => show(relay, pool), env);
  } finally {
    await relay.close();
  }
}

async function show(relay: DemoRelay, pool: pg.Pool): Promise<void> {
  const account = await demoAccount(relay, pool);
  const before = await mainBalance(pool, account.accountId);
  printText(`Relay   ${relay.baseUrl} (${relay.origin})`);
  printText(`Account ${account.accountId}, balance ${formatAmount(before)} credits`);
  const client = new OpenAI({ baseURL: `${relay.baseUrl}/v1`, apiKey: account.apiKey });

  await listModels(client);
  await makeImages(client);
  await makeVideo(client);
  await makeFailingVideo(client);
  await settleAccount(pool, account.accountId, before);
}

/** The account of API_KEY, else a new one whose balance comes from a recorded sandbox top-up. */
async function demoAccount(relay: DemoRelay, pool: pg.Pool): Promise<{ accountId: string; apiKey: string }> {
  if (relay.apiKey !== undefined) {
    const { rows } = await pool.query<{ accountId: string }>(
      'SELECT account_id AS "accountId" FROM api_keys WHERE key_hash = $1',
      [hashApiKey(relay.apiKey)],
    );
    if (!rows[0])
      throw new OperatorError('The database has no key like API_KEY: set DATABASE_URL or DATA_DIR.');
    return { accountId: rows[0].accountId, apiKey: relay.apiKey };
  }
  const customer = await createCustomer(pool, { name: 'Demo run', group: VENDORA_MAIN });
  await playTopup(pool, {
    accountId: customer.accountId,
    paymentId: `demo-${newId()}`,
    credits: DEMO_CREDITS,
    paidMinor: priceCredits(DEMO_CREDITS, STANDARD_RATE).paidMinor,
    rate: STANDARD_RATE,
    currency: 'USD',
  });
  return customer;
}

async function mainBalance(pool: pg.Pool, accountId: string): Promise<bigint> {
  const balance = await readBalance(pool, accountId);
  expectThat(balance !== null, `account ${accountId} has no balance`);
  return balance.main;
}

async function listModels(client: OpenAI): Promise<void> {
  const models: string[] = [];
  for await (const model of client.models.list()) models.push(model.id);
  printText(`\nModels: ${models.join(', ')}`);
  expectThat(
    models.includes(IMAGE_MODEL) && models.includes(VIDEO_MODEL),
    'a model of the demo is not listed',
  );
}

async function makeImages(client: OpenAI): Promise<void> {
  printText('\nTwo images …');
  const answer = await client.images.generate({
    model: IMAGE_MODEL,
    prompt: 'a lighthouse at dusk, oil on canvas',
    n: 2,
    response_format: 'b64_json',
  });
  expectThat(answer.data?.length === 2, `two images were asked for, ${answer.data?.length ?? 0} came`);
  for (const [index, image] of answer.data.entries()) {
    const bytes = Buffer.from(image.b64_json ?? '', 'base64');
    expectThat(bytes.subarray(1, 4).toString('latin1') === 'PNG', 'an image is not a PNG');
    save(`image-${index + 1}.png`, bytes);
  }
}

async function makeVideo(client: OpenAI): Promise<void> {
  printText(`\nA video of ${VIDEO_SECONDS} seconds …`);
  const video = await follow(client, 'waves breaking on a pier at night');
  expectThat(video.status === 'completed', `the video ended as ${video.status}`);
  const download = await client.videos.downloadContent(video.id);
  const bytes = Buffer.from(await download.arrayBuffer());
  expectThat(bytes.subarray(4, 8).toString('latin1') === 'ftyp', 'the video is not an MP4');
  save('video.mp4', bytes);
}

async function makeFailingVideo(client: OpenAI): Promise<void> {
  printText('\nA video that fails upstream …');
  const video = await follow(
    client,
    'a storm that is too much for the camera [[fault:fail-late]] [[work:2]]',
  );
  expectThat(video.status === 'failed', `the video that must fail ended as ${video.status}`);
  printText(`It failed: ${video.error?.message ?? 'no reason was given.'} It costs nothing.`);
}

/** Creates a video and polls it to its end, with a progress bar on a terminal. */
async function follow(client: OpenAI, prompt: string): Promise<OpenAI.Videos.Video> {
  const bar = new SingleBar({ format: '{bar} {percentage}% {status}', hideCursor: true, barsize: 40 });
  let video = await client.videos.create({ model: VIDEO_MODEL, prompt, seconds: VIDEO_SECONDS });
  bar.start(100, 0, { status: video.status });
  const deadline = performance.now() + VIDEO_LIMIT_MS;
  while (video.status !== 'completed' && video.status !== 'failed') {
    if (performance.now() > deadline) throw new DemoFailed(`video ${video.id} is still ${video.status}`);
    await pause(500);
    video = await client.videos.retrieve(video.id);
    bar.update(video.progress, { status: video.status });
  }
  bar.stop();
  if (!process.stdout.isTTY) printText(`Video ${video.id}: ${video.status}`);
  return video;
}

function save(name: string, bytes: Buffer): void {
  const folder = join(dataFolder(process.env).root, 'demo');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, bytes);
  printText(`Saved ${file} (${bytes.length} bytes)`);
}

/** Waits until nothing is held any more, then shows and checks what it all cost. */
async function settleAccount(pool: pg.Pool, accountId: string, before: bigint): Promise<void> {
  const deadline = performance.now() + SETTLE_LIMIT_MS;
  while ((await readBalance(pool, accountId))?.held !== 0n && performance.now() < deadline) await pause(100);
  const after = await readBalance(pool, accountId);
  printText('\nStatement, newest first (credits)\n');
  printText(statementTable(await readWholeStatement(pool, accountId, STATEMENT_LINES)));
  const check = await checkLedger(pool, { graceMs: SETTLE_LIMIT_MS });
  printText(`\n${checkReport(check)}`);
  expectThat(check.ok, 'the ledger check failed');
  expectThat(after?.held === 0n, `${formatAmount(after?.held ?? 0n)} credits are still held`);
  const cost = before - after.main;
  expectThat(
    cost === EXPECTED_COST,
    `the run cost ${formatAmount(cost)} credits, and must cost ${formatAmount(EXPECTED_COST)}`,
  );
  printText(
    `The run cost ${formatAmount(cost)} credits, as expected; ${formatAmount(after.main)} credits are left.`,
  );
}

if (process.argv.includes('--help')) {
  process.stdout.write(HELP);
} else {
  try {
    await main();
  } catch (error) {
    const sentence =
      error instanceof DemoFailed ? `Not as expected: ${error.message}.` : operatorSentence(error);
    process.stderr.write(`${sentence ?? (error as Error).stack}\n`);
    process.exitCode = 1;
  }
}
