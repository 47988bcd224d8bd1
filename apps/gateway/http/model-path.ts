/** Paths whose model ID can contain slashes, and what follows the ID in each. */
const PATHS: readonly { method: string; base: string; ending: RegExp }[] = [
  { method: 'GET', base: '/v1/models/', ending: /$/ },
  { method: 'GET', base: '/v1beta/models/', ending: /(?:\/operations\/[^/]*)?$/ },
  // Without the call it is some other path that lost its way, and its refusal should name it as it was sent.
  { method: 'POST', base: '/v1beta/models/', ending: /:[A-Za-z]+$/ },
];

/**
 * An address in which a model id is one segment, for a router that knows segments: `/v1/models/openai/gpt-image-1` becomes
 * `/v1/models/openai%2Fgpt-image-1`, as SDKs write it that escape ids. Every other address stays as it is.
 */
export function joinModelId(method: string, url: string): string {
  const found = PATHS.find((each) => method === each.method && url.startsWith(each.base));
  if (!found) return url;
  const query = url.indexOf('?');
  // Only from the first slash of a run: with an attempt at each, a run of thousands would take a third of a second.
  const path = (query < 0 ? url : url.slice(0, query)).replace(/(?<!\/)\/+$/, '');
  const end = path.search(found.ending);
  const id = path.slice(found.base.length, end);
  if (end < 0 || !id.includes('/')) return url;
  return found.base + id.replaceAll('/', '%2F') + path.slice(end) + (query < 0 ? '' : url.slice(query));
}
