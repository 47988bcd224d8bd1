import { Controller } from '@nestjs/common';
import { Readable } from 'node:stream';
import { AttemptsStore } from '#identity/attempts.store.js';
import { PasswordService } from '#people/password.service.js';
import { announceFile } from '#platform/http/attachment.js';
import { type DataExport, DataExports } from '#privacy/data-export.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CONFIG } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { exportRoutes as routes } from './export.routes.js';

/** What is an account's own, for its signed-in owner alone. */
@Controller()
export class ExportController extends Using({
  exports: DataExports,
  attempts: AttemptsStore,
  passwords: PasswordService,
  config: CONTROL_PLANE_CONFIG,
}) {
  @Serves(routes.list)
  async list({ actor }: CallOf<typeof routes.list>) {
    return { items: (await this.exports.list(actor.accountId)).map(viewExport) };
  }

  /** Each export costs us the reading of everything there is, so that a day has few, and a person proves who they are. */
  @Serves(routes.request)
  async request({ actor, body, requestId }: CallOf<typeof routes.request>) {
    await this.passwords.stepUp(actor, body.password, 'password');
    const limit = this.config.privacy.exportLimit;
    await this.attempts.count({ subject: `export ${actor.accountId}`, limit });
    return viewExport(await this.exports.request({ ...actor, requestId }));
  }

  @Serves(routes.download)
  async download({ actor, params, reply, requestId }: CallOf<typeof routes.download>): Promise<Readable> {
    const pieces = await this.exports.download(params.exportId, { ...actor, requestId });
    announceFile(reply, `export-${params.exportId}.zip`, 'application/zip');
    void reply.header('cache-control', 'private, no-store');
    return Readable.from(pieces, { objectMode: false });
  }
}

function viewExport(made: DataExport) {
  const { state, expiresAt } = made;
  const isOver = state === 'ready' && expiresAt !== null && expiresAt.getTime() <= Date.now();
  return { ...made, state: isOver ? ('expired' as const) : state };
}
