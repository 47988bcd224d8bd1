import type pg from 'pg';
import { type CustomerBalance, readBalance } from '#ledger/postings/customer-account.js';
import { type Caller, unknownKey } from '#identity/key-authenticator.js';
import { ApiError } from '#platform/errors.js';
import { type ChargeAttempt, findAttempts, findCharge, type FoundCharge } from '#usage/charge.reader.js';
import { chargeIdsOf } from '#ledger/charges/charge-ids.js';
import { type KeyAllowance, readKeyAllowance } from '#usage/key-allowance.js';
import { readUsageDays, type UsageDaysQuery, type UsageOfDay } from '#usage/usage-days.js';

/** The cost of a request, and all its charges. */
interface ExplainedCharge {
  charge: FoundCharge;
  attempts: ChargeAttempt[];
}

/** What a caller can read about its own account. Each query uses an index, however much the account has done. */
export class CallerAccount {
  constructor(private readonly pool: pg.Pool) {}

  /** @throws ApiError invalid_api_key if the key is cached but deleted */
  async key({ accountId, keyId }: Caller): Promise<KeyAllowance> {
    const found = await readKeyAllowance(this.pool, accountId, keyId);
    if (!found) throw unknownKey();
    return found;
  }

  /** @throws ApiError not_found if the account has no balance */
  async credits({ accountId }: Caller): Promise<CustomerBalance> {
    const balance = await readBalance(this.pool, accountId);
    if (!balance) throw new ApiError('not_found', 'The account has no balance.');
    return balance;
  }

  usage(query: UsageDaysQuery): Promise<UsageOfDay[]> {
    return readUsageDays(this.pool, query);
  }

  /**
   * The charge of a request. If several models were tried, the charge for the last one.
   * @throws ApiError not_found, also for a request of another account
   */
  async charge({ accountId }: Caller, requestId: string): Promise<ExplainedCharge> {
    const ids = ID.test(requestId) ? chargeIdsOf(requestId) : [];
    const attempts = await findAttempts(this.pool, ids, accountId);
    const last = attempts.at(-1);
    const charge = last && (await findCharge(this.pool, last.id, accountId));
    if (charge) return { charge, attempts };
    const message =
      'No request of your account with this id has a charge. Send the x-request-id of its answer.';
    throw new ApiError('not_found', message, { param: 'id' });
  }
}

const ID = /^[0-9a-z]{26}$/;
