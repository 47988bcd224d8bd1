import { createHash } from 'node:crypto';
import type { MailLanguage } from '#identity/language.js';
import { formatAmount } from '#money/amount.js';
import { viewPayment } from '#payments/payment.fields.js';
import type { TopupOrder } from '#payments/topup-order.entity.js';
import { type SandboxTexts, sandboxTexts } from './sandbox-texts.js';

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
export function sandboxPage(order: TopupOrder, language: MailLanguage): string {
  const { id, state } = order;
  const texts = sandboxTexts[language];
  return `<!doctype html>
<html lang="${texts.tag}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${texts.title}</title>
<style>${STYLE}</style></head>
<body>
<main>
<header><h1>${texts.title}</h1><span>${texts.states[state]}</span></header>
${aboutOf(order, texts)}
${bought(order, texts)}
${state === 'open' ? actionsFor(id, texts) : ''}
<a href="/topups/${id}">${texts.back}</a>
<p class="note">${texts.note}</p>
</main>
</body>
</html>
`;
}

function aboutOf({ id, accountId, createdAt }: TopupOrder, texts: SandboxTexts): string {
  return `<dl>
<dt>${texts.number}</dt><dd>${id}</dd>
<dt>${texts.date}</dt><dd><time datetime="${createdAt.toISOString()}">${createdAt.toISOString().slice(0, 10)}</time> (UTC)</dd>
<dt>${texts.account}</dt><dd>${accountId}</dd>
</dl>`;
}

function bought({ credits, rate, paidMinor, currency }: TopupOrder, texts: SandboxTexts): string {
  const total = `${viewPayment(paidMinor)} ${currency}`;
  const what = texts.credits(formatAmount(credits));
  return `<table>
<thead><tr><th scope="col">${texts.description}</th><th scope="col">${texts.amount}</th></tr></thead>
<tbody><tr><td>${what}<small>${texts.rate(`${rate} ${currency}`)}</small></td><td>${total}</td></tr></tbody>
<tfoot><tr><th scope="row">${texts.total}</th><td>${total}</td></tr></tfoot>
</table>`;
}

function actionsFor(id: string, { pay, cancel }: SandboxTexts): string {
  const form = (action: string, button: string) =>
    `<form method="post" action="/sandbox-pay/${id}/${action}">${button}</form>`;
  return `<div class="actions">
${form('pay', `<button class="pay">${pay}</button>`)}
${form('cancel', `<button>${cancel}</button>`)}
</div>`;
}
