import { createHash } from 'node:crypto';
import { formatAmount } from '#money/amount.js';
import { viewPayment } from '#payments/payment.fields.js';
import type { TopupOrder } from '#payments/topup-order.entity.js';

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 12vh auto; max-width: 26rem; padding: 0 1rem; color: #1b1f24 }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1.5rem } dd { margin: 0; text-align: right }
form { display: inline } button { font: inherit; padding: .5rem 1.25rem; margin-right: .5rem }
.note { color: #57606a }`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Nothing is loaded and nothing runs on the page; its buttons reach its own origin only. */
export const SANDBOX_PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** The page of the sandbox provider for one order, as HTML. Every value in it is ours: ids, amounts, words of a state. */
export function sandboxPage({ id, state, credits, paidMinor, currency }: TopupOrder): string {
  const buttons = ['pay', 'cancel'].map(
    (action) =>
      `<form method="post" action="/sandbox-pay/${id}/${action}"><button>${action === 'pay' ? 'Pay' : 'Cancel'}</button></form>`,
  );
  const rest = state === 'open' ? buttons.join('\n') : `<p>The order is <strong>${state}</strong>.</p>`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sandbox payment</title>
<style>${STYLE}</style></head>
<body>
<h1>Sandbox payment</h1>
<dl>
<dt>Order</dt><dd>${id}</dd>
<dt>Credits</dt><dd>${formatAmount(credits)}</dd>
<dt>To pay</dt><dd>${viewPayment(paidMinor)} ${currency}</dd>
</dl>
${rest}
<p><a href="/topups/${id}">Back to the console</a></p>
<p class="note">No money moves here: this provider is for trying the relay.</p>
</body>
</html>
`;
}
