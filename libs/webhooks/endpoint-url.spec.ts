import { describe, expect, it } from 'vitest';
import { checkEndpointUrl } from './endpoint-url.js';

describe('the URL of an endpoint', () => {
  it.each(['https://example.com/hooks?a=b', 'https://hooks.example.com:8443/', 'https://93.184.215.14/x'])(
    'may be %s',
    (url) => {
      expect(checkEndpointUrl(url, false)).toBe(url);
    },
  );

  it.each([
    ['plain http', 'http://example.com/'],
    ['loopback', 'https://127.0.0.1/'],
    ['loopback as one number', 'https://2130706433/'],
    ['loopback in six', 'https://[::1]/'],
    ['loopback wrapped in six', 'https://[::ffff:127.0.0.1]/'],
    ['a private network', 'https://10.0.0.8/'],
    ['the metadata of a cloud', 'https://169.254.169.254/latest'],
    ['shared addresses', 'https://100.64.0.1/'],
    ['a file', 'file:///etc/passwd'],
    ['a user name', 'https://me@example.com/'],
    ['a fragment', 'https://example.com/#x'],
    ['words', 'somewhere'],
  ])('is not %s', (_, url) => {
    expect(() => checkEndpointUrl(url, false)).toThrow('url: must');
  });

  it('may be private or plain HTTP if the installation allows it, but nothing else', () => {
    expect(checkEndpointUrl('http://127.0.0.1:9/x', true)).toBe('http://127.0.0.1:9/x');
    expect(() => checkEndpointUrl('ftp://127.0.0.1/x', true)).toThrow('must begin with');
  });
});
