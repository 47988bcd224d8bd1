import { type Channel, keyMark } from '#catalog/catalog.js';
import { type Clock, systemClock } from '#platform/clock.js';
import { asText, readObject } from '../answers.js';
import { CredentialsUnavailable } from '../channel-calls.js';
import type { UpstreamConnections } from '../connections.js';
import { httpCall } from '../http-call.js';
import {
  mayGetAssertion,
  readServiceAccount,
  type ServiceAccount,
  signedAssertion,
} from './service-account.js';

/** A token is renewed this long before it expires, so that no call meets that: calls take seconds, and clocks differ. */
const EARLY_MS = 5 * 60_000;
/** A token endpoint that needs longer counts as down. */
const TOKEN_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

interface Held {
  readonly token: Promise<string>;
  /** Unknown while it is requested. */
  renewAtMs: number;
}

/**
 * Tokens of service accounts: requested once however many calls wait, and kept in memory until shortly before they
 * expire. A refused token is forgotten.
 */
export class ServiceTokens {
  private readonly held = new Map<string, Held>();

  constructor(
    private readonly connections: Pick<UpstreamConnections, 'api'>,
    private readonly clock: Clock = systemClock,
  ) {}

  /** @throws CredentialsUnavailable */
  of(channel: Channel): Promise<string> {
    const name = nameOf(channel);
    const known = this.held.get(name);
    if (known && known.renewAtMs > this.clock.elapsedMs()) return known.token;
    this.forgetOld();
    const asked = this.ask(channel);
    const held: Held = { token: asked.then(({ token }) => token), renewAtMs: Infinity };
    this.held.set(name, held);
    asked.then(
      ({ lifeMs }) => {
        // One with a shorter life than that is renewed half way.
        held.renewAtMs = this.clock.elapsedMs() + Math.max(lifeMs - EARLY_MS, lifeMs / 2);
      },
      () => {
        if (this.held.get(name) === held) this.held.delete(name);
      },
    );
    return held.token;
  }

  /** The vendor refused the token of a channel's key. */
  forget(channel: Channel): void {
    const name = nameOf(channel);
    if (this.held.get(name)?.renewAtMs !== Infinity) this.held.delete(name);
  }

  /** Keys that channels no longer have. */
  private forgetOld(): void {
    const nowMs = this.clock.elapsedMs();
    for (const [name, { renewAtMs }] of this.held) if (renewAtMs <= nowMs) this.held.delete(name);
  }

  private async ask(channel: Channel): Promise<{ token: string; lifeMs: number }> {
    const account = readServiceAccount(channel.apiKey);
    if (!account) throw new CredentialsUnavailable('the key is no service account');
    if (!mayGetAssertion(account.tokenUri, channel.allowPrivateAddress))
      throw new CredentialsUnavailable('the token address of the service account is not that of Google');
    const result = await httpCall(this.connections.api, {
      method: 'POST',
      url: new URL(account.tokenUri),
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({ grant_type: GRANT, assertion: this.assertion(account) }).toString(),
      timeoutMs: TOKEN_MS,
      maxBytes: MAX_ANSWER_BYTES,
      signal: AbortSignal.timeout(TOKEN_MS),
    });
    if (result.kind === 'failure') throw new CredentialsUnavailable(`no token: ${result.reason}`);
    const body = readObject(result.body);
    const token = asText(body?.['access_token']);
    const seconds = Number(body?.['expires_in']);
    if (result.status === 200 && token !== undefined && /^[\x21-\x7e]+$/.test(token) && seconds > 0)
      return { token, lifeMs: seconds * 1000 };
    throw refusal(result.status, asText(body?.['error']));
  }

  private assertion(account: ServiceAccount): string {
    try {
      return signedAssertion(account, this.clock.nowMs());
    } catch {
      throw new CredentialsUnavailable('the private key of the service account cannot sign');
    }
  }
}

/** Google answers 400 with `invalid_grant` for an unknown account, and for a deleted key. */
function refusal(status: number, error: string | undefined): CredentialsUnavailable {
  const isTurnedAway = status === 401 || error === 'invalid_grant' || error === 'invalid_client';
  const said = error === undefined ? '' : `, ${error.slice(0, 50)}`;
  return new CredentialsUnavailable(`no token: HTTP ${status}${said}`, isTurnedAway ? 401 : null);
}

function nameOf(channel: Channel): string {
  return `${channel.id} ${keyMark(channel)}`;
}
