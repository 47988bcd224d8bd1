import {
  usdLimit,
  count,
  flag,
  form,
  optionalSecret,
  optionalText,
  optionalUrl,
  seconds,
  text,
} from './setting.js';

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** Upper case, and none of those that are paid in whole units or in thousandths. */
const TWO_DECIMALS =
  /^(?!BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|MGA|PYG|RWF|UGX|VND|VUV|XAF|XOF|XPF|BHD|IQD|JOD|KWD|LYD|OMR|TND)[A-Z]{3}$/;

export const payments = {
  PAYMENT_CURRENCY: form('The currency customers pay in: an ISO code with two decimals', {
    pattern: TWO_DECIMALS,
    rule: 'must be the code of a currency with two decimals, such as USD',
    fallback: 'USD',
  }),
  STRIPE_SECRET_KEY: optionalSecret('Turns on payments by card'),
  STRIPE_WEBHOOK_SECRET: optionalSecret(
    'Verifies the events that Stripe sends to `/api/payments/events/stripe`',
  ),
  STRIPE_API_BASE: optionalUrl("Replaces Stripe's own address"),
  BANK_TRANSFER_INSTRUCTIONS: optionalText('Turns on bank transfers, and tells customers where to pay'),
  ISSUER_NAME: text('The legal name of the issuer of receipts', 'Tollgate'),
  ISSUER_ADDRESS: optionalText('The address on receipts; `\\n` starts a new line'),
  ISSUER_TAX_ID: optionalText('The tax id on receipts'),
  SANDBOX_PAYMENTS: flag('Simulated payments. On in standalone unless Stripe is configured', false),
  SANDBOX_PAYMENTS_SECRET: optionalSecret(
    'Signs simulated events. Required if several processes share the work; otherwise random',
  ),
  ORDER_LIFE_SECONDS: seconds('How long an order can be paid. With Stripe, 31 minutes to a day', HOUR),
  PAYMENT_CHECK_SECONDS: seconds('How long after an order was placed its provider is first polled', 60),
  PAYMENT_RETRY_SECONDS: seconds('Pause between attempts to refund', 30),
  RESELLER_THRESHOLD_TOKENS: count('Verified tokens needed for the reseller rate', 2_000_000_000, {
    max: 1e15 - 1,
  }),
  INVITE_REWARD_WINDOW_SECONDS: seconds('How long before a reward can be transferred', 30 * DAY),
};

export const staffLimits = {
  PRICE_PROPOSAL_LIFE_SECONDS: seconds('How long a price proposal can be confirmed', 7 * DAY),
  PRICE_LIST_AGE_SECONDS: seconds('How long the public price list may be cached', 15),
  PRICE_CHANGE_LIMIT_PERCENT: count(
    'How far one person may change prices alone in a UTC day, up or down, and how far below list price a group may begin or take models alone',
    20,
    {
      min: 0,
      max: 100,
    },
  ),
  MANUAL_TOPUP_LIMIT: usdLimit(
    'Credits that one person may add alone in a UTC day, by manual top-ups and from suspense',
    '1000',
  ),
  TOPUP_REFUND_LIMIT: usdLimit(
    'Credits of top-ups that one person may refund alone in a UTC day, with money returned from suspense',
    '100',
  ),
  REFUND_LIMIT: usdLimit('Credits of charges that one person may refund alone in a UTC day', '20'),
  ADJUSTMENT_LIMIT: usdLimit(
    'Credits that one person may adjust, write off, book as a cost, or move by booking a dispute or accepting a report line, alone in a UTC day',
    '20',
  ),
  ONE_PERSON: flag(
    'Declares that there is no second person. One person then confirms alone, and each such decision is marked',
    false,
  ),
};

export const books = {
  PERIOD_MARGIN_SECONDS: seconds('How long after its end a period can be closed at the earliest', 60),
  PERIOD_WAIT_SECONDS: seconds('How long a close waits for older transactions', 30),
  PERIOD_ANSWER_SECONDS: seconds(
    'A close answers after this at the latest, and continues in the background',
    15,
  ),
  COST_ACCRUAL_SECONDS: seconds('How often upstream costs of ended charges are recorded', 60),
  RECOGNITION_SECONDS: seconds('How often used credits become revenue: lots are consumed and recognized', 60),
  PROVIDER_REPORT_SECONDS: seconds('How often payment providers are polled for changes of our balance', HOUR),
  LEDGER_SNAPSHOT_SECONDS: seconds(
    'How often balances of past days are stored, which speeds up reports',
    600,
  ),
  CHAIN_SEAL_SECONDS: seconds('How often new postings are sealed in the hash chain', 60),
  RECONCILE_SECONDS: seconds('Pause between runs of the controls', 300),
  RECONCILE_GRACE_SECONDS: seconds('Work younger than this is not a finding yet', 300),
  RECONCILE_LIMIT_SECONDS: seconds('Timeout of a control', 600),
  RECONCILE_KEEP_SECONDS: seconds('How long results of runs are kept', 30 * DAY),
  REPORT_OVERDUE_HOURS: count(
    'How long after the end of the last provider or bank report a missing next one becomes a finding',
    72,
    { max: 8_784 },
  ),
};
