import { useQuery } from '@tanstack/react-query';
import { api, type Shape, useRead } from '../../api/client.js';
import { useNow } from '../../ui/time/now.js';

const MINUTE_MS = 60_000;
/** Longer than any call takes. */
const LONGEST_CALL_SECONDS = 600;

/** The gateway's answer, passed on by the control plane. */
interface Listed {
  data: { index: number; url: string; expires_at: number }[];
}

export interface KeptImage {
  index: number;
  /** On our own origin: pages load nothing from others. */
  src: string;
  expiresMs: number;
}

/** How long images requested as links are kept; null until known. */
export function useImageLife(): number | null {
  const { data } = useRead('/api/public/retention');
  return data?.items.find((kept) => kept.class === 'images')?.keptSeconds ?? null;
}

/** Undefined until known. `isWanted`: the card is visible. */
export function useKeptImages(
  { chargeId, at }: Shape<'UsageEntry'>,
  isWanted: boolean,
): KeptImage[] | undefined {
  const life = useImageLife();
  const now = useNow(MINUTE_MS);
  // They are kept from the end of the call, which is later than its start.
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
