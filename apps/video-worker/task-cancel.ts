import type { CatalogCache } from '#catalog/catalog.cache.js';
import type { Logger } from '#platform/logging.js';
import type { LeasedTask } from '#tasks/leased-task.js';
import type { Upstreams } from '#upstream/adapters.js';
import { channelOf } from './channel-of.js';

/** Cancels upstream work that nobody waits for, after its end is committed, because it may still cost. Never throws. */
export async function cancelAtVendor(
  { catalog, upstreams, log }: { catalog: CatalogCache; upstreams: Upstreams; log: Logger },
  { id: taskId, upstreamId, ...task }: LeasedTask,
): Promise<void> {
  if (upstreamId === null) return;
  try {
    const channel = await channelOf(catalog, task);
    const isAsked = channel && (await upstreams.adapterFor(channel.protocol).cancelTask(channel, upstreamId));
    if (isAsked) log.info({ taskId, channel: channel.id }, 'the upstream was asked to cancel');
  } catch (error) {
    log.warn({ err: error, taskId }, 'the upstream could not be asked to cancel');
  }
}
