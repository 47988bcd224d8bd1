import { type GetAnswer, keepAnswer, queryClient, type Shape, useRead } from '../../api/client.js';
import { useLive } from '../../shell/live.js';

type TaskPage = GetAnswer<'/api/tasks'>;

export interface TaskSearch {
  kind?: Shape<'Task'>['kind'] | undefined;
  state?: Shape<'Task'>['state'] | 'running' | undefined;
  model?: string | undefined;
  keyId?: string | undefined;
}

/** A fallback for when the live connection breaks. */
const LONGEST_SILENCE_MS = 10_000;

export function isTaskRunning(task: Pick<Shape<'Task'>, 'state'>): boolean {
  return task.state === 'queued' || task.state === 'in_progress';
}

export function useTask(taskId: string) {
  useLiveTasks();
  return useRead(
    '/api/tasks/{taskId}',
    { path: { taskId } },
    {
      refetchInterval: ({ state }) => (state.data && isTaskRunning(state.data) ? LONGEST_SILENCE_MS : false),
    },
  );
}

/** Applies live updates to all tasks in the cache. */
export function useLiveTasks(filter?: TaskSearch): void {
  useLive((event, data) => {
    if (event === 'task') take(data as Shape<'Task'>, filter);
  });
}

function take(task: Shape<'Task'>, filter: TaskSearch | undefined): void {
  keepAnswer('/api/tasks/{taskId}', { path: { taskId: task.id } }, task);
  let isNew = false;
  queryClient.setQueriesData<TaskPage>({ queryKey: ['get', '/api/tasks'] }, (page) => {
    if (!page) return page;
    const isListed = page.items.some(({ id }) => id === task.id);
    if (isListed) return { ...page, items: page.items.map((each) => (each.id === task.id ? task : each)) };
    // Ids sort by time.
    isNew ||= filter !== undefined && fits(task, filter) && task.id > (page.items[0]?.id ?? '');
    return page;
  });
  if (isNew) void queryClient.invalidateQueries({ queryKey: ['get', '/api/tasks'] });
}

function fits(task: Shape<'Task'>, { kind, state, model, keyId }: TaskSearch): boolean {
  return (
    (!kind || task.kind === kind) &&
    (!state || task.state === state || (state === 'running' && isTaskRunning(task))) &&
    (!model || task.model === model) &&
    (!keyId || task.keyId === keyId)
  );
}
