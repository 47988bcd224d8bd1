import { invalidField } from '#platform/errors.js';
import { checkFileUrl, ForbiddenAddress } from '#upstream/public-address.js';

/**
 * Checks the address of an endpoint: https on a public host. The addresses behind the name are checked at each
 * delivery, since only the address of the connection counts. `allowPrivate` is for your own installation.
 * @throws ApiError
 */
export function checkEndpointUrl(text: string, allowPrivate: boolean): string {
  const fault = (rule: string) => invalidField('url', rule);
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
