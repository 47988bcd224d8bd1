import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, verify } from 'node:crypto';
import { systemClock } from '#platform/clock.js';

export const TOKEN_SECONDS = 3_600;
const MAX_TOKENS = 10_000;
const EMAIL = 'sandbox@sandbox-project.iam.gserviceaccount.com';
/** How far a caller's clock may be off. */
const SKEW_SECONDS = 60;

/** The one service account of a running sandbox and the tokens issued to it, by the callers' clock. */
export class ServiceAccounts {
  private pair: { privateKey: string; publicKey: KeyObject } | undefined;
  private readonly endsAtMs = new Map<string, number>();
  /** How often a token was requested. */
  asked = 0;

  /** Created on first use, because that takes a while. */
  document(tokenUri: string) {
    const { privateKey } = this.keys();
    return {
      type: 'service_account',
      project_id: 'sandbox-project',
      private_key_id: 'sandbox-1',
      private_key: privateKey,
      client_email: EMAIL,
      token_uri: tokenUri,
    };
  }

  isGood(token: string | undefined): boolean {
    return token !== undefined && (this.endsAtMs.get(token) ?? 0) > systemClock.nowMs();
  }

  /** Why an assertion gives no token, or null. */
  faultOf(assertion: string, { aud, nowMs }: { aud: string; nowMs: number }): string | null {
    const [header = '', claims = '', signature = ''] = assertion.split('.');
    const { iss, aud: named, iat, exp, scope } = partOf(claims);
    const now = nowMs / 1000;
    if (partOf(header)['alg'] !== 'RS256') return 'alg must be RS256.';
    if (iss !== EMAIL) return 'Not a valid email.';
    if (named !== aud || typeof scope !== 'string') return 'Invalid audience or scope.';
    if (
      !(Number(iat) <= now + SKEW_SECONDS && Number(exp) > now && Number(exp) - Number(iat) <= TOKEN_SECONDS)
    )
      return 'Token must be a short-lived token and in a reasonable timeframe.';
    const signed = Buffer.from(`${header}.${claims}`);
    const isTheirs = verify('RSA-SHA256', signed, this.keys().publicKey, Buffer.from(signature, 'base64url'));
    return isTheirs ? null : 'Invalid JWT Signature.';
  }

  newToken(nowMs: number): string {
    const token = `ya29.${randomBytes(24).toString('base64url')}`;
    this.endsAtMs.set(token, nowMs + TOKEN_SECONDS * 1000);
    if (this.endsAtMs.size > MAX_TOKENS) this.endsAtMs.delete([...this.endsAtMs.keys()][0] ?? '');
    return token;
  }

  private keys() {
    this.pair ??= newPair();
    return this.pair;
  }
}

function newPair() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { privateKey: pem, publicKey: createPublicKey(privateKey) };
}

function partOf(encoded: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8')) as Record<string, unknown>;
  } catch {
    return {};
  }
}
