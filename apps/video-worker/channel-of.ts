import type { CatalogCache } from '#catalog/catalog.cache.js';
import { type Channel, withMarkedKey } from '#catalog/catalog.js';
import type { Task } from '#tasks/task.js';

/** The channel of a task, with the key that created it. A disabled channel still works on what it accepted. */
export async function channelOf(
  catalog: CatalogCache,
  task: Pick<Task, 'channelId' | 'channelKey'>,
): Promise<Channel | undefined> {
  const find = async () => {
    const channel = (await catalog.get()).channels.find(({ id }) => id === task.channelId);
    return channel && withMarkedKey(channel, task.channelKey);
  };
  const known = await find();
  if (known) return known;
  catalog.drop();
  return find();
}
