import { type AttemptLimit, AttemptsStore } from '#identity/attempts.store.js';
import type { Actor } from '#identity/role.js';
import { PasswordService } from '#people/password.service.js';
import { type DataExport, DataExports } from '#privacy/data-export.js';

export interface ExportRequestsParts {
  readonly exports: DataExports;
  readonly attempts: AttemptsStore;
  readonly passwords: PasswordService;
  readonly config: {
    readonly privacy: { readonly exportLimit: AttemptLimit };
  };
}

/** Each export costs us the reading of everything there is, so that a day has few, and a person proves who they are. */
export class ExportRequests {
  constructor(private readonly parts: ExportRequestsParts) {}

  async request(
    actor: Actor,
    password: Parameters<PasswordService['stepUp']>[1],
    requestId: string,
  ): Promise<DataExport> {
    const { exports, attempts, passwords, config } = this.parts;
    await passwords.stepUp(actor, password, 'password');
    const limit = config.privacy.exportLimit;
    await attempts.count({ subject: `export ${actor.accountId}`, limit });
    return exports.request({ ...actor, requestId });
  }
}
