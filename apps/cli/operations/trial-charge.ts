import type pg from 'pg';
import { holdCommand, holdReply, resolveCommand, resolveReply } from '#ledger/charges/charge.commands.js';
import { createCustomer } from '#people/accounts/customers.js';
import { Bus } from '#bus/bus.js';
import type { ChargeReply, ChargeRequested, ChargeResolved, ResolvedReply } from '#bus/payloads.js';
import { topics } from '#bus/topics.js';
import { databaseNowMs } from '#database/database.js';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import { PostingEngine } from '#ledger/charges/posting-engine.js';
import { playTopup } from '#finance/provider-reports/sandbox-books.js';
import { formatAmount, parseAmount } from '#money/amount.js';
import { OperatorError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { createLogger } from '#platform/logging.js';
import { type Quote, quote } from '#pricing/quote.js';
import { priceCredits, STANDARD_RATE } from '#topup/conversion.js';

/** Who handles the trial's hold and resolution: billing over the bus, or the ledger itself. */
export interface Till {
  hold(message: ChargeRequested): Promise<ChargeReply>;
  resolve(message: ChargeResolved): Promise<ResolvedReply>;
  close(): Promise<void>;
}

/** The account for trials, which nobody can sign in to. It gets credit only if payments are simulated. */
const ACCOUNT_NAME = 'Tollgate doctor';
const CREDITS = parseAmount('1');
const LIFE_MS = 30_000;
const REASON = { code: 'trial', message: 'a trial of the operator' };

export function tillOfBus(bus: Bus): Till {
  return {
    hold: (message) => bus.request(topics.chargeRequested, message),
    resolve: (message) => bus.request(topics.chargeResolved, message),
    close: () => bus.close(),
  };
}

export function tillOfLedger(pool: pg.Pool): Till {
  const log = createLogger('tollgate', 'error');
  const engine = new PostingEngine({ pool, loadPriceBook: (client) => loadPriceBook(client), log });
  return {
    hold: async (message) => holdReply(message.chargeId, await engine.hold(holdCommand(message))),
    resolve: async (message) => resolveReply(await engine.resolve(resolveCommand(message))),
    close: () => engine.close(),
  };
}

export interface TrialOptions {
  /**
   * The currency of simulated payments, ISO 4217: one of them gives the account its credit. Null if payments are real: one
   * that never happened must not be in the books. Without credit the hold is refused, which proves as much.
   */
  playedCurrency: string | null;
}

export interface Trial {
  outcome: 'given_back' | 'refused';
  model: string;
  /** Credits. */
  amount: string;
  accountId: string;
}

/**
 * Holds the price of the cheapest call on the trial account, and releases it immediately.
 * @throws OperatorError that names the problem
 */
export async function tryCharge(pool: pg.Pool, till: Till, options: TrialOptions): Promise<Trial> {
  const { group, model, amount } = await cheapestCall(pool);
  const customer = await trialCustomer(pool, group);
  const { accountId } = customer;
  const { playedCurrency } = options;
  if (playedCurrency !== null) await playPayment(pool, accountId, playedCurrency);
  const before = await readBalance(pool, accountId);
  const trial = trialOf(await databaseNowMs(pool), {
    ...customer,
    model: model.id,
    group,
    quotedAmount: formatAmount(amount),
  });
  const { chargeId } = trial;
  const reply = await till.hold(trial);
  const isPoor = reply.refusal?.code === 'insufficient_user_quota' && (before?.main ?? 0n) < amount;
  if (reply.outcome !== 'held' && !isPoor) {
    throw new OperatorError(`The hold was refused: ${reply.refusal?.message ?? 'no reason was given'}`);
  }
  const resolved = await till.resolve({ chargeId, accountId, outcome: 'failed', reason: REASON });
  const after = await readBalance(pool, accountId);
  if (resolved.outcome !== (isPoor ? 'refused' : 'released') || after?.main !== before?.main) {
    throw new OperatorError(`The hold of charge ${chargeId} was not released: it is ${resolved.outcome}.`);
  }
  const outcome = isPoor ? 'refused' : 'given_back';
  return { outcome, model: model.id, amount: formatAmount(amount), accountId };
}

/** One unit, for as long as a trial takes. */
function trialOf(
  nowMs: number,
  call: Pick<ChargeRequested, 'accountId' | 'keyId' | 'model' | 'group' | 'quotedAmount'>,
): ChargeRequested {
  const chargeId = newId();
  const expiresAt = new Date(nowMs + LIFE_MS).toISOString();
  const ids = { chargeId, requestId: chargeId, taskId: null, requestedModel: call.model };
  return { ...call, ...ids, units: '1', dimensions: {}, expiresAt, deadline: expiresAt };
}

async function cheapestCall(pool: pg.Pool): Promise<Quote & { group: string }> {
  const book = await loadPriceBook(pool);
  const atMs = await databaseNowMs(pool);
  const quotes = [...book.access].flatMap(([group, models]) =>
    [...models].flatMap((model) => {
      const quoted = quote(book, { model, group, units: 1n, atMs });
      return typeof quoted !== 'string' && quoted.lines === null && quoted.amount > 0n
        ? [{ ...quoted, group }]
        : [];
    }),
  );
  const [cheapest] = quotes.sort((a, b) => (a.amount < b.amount ? -1 : 1));
  if (!cheapest) throw new OperatorError('No model has a price per call, so no test charge can be made.');
  return cheapest;
}

async function trialCustomer(pool: pg.Pool, group: string): Promise<{ accountId: string; keyId: string }> {
  const { rows } = await pool.query<{ accountId: string; keyId: string }>(
    `SELECT a.id AS "accountId", k.id AS "keyId" FROM accounts a JOIN api_keys k ON k.account_id = a.id
     WHERE a.name = $1 AND k.group_name = $2 AND k.revoked_at IS NULL
       AND NOT EXISTS (SELECT FROM users u WHERE u.account_id = a.id) ORDER BY a.id LIMIT 1`,
    [ACCOUNT_NAME, group],
  );
  const { accountId, keyId } = rows[0] ?? (await createCustomer(pool, { name: ACCOUNT_NAME, group }));
  return { accountId, keyId };
}

/** Done only once, however often it is tried. */
async function playPayment(pool: pg.Pool, accountId: string, currency: string): Promise<void> {
  const { paidMinor } = priceCredits(CREDITS, STANDARD_RATE);
  await playTopup(pool, {
    accountId,
    paymentId: `doctor-${accountId}`,
    credits: CREDITS,
    paidMinor,
    rate: STANDARD_RATE,
    currency,
  });
}
