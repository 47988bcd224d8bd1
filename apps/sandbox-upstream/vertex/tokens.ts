import { systemClock } from '#platform/clock.js';
import { sendJson } from '../answers.js';
import type { Exchange, Vendor } from '../vendor.js';
import { TOKEN_SECONDS } from './accounts.js';

const MAX_FORM_BYTES = 64 * 1024;
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** `POST /vertex/token`: a token for a signed assertion. */
export async function giveToken({ accounts }: Vendor, { request, response }: Exchange): Promise<void> {
  accounts.asked += 1;
  const form = new URLSearchParams(await formOf(request));
  const refuse = (error: string, description: string) =>
    sendJson(response, 400, { error, error_description: description });
  if (form.get('grant_type') !== GRANT) return refuse('unsupported_grant_type', 'Invalid grant_type.');
  const nowMs = systemClock.nowMs();
  const fault = accounts.faultOf(form.get('assertion') ?? '', { aud: tokenUriOf(request), nowMs });
  if (fault !== null) return refuse('invalid_grant', fault);
  const token = accounts.newToken(nowMs);
  sendJson(response, 200, { access_token: token, expires_in: TOKEN_SECONDS, token_type: 'Bearer' });
}

async function formOf(request: Exchange['request']): Promise<string> {
  let text = '';
  for await (const chunk of request as AsyncIterable<Buffer>) {
    text += chunk.toString('latin1');
    if (text.length > MAX_FORM_BYTES) return '';
  }
  return text;
}

/** `GET /_sandbox/service-account`: the document of the account, for tests and for trying a channel. */
export function showAccount({ accounts }: Vendor, { request, response }: Exchange): void {
  sendJson(response, 200, accounts.document(tokenUriOf(request)));
}

/** The URL for tokens, as the caller reaches this sandbox. */
function tokenUriOf(request: Exchange['request']): string {
  return `http://${request.headers.host ?? ''}/vertex/token`;
}
