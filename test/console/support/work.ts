import type { paths } from '#apps/console/api/schema.js';
import type { Person } from '../../support/console.js';
import { json, type Relay, until } from '../../support/relay.js';

type Task = paths['/api/tasks']['get']['responses'][200]['content']['application/json']['items'][number];

/** A key of this person in the group with the most models. */
export async function keyOf({ api }: Person, name = 'studio'): Promise<string> {
  const { data } = await api.POST('/api/keys', { body: { name, group: 'Vendora-Main' } });
  return data!.keyId;
}

/** Deletes the key that a test account comes with. */
export async function withoutKeys({ api }: Person): Promise<void> {
  const { data } = await api.GET('/api/keys');
  for (const { keyId } of data!.items) await api.DELETE('/api/keys/{keyId}', { params: { path: { keyId } } });
}

/**
 * A call as the playground makes it. The gateway answers, so the control plane's document does not describe the answer.
 */
export async function play(
  relay: Pick<Relay, 'consoleUrl'>,
  { headers }: Person,
  call: { keyId: string; path: string; body: object },
): Promise<{ id: string }> {
  const init = json(call.body, { ...headers, 'x-tollgate-key': call.keyId });
  const response = await fetch(`${relay.consoleUrl}/api/playground/v1/${call.path}`, init);
  return (await response.json()) as { id: string };
}

/** A sandbox video that has ended. */
export async function endedVideo(
  relay: Pick<Relay, 'consoleUrl'>,
  someone: Person,
  { keyId, ...more }: { keyId: string; prompt: string; size?: string },
): Promise<Task> {
  const body = { model: 'vendora-imagine-video', seconds: '4', resolution: '720p', ...more };
  const { id } = await play(relay, someone, { keyId, path: 'videos', body });
  return ended(someone, id);
}

/** A sandbox 3D model that has ended. */
export async function endedMesh(
  relay: Pick<Relay, 'consoleUrl'>,
  someone: Person,
  { keyId, ...more }: { keyId: string } & ({ prompt: string } | { image: string }),
): Promise<Task> {
  const { id } = await play(relay, someone, { keyId, path: '3d', body: { model: 'vendora-3d', ...more } });
  return ended(someone, id);
}

function ended(someone: Person, taskId: string): Promise<Task> {
  return until('the task to end', async () => {
    const { data } = await someone.api.GET('/api/tasks/{taskId}', { params: { path: { taskId } } });
    const isPosted = data?.endedAt != null && (data.settled ?? data.released) !== null;
    return isPosted ? data : undefined;
  });
}
