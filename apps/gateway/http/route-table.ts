import type { FastifyRequest, RouteOptions } from 'fastify';
import { ApiError } from '#platform/errors.js';

interface Route {
  segments: readonly string[];
  methods: string[];
}

/** Paths of the OpenAI SDK below /v1/videos that are not ids: their POSTs answer 404, not 405. */
export const RESERVED_IDS: readonly string[] = ['edits', 'extensions', 'characters', 'generations'];

/** Where the paths lie: as they were sent, then at the usual base first. */
const BASES: readonly (readonly string[])[] = [[], ['v1'], ['vendora', 'v1'], ['v1beta']];

/** The end of a call in Google's style, such as `:predict`. No other path has a colon there. */
const NATIVE_VERB = /:[A-Za-z]+\/?$/;

/** Bases are short, and each segment is tried against every route. */
const MAX_TRIED_SEGMENTS = 8;
/** More than any route has, and fewer than fit into an address. */
const MAX_READ_SEGMENTS = 20;

/** Longer paths are cut in messages. */
const MAX_SHOWN_CHARS = 120;

/**
 * The registered paths, which answer requests to all others. A wrong base URL is the most common mistake, so the answer says
 * which base would have worked.
 */
export class RouteTable {
  /** By the number of their segments: anyone may ask for any path, and each is compared with few. */
  private readonly routes = new Map<number, Route[]>();

  /** For Fastify's onRoute hook. */
  add({ url, method }: RouteOptions): void {
    const segments = placesOf(url);
    const alike = this.routes.get(segments.length) ?? [];
    this.routes.set(segments.length, [...alike, { segments, methods: [method].flat() }]);
  }

  /** Why a request matched no route. */
  refusalFor(request: FastifyRequest): ApiError {
    const path = request.url.split('?', 1)[0] ?? '/';
    const methods = this.methodsOf(placesOf(path));
    // Under another base the last segment of such a call looks like an ID.
    const isMisplaced = NATIVE_VERB.test(path) && this.nearestPath(path, request.method) !== undefined;
    if (methods.length > 0 && !isMisplaced) {
      const message = `${request.method} is not offered on ${shown(path)}; it takes ${methods.join(', ')}.`;
      return new ApiError('method_not_allowed', message);
    }
    const hint = this.hintFor(path, request.method) ?? 'GET /docs lists all paths.';
    return new ApiError('unknown_url', `Unknown URL (${request.method} ${shown(path)}). ${hint}`);
  }

  private hintFor(path: string, method: string): string | undefined {
    const right = this.nearestPath(path, method) ?? this.nearestPath(path);
    if (right === undefined) return undefined;
    const { extra, lacking } = baseChange(path, right);
    const isMessages = right === '/v1/messages';
    const messages = isMessages
      ? ' Messages-style clients use the base URL without /v1 and add it themselves.'
      : '';
    if (lacking === '') {
      const surplus = extra === '' ? 'slash' : shown(extra);
      return `The path is ${shown(right)}: the client's base URL has one ${surplus} too many.${messages}`;
    }
    if (isMessages) return `The path is ${right}.${messages}`;
    const instead = extra === '' ? '' : ` instead of ${shown(extra)}`;
    const native = NATIVE_VERB.test(right)
      ? ` Google's SDK adds it by itself: set its apiVersion to v1beta.`
      : '';
    return `The path is ${shown(right)}: set the client's base URL to end in ${lacking}${instead}.${native}`;
  }

  /** Drops leading segments, one by one, until a known path is left, with or without its base; one that takes the method, if one is named. */
  private nearestPath(path: string, method?: string): string | undefined {
    const segments = segmentsOf(path).slice(0, MAX_TRIED_SEGMENTS);
    for (let first = 0; first < segments.length; first += 1) {
      for (const base of BASES) {
        const candidate = ['', ...base, ...segments.slice(first)];
        const methods = this.methodsOf(candidate);
        const isKnown = method === undefined ? methods.length > 0 : methods.includes(method);
        if (isKnown && candidate.join('/') !== path) return candidate.join('/');
      }
    }
    return undefined;
  }

  private methodsOf(segments: readonly string[]): string[] {
    const alike = this.routes.get(segments.length) ?? [];
    const methods = alike.filter((route) => isAt(route, segments)).flatMap((route) => route.methods);
    return [...new Set(methods)];
  }
}

/** What precedes the part that two paths share at their ends: too much in the first, or missing from it. */
function baseChange(asked: string, right: string): { extra: string; lacking: string } {
  const from = segmentsOf(asked);
  const to = segmentsOf(right);
  let shared = 0;
  while (shared < from.length && shared < to.length && from.at(-1 - shared) === to.at(-1 - shared))
    shared += 1;
  const before = (segments: string[]) =>
    segments
      .slice(0, segments.length - shared)
      .map((segment) => `/${segment}`)
      .join('');
  return { extra: before(from), lacking: before(to) };
}

function segmentsOf(path: string): string[] {
  return path.split('/', MAX_READ_SEGMENTS).filter((segment) => segment !== '');
}

/** With the empty one before the first slash, and without a slash at the end. */
function placesOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/', MAX_READ_SEGMENTS);
}

function isAt(route: Route, segments: readonly string[]): boolean {
  return route.segments.every((segment, index) => {
    const asked = segments[index] ?? '';
    return segment.startsWith(':') ? asked !== '' && !RESERVED_IDS.includes(asked) : asked === segment;
  });
}

function shown(path: string): string {
  return path.length > MAX_SHOWN_CHARS ? `${path.slice(0, MAX_SHOWN_CHARS)}…` : path;
}
