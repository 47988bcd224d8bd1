import { createHash } from 'node:crypto';
import { formatAmount } from '#money/amount.js';
import { viewPayment } from '#payments/payment.fields.js';
import type { TopupOrder } from '#payments/topup-order.entity.js';

/** The sizes and colours of the console's ui/tokens.css in both themes; its typefaces would have to be loaded. */
const STYLE = `
:root { color-scheme: light dark; --text: #000; --quiet: #495057; --line: #ced4da; --ground: #f8f9fa; --card: #fff; --button: #1971c2 }
@media (prefers-color-scheme: dark) {
  :root { --text: #c9c9c9; --quiet: #a6a7ab; --line: #424242; --ground: #1a1a1a; --card: #242424 } }
* { box-sizing: border-box }
body { margin: 0; padding: 2rem 1rem; background: var(--ground); color: var(--text); overflow-wrap: anywhere;
  font: 0.875rem/1.43 Inter, 'PingFang SC', 'Microsoft YaHei', 'Noto Sans SC', system-ui, sans-serif }
main { max-width: 34rem; margin: 0 auto; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.375rem }
header { display: flex; justify-content: space-between; align-items: baseline; gap: 1rem; margin-bottom: 1.25rem }
h1 { margin: 0; font-size: 1.25rem; line-height: 1.4 }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0.25rem 1.25rem; margin: 0 0 2rem }
dt, th, .note { color: var(--quiet); font-weight: 400 }
dd { margin: 0 }
table { width: 100%; margin-bottom: 2rem; border-collapse: collapse }
th, td { padding: 0.75rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
th + th, td + td, th + td { padding-left: 1rem; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
td small { display: block; color: var(--quiet); font-size: 0.75rem }
tfoot th, tfoot td { border-bottom: 0; color: var(--text); font-size: 1rem; font-weight: 700 }
.actions { display: flex; gap: 0.75rem; margin-bottom: 1.25rem }
button { height: 2.25rem; padding: 0 1.25rem; border: 1px solid var(--line); border-radius: 0.375rem; background: var(--card);
  color: inherit; font: inherit; font-weight: 600; cursor: pointer }
button.pay { border-color: var(--button); background: var(--button); color: #fff }
:focus-visible { outline: 2px solid var(--button); outline-offset: 2px }
a { color: inherit }
.note { margin: 0.75rem 0 0; font-size: 0.8125rem }
@media (max-width: 30em) { main { padding: 1.25rem } }`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Nothing is loaded and nothing runs on the page; its buttons reach its own origin only. */
export const SANDBOX_PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/**
 * The page of the sandbox provider for one order, as HTML, made like an invoice. Every value in it is ours: ids, amounts, words of
 * a state. It names the account by its ID, because anyone with the address can open it.
 */
export function sandboxPage(order: TopupOrder): string {
  const { id, state } = order;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Sandbox payment</title>
<style>${STYLE}</style></head>
<body>
<main>
<header><h1>Sandbox payment</h1><span>${state === 'open' ? 'Not paid yet' : STATES[state]}</span></header>
${aboutOf(order)}
${bought(order)}
${state === 'open' ? actionsFor(id) : ''}
<a href="/topups/${id}">Back to the console</a>
<p class="note">Simulated payment for testing. No money moves.</p>
</main>
</body>
</html>
`;
}

const STATES: Record<Exclude<TopupOrder['state'], 'open'>, string> = {
  paid: 'Paid',
  expired: 'Expired',
  cancelled: 'Cancelled',
  refunded: 'Refunded',
  disputed: 'Disputed',
};

function aboutOf({ id, accountId, createdAt }: TopupOrder): string {
  return `<dl>
<dt>Number</dt><dd>${id}</dd>
<dt>Date</dt><dd><time datetime="${createdAt.toISOString()}">${createdAt.toISOString().slice(0, 10)}</time> (UTC)</dd>
<dt>Account</dt><dd>${accountId}</dd>
</dl>`;
}

function bought({ credits, rate, paidMinor, currency }: TopupOrder): string {
  const total = `${viewPayment(paidMinor)} ${currency}`;
  return `<table>
<thead><tr><th scope="col">Description</th><th scope="col">Amount</th></tr></thead>
<tbody><tr><td>${formatAmount(credits)} credits<small>1 credit = ${rate} ${currency}, all fees included</small></td><td>${total}</td></tr></tbody>
<tfoot><tr><th scope="row">Total</th><td>${total}</td></tr></tfoot>
</table>`;
}

function actionsFor(id: string): string {
  const form = (action: string, button: string) =>
    `<form method="post" action="/sandbox-pay/${id}/${action}">${button}</form>`;
  return `<div class="actions">
${form('pay', '<button class="pay">Pay</button>')}
${form('cancel', '<button>Cancel</button>')}
</div>`;
}
