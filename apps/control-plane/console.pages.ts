import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const NONCE_PLACEHOLDER = '__CSP_NONCE__';
const NONCE_BYTES = 16;
const YEAR_SECONDS = 31_536_000;
const HOUR_SECONDS = 3_600;

/** Everything comes from the own origin; style elements that scripts make need the nonce of the answer. */
function policyWith(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    // blob: textures inside of a 3D model, which the page itself unpacks.
    "connect-src 'self' blob:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ');
}

export interface ConsolePage {
  html: string;
  /** The Content-Security-Policy that it works under. */
  policy: string;
}

/** The pages of the console as `npm run build` left them. */
export class ConsolePages {
  private readonly parts: string[] | null;

  constructor(private readonly folder: string) {
    const index = join(folder, 'index.html');
    this.parts = existsSync(index) ? readFileSync(index, 'utf8').split(NONCE_PLACEHOLDER) : null;
  }

  /** Where the build puts them, seen from the built program and from its source. */
  static built(): ConsolePages {
    const places = ['../../console', '../../dist/console'].map((path) => join(import.meta.dirname, path));
    return new ConsolePages(places.find((place) => existsSync(join(place, 'index.html'))) ?? places[0]!);
  }

  /** The one document of all pages, with a nonce of its own; null where nothing was built. */
  document(): ConsolePage | null {
    if (!this.parts) return null;
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    return { html: this.parts.join(nonce), policy: policyWith(nonce) };
  }

  /** Serves the files beside the document, compressed as they are stored. The names under assets/ change with the content. */
  serveFiles(server: FastifyInstance): void {
    if (!this.parts) return;
    void server.register(fastifyStatic, {
      root: this.folder,
      wildcard: false,
      globIgnore: ['index.html*', '**/*.br', '**/*.gz', '.*'],
      index: false,
      decorateReply: false,
      preCompressed: true,
      cacheControl: false,
      setHeaders: (answer, path: string) => {
        const isNamedByContent = basename(join(path, '..')) === 'assets';
        const age = isNamedByContent ? `${YEAR_SECONDS}, immutable` : String(HOUR_SECONDS);
        void answer.header('cache-control', `public, max-age=${age}`);
      },
    });
  }
}
