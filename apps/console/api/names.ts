import { useQuery } from '@tanstack/react-query';
import { mayAny, useSession } from '../shell/session.js';
import { ID } from '../ui/patterns.js';
import { api } from './client.js';

/** What has a name as well as an id. */
export type NamedKind = 'account' | 'user' | 'key';

/** Names rarely change. */
const STALE_MS = 300_000;
/** The server's limit. */
const MOST = 100;

type Answered = (name: string | null) => void;

let waiting = new Map<string, { answered: Answered[]; failed: ((error: unknown) => void)[] }>();

/** Looks up a name. Lookups at the same moment share one request. */
function nameOf(ref: string): Promise<string | null> {
  return new Promise((answered, failed) => {
    if (waiting.size === 0) setTimeout(() => void askAll());
    const of = waiting.get(ref) ?? { answered: [], failed: [] };
    of.answered.push(answered);
    of.failed.push(failed);
    waiting.set(ref, of);
  });
}

async function askAll(): Promise<void> {
  const all = [...waiting];
  waiting = new Map();
  for (let from = 0; from < all.length; from += MOST) {
    const part = all.slice(from, from + MOST);
    try {
      const query = { of: part.map(([ref]) => ref).join() };
      const { items } = (await api.GET('/api/support/names', { params: { query } })).data!;
      const names = new Map(items.map(({ kind, id, name }) => [`${kind}:${id}`, name]));
      for (const [ref, { answered }] of part) for (const answer of answered) answer(names.get(ref) ?? null);
    } catch (error) {
      for (const [, { failed }] of part) for (const fail of failed) fail(error);
    }
  }
}

/** The name of something; null until it is loaded, and for people who may not see it. */
export function useName(kind: NamedKind, id: string): string | null {
  const isStaff = mayAny(useSession(), ['support', 'finance', 'admin']);
  const ref = `${kind}:${id}`;
  const { data } = useQuery({
    queryKey: ['name', ref],
    queryFn: () => nameOf(ref),
    staleTime: STALE_MS,
    enabled: isStaff && ID.test(id),
  });
  return data ?? null;
}
