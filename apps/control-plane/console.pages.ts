import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { MailLanguage } from '#identity/language.js';
import { builtFolder } from '#platform/places.js';

const NONCE_PLACEHOLDER = '__CSP_NONCE__';
const NONCE_BYTES = 16;
const YEAR_SECONDS = 31_536_000;
const HOUR_SECONDS = 3_600;
const ICON = '/icon.svg';

/** For files whose names change with their content. */
export const KEEP_BY_NAME = `public, max-age=${YEAR_SECONDS}, immutable`;

/** Everything comes from our own origin. Style elements created by scripts need the nonce of the answer. */
function policyWith(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    // blob: textures of a 3D model, which the page unpacks itself.
    "connect-src 'self' blob:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ');
}

/** Documents that the build left. */
const PAGES = 'index.html';
const landingIn = (language: MailLanguage) => `landing.${language}.html`;

export interface ConsolePage {
  html: string;
  /** The Content-Security-Policy that it works under. */
  policy: string;
}

/** The pages of the console. `npm start` builds them while the relay already runs, so they may appear later. */
export class ConsolePages {
  private readonly parts = new Map<string, string[]>();

  constructor(private readonly folder: string) {}

  static built(): ConsolePages {
    return new ConsolePages(join(builtFolder, 'console'));
  }

  /** The one document of all pages; null while it is not built. */
  document(): ConsolePage | null {
    return this.read(PAGES);
  }

  /** That of the landing page, whose head is drawn before the scripts are there. */
  landing(language: MailLanguage): ConsolePage | null {
    return this.read(landingIn(language));
  }

  /** Serves the files beside the document, compressed as they are stored. The names under assets/ change with the content. */
  serveFiles(server: FastifyInstance): void {
    void server.register(fastifyStatic, {
      root: join(this.folder, 'assets'),
      prefix: '/assets/',
      index: false,
      preCompressed: true,
      cacheControl: false,
      // Where the pages are built later, the folder does not exist yet.
      logLevel: 'error',
      setHeaders: (answer, path: string) => {
        const isNamedByContent = basename(join(path, '..')) === 'assets';
        void answer.header(
          'cache-control',
          isNamedByContent ? KEEP_BY_NAME : `public, max-age=${HOUR_SECONDS}`,
        );
      },
    });
    server.get(ICON, (_request, reply) => reply.sendFile(ICON, this.folder));
  }

  /** With a nonce of its own. */
  private read(name: string): ConsolePage | null {
    const parts = this.parts.get(name) ?? this.load(name);
    if (!parts) return null;
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    return { html: parts.join(nonce), policy: policyWith(nonce) };
  }

  private load(name: string): string[] | null {
    const file = join(this.folder, name);
    if (!existsSync(file)) return null;
    const parts = readFileSync(file, 'utf8').split(NONCE_PLACEHOLDER);
    this.parts.set(name, parts);
    return parts;
  }
}
