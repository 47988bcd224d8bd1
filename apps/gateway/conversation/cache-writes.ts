import type { Catalog, CatalogModel } from '#catalog/catalog.js';
import { isText } from '#platform/http/long-text.js';
import { areWritesSold, type InputKind } from '#pricing/held-kinds.js';
import type { Conversation } from './conversation-request.js';

/**
 * The highest possible price of a request's input. Messages say what to write to the cache. Other dialects may write without being
 * asked, if the model has a price for writes.
 */
export function dearestInput(
  { kind, body }: Conversation,
  { catalog, model, group, atMs }: { catalog: Catalog; model: CatalogModel; group: string; atMs: number },
): InputKind {
  if (kind === 'messages') return writesOf(body);
  const writesUnasked = areWritesSold(catalog.priceBook, { model: model.id, group, atMs });
  return kind !== 'speech' && (writesUnasked || body['prompt_cache_options']) ? 'cacheWrite' : 'input';
}

/** A body's depth is bounded where it is read. */
function writesOf(value: unknown): InputKind {
  // A long text has its bytes as members, millions of them.
  if (typeof value !== 'object' || value === null || isText(value)) return 'input';
  let dearest: InputKind = 'input';
  for (const [name, member] of Object.entries(value)) {
    const found = name === 'cache_control' ? writeOf(member) : writesOf(member);
    if (found === 'cacheWrite1h') return found;
    if (found === 'cacheWrite') dearest = found;
  }
  return dearest;
}

function writeOf(mark: unknown): InputKind {
  if (typeof mark !== 'object' || mark === null) return 'input';
  return (mark as { ttl?: unknown }).ttl === '1h' ? 'cacheWrite1h' : 'cacheWrite';
}
