import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { ConfigReader } from './config.js';
import { OperatorError } from './errors.js';

const PREFIX = 'sealed:1:';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface SealingKey {
  /** Distinguishes keys and reveals nothing about them. */
  readonly id: string;
  readonly key: Buffer;
}

/**
 * Encrypts secrets in the database (AES-256-GCM) with a key outside the database. A sealed text names its key, and
 * opens only in the place that it was sealed for: copied to another row, it is worthless. The first key seals and all
 * of them open, so that keys can be replaced while programs run.
 */
export class SecretBox {
  private readonly keys: readonly SealingKey[];

  constructor(keys: readonly Buffer[]) {
    this.keys = keys.map((key) => ({ id: createHash('sha256').update(key).digest('hex').slice(0, 8), key }));
  }

  /** @param place the table and row that it is for, such as `channels/main` */
  seal(plain: string, place: string): string {
    const { id, key } = this.current();
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce).setAAD(associated(id, place));
    const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${PREFIX}${id}:${sealed.toString('base64url')}`;
  }

  /**
   * The text that was sealed for this place. A text from before secrets were sealed is returned as it is, until
   * `tollgate secrets rotate`.
   * @throws OperatorError if its key is missing, or it was changed or sealed for another place
   */
  open(stored: string, place: string): string {
    if (!isSealed(stored)) return stored;
    const [id = '', text = ''] = stored.slice(PREFIX.length).split(':');
    const key = this.keys.find((known) => known.id === id)?.key;
    if (!key) throw new OperatorError(`SECRETS_KEY lacks the key ${id}, which the secret of ${place} needs.`);
    const bytes = Buffer.from(text, 'base64url');
    try {
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      }).setAAD(associated(id, place));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const plain = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([plain, decipher.final()]).toString('utf8');
    } catch {
      throw new OperatorError(`The secret of ${place} was changed, or belongs to another row.`);
    }
  }

  /** Sealed with the current key. */
  isCurrent(stored: string): boolean {
    return stored.startsWith(this.currentPrefix());
  }

  /** The prefix of everything that is sealed with the current key. */
  currentPrefix(): string {
    return `${PREFIX}${this.current().id}:`;
  }

  private current(): SealingKey {
    const [key] = this.keys;
    if (!key) throw new OperatorError('SECRETS_KEY must be set, because secrets are stored encrypted.');
    return key;
  }
}

export function isSealed(stored: string): boolean {
  return stored.startsWith(PREFIX);
}

/** The place of each secret in the database. */
export const placeOf = {
  channel: (id: string) => `channels/${id}`,
  webhook: (id: string) => `webhook_endpoints/${id}`,
  oneTimeCodes: (userId: string) => `users/${userId}`,
} as const;

function associated(keyId: string, place: string): Buffer {
  return Buffer.from(`${keyId}|${place}`, 'utf8');
}

const KEY_RULE = `must be ${KEY_BYTES} random bytes in base64 or hex, as "openssl rand -base64 32" makes them; where keys are exchanged, the new one, a comma, and the old one`;

/** Reads SECRETS_KEY: the key that seals, followed by others that still open. `finish` reports faults. */
export function readSecrets(reader: ConfigReader): SecretBox {
  const text = reader.get('SECRETS_KEY');
  const keys = text === '' ? [] : parseKeys(text);
  if (keys === null) reader.fault('SECRETS_KEY', KEY_RULE, '');
  return new SecretBox(keys ?? []);
}

/** Keys separated by commas, spaces or line ends; null if one is invalid. */
export function parseKeys(text: string): Buffer[] | null {
  const keys = text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map((part) => Buffer.from(part, /^[0-9a-f]{64}$/i.test(part) ? 'hex' : 'base64'));
  return keys.length > 0 && keys.every((key) => key.length === KEY_BYTES) ? keys : null;
}

/** A new key for SECRETS_KEY. */
export function newSecretsKey(): string {
  return randomBytes(KEY_BYTES).toString('base64');
}
