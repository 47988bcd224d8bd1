import { z } from 'zod';
import { mailLanguages } from '#identity/language.js';
import { PASSWORD_CHARS } from '#identity/password.hasher.js';
import { roles } from '#identity/role.js';
import { id, timeView } from '#platform/http/fields.js';

const LONGEST_EMAIL = 254;

/** In lower case. People's addresses are plain ASCII, without anything that could end a line in a mail's header. */
export const email = z
  .string()
  .trim()
  .max(LONGEST_EMAIL, `must have at most ${LONGEST_EMAIL} characters`)
  .toLowerCase()
  .regex(z.regexes.email, 'must be an email address');

export const newPassword = z
  .string()
  .min(PASSWORD_CHARS.min, `must have at least ${PASSWORD_CHARS.min} characters`)
  .max(PASSWORD_CHARS.max, `must have at most ${PASSWORD_CHARS.max} characters`);

/** Possibly wrong, but not too long. */
export const password = z
  .string()
  .max(PASSWORD_CHARS.max, `must have at most ${PASSWORD_CHARS.max} characters`);

export const linkToken = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be the token of a link');

export const oneTimeCode = z
  .string()
  .trim()
  .min(6)
  .max(40)
  .describe('Six digits from your device, or a recovery code.');

export const mailLanguage = z.enum(mailLanguages);

export const rolesView = z.array(z.enum(roles));

export const personView = z
  .object({
    userId: id,
    accountId: id,
    email: z.string(),
    roles: rolesView,
    totpEnabled: z.boolean(),
    disabled: z.boolean(),
    createdAt: timeView,
  })
  .meta({ id: 'Person' });
