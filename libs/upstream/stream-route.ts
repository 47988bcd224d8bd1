import type { Channel } from '#catalog/catalog.js';
import type { CallBody } from './channel-calls.js';
import type { ImageEditRequest, StreamRequest } from './outcomes.js';

/** The path of a pass-through call, and what has to be added to it. */
export interface StreamRoute {
  /**
   * A path that names the model, or whether the answer is streamed, depends on the body; one with an account, on the
   * channel.
   */
  path: string | ((body: Record<string, unknown>, channel: Channel) => string);
  /** Replaces the client's body. The model is already the upstream's. */
  prepare?(body: Record<string, unknown>): Record<string, unknown>;
  form?(fields: Record<string, unknown>, pictures: Pick<ImageEditRequest, 'images' | 'mask'>): CallBody;
  /** Always sent, unless the client's own are passed on. */
  headers?: Readonly<Record<string, string>>;
  /** Lower-case names of client headers that are passed on, and their values; undefined for none. */
  clientHeaders?: Readonly<Record<string, (value: string) => string | undefined>>;
}

/** The headers of a pass-through call: the vendor's own, and those of the client that are passed on. */
export function streamHeaders(
  route: Pick<StreamRoute, 'headers' | 'clientHeaders'>,
  { headers: sent }: Pick<StreamRequest, 'headers'>,
): Record<string, string> {
  const headers = { ...route.headers };
  for (const [name, passed] of Object.entries(route.clientHeaders ?? {})) {
    const value = sent?.[name];
    const kept = typeof value === 'string' ? passed(value) : undefined;
    if (kept !== undefined) headers[name] = kept;
  }
  return headers;
}
