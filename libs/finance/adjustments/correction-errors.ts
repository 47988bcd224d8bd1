import { CorrectionRefused } from '#ledger/postings/correction.js';
import { UnknownAccount } from '#ledger/postings/posting.js';
import { ApiError, invalidField } from '#platform/errors.js';

export function needsSecondPerson(error: unknown): boolean {
  return error instanceof CorrectionRefused && error.code === 'second_person';
}

const PARAMS = {
  unknown_ticket: 'ticketId',
  unknown_adjustment: 'adjustmentId',
  deleted: 'accountId',
  beyond_balance: 'amount',
  beyond_debt: 'amount',
  no_debt: 'accountId',
  once_a_month: 'accountId',
  second_person: null,
  unknown_write_off: 'writeOffId',
  reversed: null,
  conflict: 'requestId',
} as const;

/** Translates a refusal of the ledger into an API error. */
export function inApiWords(error: unknown): unknown {
  if (error instanceof UnknownAccount) {
    return invalidField('accountId', error.message);
  }
  if (!(error instanceof CorrectionRefused)) return error;
  const { code, message } = error;
  const param = PARAMS[code];
  if (code === 'unknown_ticket') return new ApiError('invalid_value', `ticketId: ${message}`, { param });
  return new ApiError(code === 'unknown_adjustment' ? 'not_found' : 'conflict', message, { param });
}
