import { languageFacts, type MailLanguage } from '#identity/language.js';
import { asHtml } from '#platform/http/html.js';
import type { MailContent, MailLink } from './mail.content.js';

/** What all mail of a relay shares. */
export interface MailFrame {
  readonly language: MailLanguage;
  /** The origin of the mail: the console's URL. */
  readonly consoleUrl: string;
}

/** The mail as plain text. A link has its own line, so that every reader detects its end. */
export function mailAsText(content: MailContent, { language, consoleUrl }: MailFrame): string {
  const { paragraphs, facts = [], button, notes = [], otherwise } = content;
  const colon = languageFacts[language].colon;
  const blocks = [
    ...paragraphs,
    facts.map(({ label, value }) => `${label}${colon}${value}`).join('\n'),
    linkAsText(button, colon),
    notes.join('\n'),
    linkAsText(otherwise, colon),
    `-- \nTollgate, ${consoleUrl}`,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function linkAsText(link: MailLink | undefined, colon: string): string {
  return link ? `${link.label}${colon.trimEnd()}\n${link.url}` : '';
}

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,'PingFang SC','Microsoft YaHei',Arial,sans-serif";
/** Mail programs that support dark mode use these colours. Others use those of the elements. */
const DARK = `@media (prefers-color-scheme:dark){.page{background:#16181d!important}
.card{background:#1f2229!important;border-color:#343843!important}.ink{color:#e8eaee!important}
.dim{color:#9aa1ae!important}.line{border-color:#343843!important}}`;

/** The mail as one HTML page. It loads nothing, and reports nothing to anyone. */
export function mailAsHtml(content: MailContent, { language, consoleUrl }: MailFrame): string {
  const body = [
    ...content.paragraphs.map((paragraph) => block('ink', 'font-size:15px;color:#1c2026', asHtml(paragraph))),
    factsTable(content.facts),
    buttonOf(content.button),
    ...(content.notes ?? []).map((note) => small(asHtml(note))),
  ];
  const { otherwise } = content;
  if (otherwise)
    body.push(small(`${asHtml(otherwise.label)}${languageFacts[language].colon}${linkTo(otherwise.url)}`));
  return `<!doctype html>
<html lang="${languageFacts[language].tag}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${asHtml(content.subject)}</title><style>${DARK}</style></head>
<body class="page" style="margin:0;padding:24px 12px;background:#f3f4f6;${FONT}">
<table role="presentation" align="center" width="100%" cellspacing="0" cellpadding="0" style="max-width:560px">
<tr><td class="ink" style="padding:0 4px 12px;font-size:17px;font-weight:700;color:#1c2026">Tollgate</td></tr>
<tr><td class="card" style="padding:28px 28px 14px;background:#ffffff;border:1px solid #e3e6ea;border-radius:10px">
${body.filter((part) => part !== '').join('\n')}
</td></tr>
<tr><td class="dim" style="padding:12px 4px;font-size:12px;color:#5f6775">${linkTo(consoleUrl)}</td></tr>
</table></body></html>
`;
}

function block(name: 'ink' | 'dim', style: string, html: string): string {
  return `<p class="${name}" style="margin:0 0 14px;line-height:1.55;overflow-wrap:anywhere;${style}">${html}</p>`;
}

function small(html: string): string {
  return block('dim', 'font-size:13px;color:#5f6775', html);
}

function factsTable(facts: MailContent['facts']): string {
  if (!facts) return '';
  const cell = 'padding:8px 0;border-top:1px solid #e3e6ea;font-size:14px;vertical-align:top';
  const rows = facts.map(
    ({ label, value }) =>
      `<tr><td class="dim line" style="${cell};color:#5f6775">${asHtml(label)}</td>` +
      `<td class="ink line" align="right" style="${cell};padding-left:16px;color:#1c2026;overflow-wrap:anywhere">` +
      `${asHtml(value)}</td></tr>`,
  );
  return `<table width="100%" cellspacing="0" cellpadding="0" style="margin:0 0 18px">${rows.join('')}</table>`;
}

/** The address is also visible, to be read and copied. */
function buttonOf(button: MailLink | undefined): string {
  if (!button) return '';
  const url = asHtml(button.url);
  const style =
    'display:inline-block;padding:11px 20px;border-radius:8px;background:#1971c2;color:#ffffff;' +
    'font-size:15px;font-weight:600;text-decoration:none';
  return `<p style="margin:4px 0 14px"><a href="${url}" style="${style}">${asHtml(button.label)}</a></p>
<p class="dim" style="margin:0 0 14px;font-size:12px;line-height:1.5;overflow-wrap:anywhere;color:#5f6775">${url}</p>`;
}

function linkTo(url: string): string {
  return `<a href="${asHtml(url)}" class="dim" style="color:#5f6775">${asHtml(url)}</a>`;
}
