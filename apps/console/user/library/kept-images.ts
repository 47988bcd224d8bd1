import { useQuery } from '@tanstack/react-query';
import { $api, api } from '../../api/client.js';
import type { Shape } from '../../api/shape.js';
import { useNow } from '../../ui/time/now.js';

const MINUTE_MS = 60_000;
/** More than any call takes. */
const LONGEST_CALL_SECONDS = 600;

/** As the gateway lists them, whose answers the control plane passes on. */
interface Listed {
  data: { index: number; url: string; expires_at: number }[];
}

export interface KeptImage {
  index: number;
  /** At our own origin: pages load nothing from others. */
  src: string;
  expiresMs: number;
}

/** How long images are kept whose call asked for links; null until it is known. */
export function useImageLife(): number | null {
  const { data } = $api.useQuery('get', '/api/public/retention');
  return data?.items.find((kept) => kept.class === 'images')?.keptSeconds ?? null;
}

/** The images of a request whose files are still there; undefined until that is known. `isWanted`: somebody looks. */
export function useKeptImages(
  { chargeId, at }: Shape<'UsageEntry'>,
  isWanted: boolean,
): KeptImage[] | undefined {
  const life = useImageLife();
  const now = useNow(MINUTE_MS);
  // They are kept from the end of the call, which is later than its begin.
  const mayBeThere = life !== null && Date.parse(at) + (life + LONGEST_CALL_SECONDS) * 1_000 > now;
  const { data } = useQuery({
    queryKey: ['kept-images', chargeId],
    enabled: isWanted && mayBeThere,
    queryFn: async () => {
      const path = { chargeId };
      const answer = await api.GET('/api/charges/{chargeId}/images', { params: { path } });
      return imagesOf(chargeId, answer.data as Listed);
    },
  });
  if (life !== null && !mayBeThere) return [];
  return data?.filter(({ expiresMs }) => expiresMs > now);
}

function imagesOf(chargeId: string, { data }: Listed): KeptImage[] {
  return data.map(({ index, url, expires_at }) => {
    const { pathname, search } = new URL(url);
    const name = pathname.split('/').at(-1) ?? '';
    return { index, src: `/api/charges/${chargeId}/images/${name}${search}`, expiresMs: expires_at * 1_000 };
  });
}
