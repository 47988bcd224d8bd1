import { z } from 'zod';
import { formatAmount, type Nanos, parseAmount } from '#money/amount.js';
import { isDay, isInstant, TIMES } from '../times.js';

/** An id of ours: a lower-case ULID. */
export const id = z.string().regex(/^[0-9a-z]{26}$/, 'must be an id of 26 characters');

/** USD of credit in a request, a decimal string such as "5" or "0.02"; nanos in code. */
export const amount = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,9})?$/, 'must be a decimal string with at most 9 decimals, such as "0.02"')
  .transform((text): Nanos => parseAmount(text))
  .meta({ description: 'USD of credit, a decimal string.', examples: ['0.02'] });

/** USD of credit in an answer. */
export const amountView = z
  .string()
  .meta({ description: 'USD of credit, a decimal string.', examples: ['0.02'] });

export function viewAmount(value: Nanos | bigint): string {
  return formatAmount(value);
}

/** A time in an answer: ISO 8601 in UTC. */
export const timeView = z.iso.datetime().meta({ description: 'ISO 8601, UTC.' });

/** A time in a request, kept as its text: the times of the ledger have microseconds, which a Date has not. */
export const exactTime = z.iso
  .datetime({ offset: true, message: 'must be a time such as 2026-01-31T00:00:00.123456Z' })
  .refine(isInstant, `must be a time ${TIMES}, with an offset of at most 14 hours`);

/** The same as a Date. */
export const time = exactTime.transform((text) => new Date(text));

/** A day in a request. */
export const day = z.iso
  .date({ message: 'must be a day such as 2026-01-31' })
  .refine(isDay, `must be a day ${TIMES}`);

/** One line that people read in lists. */
export const name = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'must be one line');

const LARGEST_PAGE = 200;

/** The query of a list: newest first, and the cursor that the page before answered. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(LARGEST_PAGE).default(50),
  cursor: z.string().max(200).optional(),
};

/** A page of a list; `nextCursor` is null on the last one. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}

/** Chosen by the client for each thing it wants done once: the same again gives the same answer. */
export const requestId = z
  .string()
  .regex(/^[\x21-\x7e]{8,100}$/, 'must be 8 to 100 printable characters without blanks, such as a UUID')
  .meta({ description: 'The same again gives the same answer and does nothing.' });
