import { Controller } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { announceFile } from '#platform/http/attachment.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { LibraryArchives } from './library-archive.js';
import { playgroundRoutes as routes } from './playground.routes.js';

@Controller()
export class LibraryController extends Using({ archives: LibraryArchives }) {
  @Serves(routes.library)
  async download({ actor, session, query, ip, reply }: CallOf<typeof routes.library>): Promise<Readable> {
    const { kind, language = session.language ?? 'en' } = query;
    const archive = await this.archives.open({ ...actor, kind, language, ip, reply });
    // Only now, so that an error is shown, not saved.
    announceFile(reply, 'library.zip', 'application/zip');
    void reply.header('cache-control', 'private, no-store');
    return archive;
  }
}
