import { ApiError } from '#platform/errors.js';
import { checkFileUrl, ForbiddenAddress } from '#upstream/public-address.js';

/**
 * Checks where an endpoint may be: https on a public address. What a name resolves to is judged at each delivery, since
 * only the address that is really connected to counts. `allowPrivate` is for an installation of one's own.
 * @throws ApiError
 */
export function checkEndpointUrl(text: string, allowPrivate: boolean): string {
  const fault = (rule: string) => new ApiError('invalid_value', `url: ${rule}`, { param: 'url' });
  if (!URL.canParse(text)) throw fault('must be an absolute URL, such as https://example.com/hooks.');
  const url = new URL(text);
  const schemes = allowPrivate ? ['https:', 'http:'] : ['https:'];
  if (!schemes.includes(url.protocol)) throw fault('must begin with https://.');
  if (url.username !== '' || url.password !== '') throw fault('must not carry a user name or a password.');
  if (url.hash !== '') throw fault('must not have a fragment.');
  try {
    checkFileUrl(url, allowPrivate);
  } catch (error) {
    if (!(error instanceof ForbiddenAddress)) throw error;
    throw fault('must be on a public address.');
  }
  return url.href;
}
