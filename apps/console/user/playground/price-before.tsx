import { Alert, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { $api, queryClient } from '../../api/client.js';
import { keepShown } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { exactDecimal } from '../../ui/decimal.js';
import { useLocale } from '../../ui/locale.js';
import { BothPrices, Money } from '../../ui/money.js';
import { ErrorState } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { type PlayKind, type PlayValues, quoteRequest } from './call.js';

const TYPING_PAUSE_MS = 400;

/** Whose price: that of a key, or of the group in which the first one will be created. */
export type PricePlace = { keyId: string } | { group: string };

interface Priced {
  kind: PlayKind;
  model: Shape<'ListedModel'>;
  /** Null: there is no price to ask for. */
  place: PricePlace | null;
  values: PlayValues;
}

/** What the call will cost, from the code that charges it, before anything is sent. */
export function usePrice({ kind, model, place, values }: Priced) {
  const wanted = JSON.stringify({ ...quoteRequest(kind, model, values), ...place });
  const [asked] = useDebouncedValue(wanted, TYPING_PAUSE_MS);
  const body = JSON.parse(asked) as ReturnType<typeof quoteRequest> & PricePlace;
  const quote = $api.useQuery('post', '/api/quote', { body }, { enabled: place !== null, ...keepShown });
  /** Null while the price of what is typed now is not known. */
  const current = asked === wanted && !quote.isPlaceholderData ? (quote.data ?? null) : null;
  return { quote, current };
}

type CallPrice = ReturnType<typeof usePrice>;

/** What a call of a key costs now, in credits: the last look before it is made. The page shows what comes of it. */
export async function priceNow(
  { kind, model, values }: Omit<Priced, 'place'>,
  keyId: string,
): Promise<string> {
  const body = { ...quoteRequest(kind, model, values), keyId };
  const quote = $api.queryOptions('post', '/api/quote', { body });
  return (await queryClient.fetchQuery({ ...quote, staleTime: 0 })).amount;
}

export function PriceBefore({ price: { quote } }: { price: CallPrice }) {
  const { t } = useTranslation('calls');
  const locale = useLocale();
  if (quote.error && !quote.data)
    return <ErrorState error={quote.error} retry={() => void quote.refetch()} />;
  if (!quote.data) return <Skeleton height={56} />;
  const { amount, balance, covered, units, unitPrice, multiplier, estimate } = quote.data;
  return (
    <Stack gap="xs" role="status" aria-busy={quote.isPlaceholderData}>
      <Group justify="space-between">
        <Text fw={600}>
          {t(estimate ? 'play.priceAtMost' : 'play.price')} <BothPrices value={amount} />
        </Text>
        <Hint>
          {t('play.balance')} <Money value={balance} short />
        </Hint>
      </Group>
      {unitPrice !== null && (
        <Hint>
          {exactDecimal(units, locale)} × <Money value={unitPrice} /> × {exactDecimal(multiplier, locale)}
        </Hint>
      )}
      {estimate && (
        <Hint>
          {t('play.estimate', {
            input: exactDecimal(estimate.likelyInput, locale),
            output: exactDecimal(estimate.output, locale),
          })}
        </Hint>
      )}
      {!covered && <Alert color="yellow">{t('play.notCovered')}</Alert>}
    </Stack>
  );
}
