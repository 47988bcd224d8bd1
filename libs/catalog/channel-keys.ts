import type { Logger } from '#platform/logging.js';
import { placeOf, type SecretBox } from '#platform/sealed-secret.js';
import type { Catalog, Channel } from './catalog.js';
import { loadCatalog, type Queryable } from './catalog.store.js';

/**
 * A channel with its keys as its upstream expects them. Its webhook secret only speeds up polling: null if it cannot be
 * opened. @throws OperatorError for a key that cannot be opened
 */
export function withOpenKeys(channel: Channel, secrets: SecretBox): Channel {
  const open = (secret: string) => secrets.open(secret, placeOf.channel(channel.id));
  const apiKeys = channel.apiKeys.map(open);
  const webhookSecret = channel.webhookSecret && openOrNull(channel.webhookSecret, open);
  return { ...channel, apiKey: apiKeys[0] ?? '', apiKeys, webhookSecret };
}

function openOrNull(secret: string, open: (secret: string) => string): string | null {
  try {
    return open(secret);
  } catch {
    return null;
  }
}

/**
 * The catalog of a program that calls upstreams. Channels whose keys cannot be opened are left out. The others keep
 * serving.
 */
export async function loadOpenCatalog(
  database: Queryable,
  { secrets, log }: { secrets: SecretBox; log: Pick<Logger, 'error'> },
): Promise<Catalog> {
  const catalog = await loadCatalog(database);
  const channels = catalog.channels.flatMap((channel) => {
    try {
      const opened = withOpenKeys(channel, secrets);
      if (channel.webhookSecret !== null && opened.webhookSecret === null) {
        const message = 'webhooks of a channel are refused: their secret cannot be decrypted';
        log.error({ channel: channel.id }, message);
      }
      return [opened];
    } catch (error) {
      const { message } = error as Error;
      log.error(
        { channel: channel.id, reason: message },
        'a channel is skipped: its keys cannot be decrypted',
      );
      return [];
    }
  });
  return { ...catalog, channels };
}
