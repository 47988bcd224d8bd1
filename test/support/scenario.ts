import { formatAmount } from '#money/amount.js';
import type { Account, Books } from './books.js';
import { Shoppers } from './shoppers.js';

/** The outcome of a fixed list of calls. It does not depend on where and how messages travel. */
export interface Outcome {
  answers: string[];
  balance: { main: string; held: string };
}

/** Credits for calls with every possible outcome. The last call exceeds the balance. */
const CREDITS = '0.5';

/**
 * Makes the same calls with a new account, one after the other, and waits for every video.
 * @returns the answers and the remaining balance
 */
export async function shopTheList(books: Books, baseUrl: () => string): Promise<Outcome> {
  const account: Account = await books.account(CREDITS);
  const clients = new Shoppers(account, baseUrl);
  await clients.images('one');
  await clients.images('three', 3);
  await clients.images('two of three [[fault:partial]]', 3);
  await clients.images('none [[fault:reject-400]]', 2);
  await clients.images('none [[fault:reject-503]]');
  await clients.video('a boat [[work:0.2]]', 2);
  await clients.video('refused [[fault:moderation]]', 2);
  await clients.video('lost [[work:0.2]][[fault:fail-late]]', 3);
  await clients.watch();
  await books.atRest();
  await clients.video('too dear', 15);
  await clients.images('ten', 10);
  await clients.images('still one');
  await books.atRest();
  return { answers: clients.told.map(shortly), balance: await books.balanceOf(account) };
}

function shortly(call: Shoppers['told'][number]): string {
  const seen = call.kind === 'video' ? call.seenStatus : null;
  const price = seen === 'failed' ? '0' : formatAmount(call.price);
  return [call.kind, call.status, call.code, seen, price].filter((part) => part !== null).join(' ');
}

/** The expected outcome on a working relay. */
export const expectedOutcome: Outcome = {
  answers: [
    'image 200 0.02',
    'image 200 0.06',
    'image 200 0.04',
    'image 400 upstream_rejected 0',
    'image 503 service_unavailable 0',
    'video 200 completed 0.1',
    'video 400 content_policy_violation 0',
    'video 200 failed 0',
    'video 403 insufficient_user_quota 0',
    'image 200 0.2',
    'image 200 0.02',
  ],
  balance: { main: '0.06', held: '0' },
};
