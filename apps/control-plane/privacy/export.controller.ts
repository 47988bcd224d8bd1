import { Controller } from '@nestjs/common';
import { Readable } from 'node:stream';
import { announceFile } from '#platform/http/attachment.js';
import { type DataExport, DataExports } from '#privacy/data-export.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { ExportRequests } from './export.requests.js';
import { exportRoutes as routes } from './export.routes.js';

/** What is an account's own, for its signed-in owner alone. */
@Controller()
export class ExportController extends Using({ exports: DataExports, requests: ExportRequests }) {
  @Serves(routes.list)
  async list({ actor }: CallOf<typeof routes.list>) {
    return { items: (await this.exports.list(actor.accountId)).map(viewExport) };
  }

  @Serves(routes.request)
  async request({ actor, body, requestId }: CallOf<typeof routes.request>) {
    return viewExport(await this.requests.request(actor, body.password, requestId));
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
