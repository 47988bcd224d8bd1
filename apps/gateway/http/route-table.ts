import type { FastifyRequest, RouteOptions } from 'fastify';
import { ApiError } from '#platform/errors.js';

interface Route {
  pattern: RegExp;
  methods: string[];
}

/** Paths of the OpenAI SDK below /v1/videos that are not ids: their POSTs answer 404, not 405 (wire.md 3.1). */
export const RESERVED_IDS: readonly string[] = ['edits', 'extensions', 'characters', 'generations'];
const ANY_ID = `(?!(?:${RESERVED_IDS.join('|')})(?:/|$))[^/]+`;

/** Where the paths lie, the usual base first. */
const BASES = ['/v1', '/vendora/v1', '/v1beta'];

const DOUBLED_BASE = /^(\/v1|\/v1beta)\1\//;

/** Longer paths are cut in messages. */
const MAX_SHOWN_CHARS = 120;

/**
 * The paths that exist, as they were registered: words the answers to those that do not. A wrong base address is the
 * commonest mistake of all (spec 4.6), so the answer says which base would have worked.
 */
export class RouteTable {
  private readonly routes: Route[] = [];

  /** For Fastify's onRoute hook. */
  add(route: RouteOptions): void {
    this.routes.push({
      pattern: new RegExp(`^${route.url.split('/').map(segmentPattern).join('/')}/?$`),
      methods: [route.method].flat(),
    });
  }

  /** Why a request met no route. */
  refusalFor(request: FastifyRequest): ApiError {
    const path = request.url.split('?', 1)[0] ?? '/';
    const methods = this.methodsOf(path);
    if (methods.length > 0) {
      const message = `${request.method} is not offered on ${shown(path)}; it takes ${methods.join(', ')}.`;
      return new ApiError('method_not_allowed', message);
    }
    const hint = this.hintFor(path);
    return new ApiError(
      'unknown_url',
      `Unknown URL (${request.method} ${shown(path)}).${hint ? ` ${hint}` : ''}`,
    );
  }

  private hintFor(path: string): string | undefined {
    const right = this.nearestPath(path);
    if (right === undefined) return undefined;
    const base = BASES.find((known) => right.startsWith(`${known}/`)) ?? '/v1';
    const doubled = DOUBLED_BASE.exec(path)?.[1];
    const repeated = doubled === undefined ? '' : `The base URL has one ${doubled} too many. `;
    const messages = right === '/v1/messages' ? ' Messages-style clients use the base URL without /v1.' : '';
    return `${repeated}The path is ${shown(right)}: set the client's base URL to end in ${base}.${messages}`;
  }

  /** Drops leading segments, one by one, until a known path is left, with or without its base. */
  private nearestPath(path: string): string | undefined {
    const segments = path
      .split('/')
      .filter((segment) => segment !== '')
      .slice(0, 8);
    for (let first = 0; first < segments.length; first += 1) {
      const rest = segments.slice(first).join('/');
      const known = ['', ...BASES]
        .map((base) => `${base}/${rest}`)
        .find((candidate) => candidate !== path && this.methodsOf(candidate).length > 0);
      if (known !== undefined) return known;
    }
    return undefined;
  }

  private methodsOf(path: string): string[] {
    const methods = this.routes.filter((route) => route.pattern.test(path)).flatMap((route) => route.methods);
    return [...new Set(methods)];
  }
}

function segmentPattern(segment: string): string {
  return segment.startsWith(':') ? ANY_ID : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function shown(path: string): string {
  return path.length > MAX_SHOWN_CHARS ? `${path.slice(0, MAX_SHOWN_CHARS)}…` : path;
}
