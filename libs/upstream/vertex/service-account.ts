import { createPrivateKey, sign } from 'node:crypto';
import { asObject, asText } from '../answers.js';
import type { KeyForm } from '../protocol.js';

/** The fields of a service account's document that are needed to call on its behalf. */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly projectId: string;
  readonly privateKey: string;
  /** Identifies the key that signed to Google. */
  readonly privateKeyId: string | undefined;
  readonly tokenUri: string;
}

const TOKEN_URI = 'https://oauth2.googleapis.com/token';
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
/** The longest that Google accepts. */
const ASSERTION_SECONDS = 3_600;
/** A project id, which can be part of a path. */
const PROJECT_ID = /^[a-z][a-z0-9:.-]{2,62}$/;

/** Reads the JSON document that Google issues for a service account; null for anything else. */
export function readServiceAccount(text: string): ServiceAccount | null {
  const document = parsed(text);
  const clientEmail = asText(document?.['client_email']);
  const privateKey = asText(document?.['private_key']);
  const projectId = asText(document?.['project_id']) ?? '';
  if (clientEmail === undefined || privateKey === undefined || !PROJECT_ID.test(projectId)) return null;
  return {
    clientEmail,
    projectId,
    privateKey,
    privateKeyId: asText(document?.['private_key_id']),
    tokenUri: asText(document?.['token_uri']) ?? TOKEN_URI,
  };
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Service accounts that can sign, kept as only what is needed of them, in one line. */
export const serviceAccounts: KeyForm = {
  fault: serviceAccountFault,
  kept: (key) => writtenServiceAccount(readServiceAccount(key)!),
};

function serviceAccountFault(text: string): string | null {
  const account = readServiceAccount(text);
  if (!account) return 'must be the JSON document of a service account';
  try {
    const isRsa = createPrivateKey(account.privateKey).asymmetricKeyType === 'rsa';
    return isRsa ? null : 'must hold an RSA key';
  } catch {
    return 'must hold a private key that can be read';
  }
}

function writtenServiceAccount({ tokenUri, ...account }: ServiceAccount): string {
  return JSON.stringify({
    type: 'service_account',
    project_id: account.projectId,
    private_key_id: account.privateKeyId,
    private_key: account.privateKey,
    client_email: account.clientEmail,
    ...(tokenUri !== TOKEN_URI && { token_uri: tokenUri }),
  });
}

/** A signed assertion of the account, which is exchanged for a token. @throws for a key that cannot sign */
export function signedAssertion(account: ServiceAccount, nowMs: number): string {
  const issuedAt = Math.floor(nowMs / 1000);
  const header = { alg: 'RS256', typ: 'JWT', kid: account.privateKeyId };
  const claims = {
    iss: account.clientEmail,
    scope: SCOPE,
    aud: account.tokenUri,
    iat: issuedAt,
    exp: issuedAt + ASSERTION_SECONDS,
  };
  const unsigned = `${encoded(header)}.${encoded(claims)}`;
  const signature = sign('RSA-SHA256', Buffer.from(unsigned), account.privateKey);
  return `${unsigned}.${signature.toString('base64url')}`;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/** Only Google receives an assertion, unless it is your own upstream. */
export function mayGetAssertion(tokenUri: string, allowPrivateAddress: boolean): boolean {
  if (!URL.canParse(tokenUri)) return false;
  return allowPrivateAddress || new URL(tokenUri).origin === new URL(TOKEN_URI).origin;
}
