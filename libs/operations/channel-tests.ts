import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { keyMark } from '#catalog/catalog.js';
import { loadCatalog } from '#catalog/catalog.store.js';
import { withOpenKeys } from '#catalog/channel-keys.js';
import { inEntityTransaction } from '#database/entity-transaction.js';
import { audit } from '#identity/audit-log.js';
import { ApiError } from '#platform/errors.js';
import type { SecretBox } from '#platform/sealed-secret.js';
import { Upstreams } from '#upstream/adapters.js';
import type { KeyTrial } from '#upstream/health/probe.js';

export interface MarkedTrial extends KeyTrial {
  keyMark: string;
}

/** Tests channels for administrators. A running test of a channel is shared by everyone who asks for it. */
export class ChannelTests {
  private readonly upstreams = new Upstreams();
  private readonly running = new Map<string, Promise<MarkedTrial[]>>();

  constructor(
    private readonly pool: pg.Pool,
    private readonly source: DataSource,
    private readonly options: { timeoutMs: number; secrets: SecretBox },
  ) {}

  /** @throws ApiError not_found */
  async run(channelId: string, by: { actor: string; requestId: string }): Promise<MarkedTrial[]> {
    let trials = this.running.get(channelId);
    if (!trials) {
      trials = this.tryChannel(channelId).finally(() => this.running.delete(channelId));
      this.running.set(channelId, trials);
    }
    const found = await trials;
    const after = found.map(({ key, verdict, status }) => ({ key, verdict, status }));
    await inEntityTransaction(this.source, ({ client }) =>
      audit(client, { ...by, action: 'channel.tested', subject: `channel:${channelId}`, after }),
    );
    return found;
  }

  async close(): Promise<void> {
    await this.upstreams.close();
  }

  private async tryChannel(channelId: string): Promise<MarkedTrial[]> {
    const { channels } = await loadCatalog(this.pool);
    const stored = channels.find(({ id }) => id === channelId);
    if (!stored) throw new ApiError('not_found', `There is no channel ${channelId}.`);
    const channel = withOpenKeys(stored, this.options.secrets);
    const trials = await this.upstreams.probeKeys(channel, this.options.timeoutMs);
    return trials.map((trial) => ({
      ...trial,
      keyMark: keyMark({ apiKey: channel.apiKeys[trial.key - 1] ?? '' }),
    }));
  }
}
