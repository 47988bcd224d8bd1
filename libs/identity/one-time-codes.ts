import { Secret, TOTP } from 'otpauth';
import type pg from 'pg';
import { createHash, randomBytes } from 'node:crypto';
import { placeOf, type SecretBox } from '#platform/sealed-secret.js';

const ISSUER = 'Tollgate';
const SECRET_BYTES = 20;
const PERIOD_SECONDS = 30;
/** Phone clocks differ, so the previous and the next code are accepted, too. */
const WINDOW = 1;
const RECOVERY_CODES = 10;
const RECOVERY_BYTES = 10;

export interface Enrolment {
  /** In Base32, for typing. */
  secret: string;
  /** otpauth://, for scanning. */
  uri: string;
}

export function newEnrolment(email: string): Enrolment {
  const secret = new Secret({ size: SECRET_BYTES }).base32;
  return { secret, uri: totp(secret, email).toString() };
}

/** The time step of a code, or null for a wrong code. */
export function stepOf(secret: string, code: string, nowMs: number): bigint | null {
  const delta = totp(secret).validate({ token: code, timestamp: nowMs, window: WINDOW });
  return delta === null ? null : BigInt(Math.floor(nowMs / 1000 / PERIOD_SECONDS) + delta);
}

function totp(secret: string, label = ''): TOTP {
  return new TOTP({ issuer: ISSUER, label, secret: Secret.fromBase32(secret), period: PERIOD_SECONDS });
}

/**
 * Accepts a code of a person's device, or a recovery code, each only once, even if two requests bring it concurrently.
 * The secret is passed as stored. False for a wrong or used one.
 */
export async function spendCode(
  client: pg.Pool | pg.ClientBase,
  user: { id: string; totpSecret: string },
  entered: { code: string; nowMs: number; secrets: SecretBox },
): Promise<boolean> {
  const { code, nowMs, secrets } = entered;
  if (/^\d{6}$/.test(code)) {
    const step = stepOf(secrets.open(user.totpSecret, placeOf.oneTimeCodes(user.id)), code, nowMs);
    if (step === null) return false;
    const { rowCount } = await client.query(
      'UPDATE users SET totp_last_step = $2 WHERE id = $1 AND coalesce(totp_last_step, -1) < $2',
      [user.id, step],
    );
    return rowCount === 1;
  }
  const { rowCount } = await client.query(
    'UPDATE recovery_codes SET used_at = now() WHERE user_id = $1 AND code_hash = $2 AND used_at IS NULL',
    [user.id, hashRecoveryCode(code)],
  );
  return rowCount === 1;
}

/** Replaces the recovery codes of a person. They are shown once, and only their hashes are stored. */
export async function renewRecoveryCodes(client: pg.ClientBase, userId: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  await client.query('DELETE FROM recovery_codes WHERE user_id = $1', [userId]);
  await client.query('INSERT INTO recovery_codes (user_id, code_hash) SELECT $1, unnest($2::bytea[])', [
    userId,
    codes.map(hashRecoveryCode),
  ]);
  return codes;
}

/** Eighty random bits in four parts, such as `k4xg-7qzp-2mfa-hb3c`. */
function newRecoveryCode(): string {
  const text = new Secret({
    buffer: new Uint8Array(randomBytes(RECOVERY_BYTES)).buffer,
  }).base32.toLowerCase();
  return text.match(/.{4}/g)!.join('-');
}

/** A plain hash is enough for eighty random bits. Dashes, spaces and case are ignored. */
function hashRecoveryCode(code: string): Buffer {
  return createHash('sha256')
    .update(code.toLowerCase().replace(/[^a-z0-9]/g, ''))
    .digest();
}
