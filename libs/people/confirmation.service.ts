import { spendCode } from '#identity/one-time-codes.js';
import type { Actor } from '#identity/role.js';
import { ApiError } from '#platform/errors.js';
import { CodeCheck } from './code-check.js';
import { PasswordService } from './password.service.js';
import type { PeopleParts } from './people.parts.js';
import { findById } from './person.store.js';

/** How a signed-in person confirms their identity: with a code if a device is enrolled, otherwise with the password. */
export interface PersonProof {
  code?: string | undefined;
  password?: string | undefined;
}

export interface ConfirmationServiceParts extends PeopleParts {
  readonly passwords: PasswordService;
  readonly codes: CodeCheck;
}

/** Lets a signed-in person confirm their identity again. */
export class ConfirmationService {
  constructor(private readonly parts: ConfirmationServiceParts) {}

  /** @throws ApiError missing_required_parameter, forbidden for a wrong code or password, too_many_attempts */
  async confirm(actor: Actor, { code, password }: PersonProof): Promise<void> {
    const { pool, sessions, clock, config } = this.parts;
    const person = await findById(pool, actor.userId);
    if (person?.totpSecret == null) {
      await this.parts.passwords.stepUp(actor, given(password, 'password'), 'password');
    } else {
      const { id, totpSecret } = person;
      const nowMs = clock.nowMs();
      const entered = { code: given(code, 'code'), nowMs, secrets: config.secrets };
      const isRight = await this.parts.codes.tried(id, entered.code, () =>
        spendCode(pool, { id, totpSecret }, entered),
      );
      // Not 401, which clients would read as the end of the session.
      if (!isRight)
        throw new ApiError('forbidden', 'code: it is wrong, too old, or was used before.', { param: 'code' });
    }
    await sessions.confirm(actor.sessionId);
  }
}

function given(proof: string | undefined, param: string): string {
  if (proof !== undefined) return proof;
  throw new ApiError('missing_required_parameter', `${param} is required.`, { param });
}
