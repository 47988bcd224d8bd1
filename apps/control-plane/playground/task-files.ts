import type { Task } from '#tasks/task.js';

const KINDS = {
  video: { path: '/v1/videos', ending: 'mp4' },
  '3d': { path: '/v1/3d', ending: 'glb' },
} as const;

/** Where the gateway has the file of a task, and the name under which it is saved. */
export function taskFileOf({ id, kind }: Pick<Task, 'id' | 'kind'>): { path: string; name: string } {
  const { path, ending } = KINDS[kind];
  return { path: `${path}/${id}/content`, name: `${id}.${ending}` };
}
