import type { DocumentedRoute } from '#apps/control-plane/http/openapi.document.js';
import { type Role, roles } from '#identity/role.js';
import { contractOf } from './console.js';
import type { Relay } from './relay.js';
import { sampleOf, type SampledSchema } from './schema-samples.js';

/** A route of the control plane, from its OpenAPI document. */
export interface WalkedRoute {
  id: string;
  method: string;
  path: string;
  access: 'public' | readonly Role[];
  params: Record<string, SampledSchema>;
  query: Record<string, SampledSchema>;
  body: SampledSchema | null;
  /** The media type of the body. */
  consumes: string | null;
  isUnsafe: boolean;
  /** Whether it refuses requests from pages of other sites. */
  isGuarded: boolean;
  /** Whether it also requires the session's token. */
  needsToken: boolean;
  /** Whether it needs a session whose person confirmed their identity a moment ago. */
  confirms: boolean;
}

/** Every route. */
export async function routesOf(relay: Pick<Relay, 'consoleUrl'>): Promise<WalkedRoute[]> {
  const contract = await contractOf(relay.consoleUrl);
  return contract.operations().map(({ path, method, operation }) => {
    return walked(path, method, operation as unknown as DocumentedRoute);
  });
}

function walked(path: string, method: string, route: DocumentedRoute): WalkedRoute {
  const [media] = Object.entries(route.requestBody?.content ?? {});
  const fields = (where: 'path' | 'query') =>
    Object.fromEntries(
      route.parameters
        .filter((each) => each.in === where)
        .map(({ name, schema }) => [name, schema as SampledSchema]),
    );
  return {
    id: route.operationId,
    method: method.toUpperCase(),
    path,
    access: route['x-access'] as WalkedRoute['access'],
    params: fields('path'),
    query: fields('query'),
    body: (media?.[1].schema as SampledSchema | undefined) ?? null,
    consumes: media?.[0] ?? null,
    isUnsafe: method !== 'get',
    isGuarded: JSON.stringify(route.responses['403'] ?? '').includes('csrf_rejected'),
    needsToken: route.security.some((each) => 'csrfToken' in each),
    confirms: route['x-confirms'] === true,
  };
}

/** The path with a value for each parameter, as given or a sample. */
export function urlOf(route: WalkedRoute, values: Record<string, string> = {}): string {
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    return (
      values[name] ?? encodeURIComponent(String(sampleOf(route.params[name] ?? {}, `${route.id} ${name}`)))
    );
  });
}

/** A request with the given body, or one that the document allows. */
export function requestOf(route: WalkedRoute, body?: unknown): RequestInit {
  if (!route.body) return { method: route.method };
  const type = route.consumes ?? 'application/json';
  const value = body ?? sampleOf(route.body, route.id);
  const text = type === 'application/json' ? JSON.stringify(value) : String(value);
  return { method: route.method, headers: { 'content-type': type }, body: text };
}

/** Who has access to a route, as roles beyond `user`. */
export function isAllowed({ access }: WalkedRoute, role: Role): boolean {
  return access === 'public' || access.includes('user') || access.includes(role);
}

/** The first role with access to a route. */
export function roleFor(route: WalkedRoute): Role {
  return roles.find((role) => isAllowed(route, role)) ?? 'user';
}

/** Processes every item, a few at a time. */
export async function forEachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}
