import type Stripe from 'stripe';
import { z } from 'zod';
import { ApiError } from '#platform/errors.js';

/** The most that a signed event may be old, or its clock ahead of ours. */
const TOLERANCE_SECONDS = 300;
/** The year 2200. */
const END_SECONDS = 7_258_118_400;

const text = z.string().regex(/^[\x20-\x7e]{1,500}$/);
const reference = z.union([text, z.object({ id: text })]);
const minor = z.int().nonnegative();
const currency = z.string().regex(/^[a-z]{3}$/i);
const marks = z.record(z.string(), z.unknown()).and(z.object({ tollgate_refund: text.optional() }));

const session = z.object({
  client_reference_id: text.nullish(),
  payment_status: text,
  payment_intent: reference.nullish(),
  amount_total: minor.nullish(),
  currency: currency.nullish(),
});
const refund = z.object({
  id: text,
  status: text.nullish(),
  amount: minor,
  currency,
  failure_reason: text.nullish(),
  metadata: marks.nullish(),
});
const dispute = z.object({
  id: text,
  status: text,
  payment_intent: reference.nullish(),
  amount: minor,
  currency,
});

/** The fields that we read of an event that we act on. */
const OBJECTS: Record<string, z.ZodType> = {
  'checkout.session.': session,
  'refund.': refund,
  'charge.dispute.': dispute,
};

const envelope = z.object({
  id: text,
  type: text,
  created: z.int().nonnegative().max(END_SECONDS),
  data: z.object({ object: z.record(z.string(), z.unknown()) }),
});

/** @throws ApiError invalid_request for a signed but unreadable event */
export function requireReadable(event: Stripe.Event): void {
  const head = envelope.safeParse(event);
  if (!head.success) throw unreadable(head.error);
  const prefix = Object.keys(OBJECTS).find((each) => event.type.startsWith(each));
  if (prefix === undefined) return;
  const object = (OBJECTS[prefix] as z.ZodType).safeParse(event.data.object);
  if (!object.success) throw unreadable(object.error, 'data.object.');
}

function unreadable({ issues }: z.ZodError, within = ''): ApiError {
  const param = within + (issues[0]?.path.map(String).join('.') ?? '');
  const what = param === '' ? 'The event' : `${param} of the event`;
  return new ApiError('invalid_request', `${what} does not have Stripe's format.`, { param: param || null });
}

/**
 * Stripe's own package refuses old signatures, but accepts any from the future, which could be replayed until then.
 * Like there, the last `t` counts.
 */
export function isOfOurTime(signature: string, nowMs: number): boolean {
  const stamps = signature.split(',').filter((part) => part.startsWith('t='));
  const seconds = Number.parseInt(stamps.at(-1)?.slice(2) ?? '', 10);
  return Math.abs(nowMs / 1000 - seconds) <= TOLERANCE_SECONDS;
}
