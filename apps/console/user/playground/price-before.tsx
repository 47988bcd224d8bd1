import { Alert, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, keepShown, queryClient, type Shape } from '../../api/client.js';
import { exactDecimal } from '../../ui/decimal.js';
import { useLocale } from '../../ui/locale.js';
import { BothPrices, Money } from '../../ui/money.js';
import { ErrorState } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { type PlayKind, type PlayValues, quoteRequest } from './call.js';

const TYPING_PAUSE_MS = 400;

/** The key that would be charged, or the group of the first key to create. */
export type PricePlace = { keyId: string } | { group: string };

interface Priced {
  kind: PlayKind;
  model: Shape<'ListedModel'>;
  /** Null: no price to ask for. */
  place: PricePlace | null;
  values: PlayValues;
}

type PricedCall = ReturnType<typeof quoteRequest> & PricePlace;

const QUOTES = ['quote'];

function quoteOf(body: PricedCall) {
  return {
    queryKey: [...QUOTES, body],
    queryFn: async () => (await api.POST('/api/quote', { body })).data!,
  };
}

/** Priced by the code that charges, before anything is sent. */
export function usePrice({ kind, model, place, values }: Priced) {
  const wanted = JSON.stringify({ ...quoteRequest(kind, model, values), ...place });
  const [asked] = useDebouncedValue(wanted, TYPING_PAUSE_MS);
  const body = JSON.parse(asked) as PricedCall;
  const quote = useQuery({ ...quoteOf(body), enabled: place !== null, ...keepShown });
  /** Null until the price of the current input is known. */
  const current = asked === wanted && !quote.isPlaceholderData ? (quote.data ?? null) : null;
  return { quote, current };
}

/** Marks quotes as stale. They contain the balance, so call it after paid work. */
export function refreshQuotes(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: QUOTES });
}

type CallPrice = ReturnType<typeof usePrice>;

/** Checked right before the call, in case the price changed since it was shown. */
export async function priceNow(
  { kind, model, values }: Omit<Priced, 'place'>,
  keyId: string,
): Promise<string> {
  const body = { ...quoteRequest(kind, model, values), keyId };
  return (await queryClient.fetchQuery({ ...quoteOf(body), staleTime: 0 })).amount;
}

export function PriceBefore({ price: { quote } }: { price: CallPrice }) {
  const { t } = useTranslation('calls');
  if (quote.error && !quote.data)
    return <ErrorState error={quote.error} retry={() => void quote.refetch()} />;
  if (!quote.data) return <Skeleton height={56} />;
  const { amount, balance, covered, estimate } = quote.data;
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
      <Derivation quote={quote.data} />
      {!covered && <Alert color="yellow">{t('play.notCovered')}</Alert>}
    </Stack>
  );
}

function Derivation({ quote }: { quote: NonNullable<CallPrice['current']> }) {
  const { t } = useTranslation('calls');
  const locale = useLocale();
  const { units, unitPrice, multiplier, estimate } = quote;
  const decimal = (value: string) => exactDecimal(value, locale);
  return (
    <>
      {unitPrice !== null && (
        <Hint>
          {decimal(units)} × <Money value={unitPrice} /> × {decimal(multiplier)}
        </Hint>
      )}
      {estimate && (
        <Hint>
          {t('play.estimate', { input: decimal(estimate.likelyInput), output: decimal(estimate.output) })}
        </Hint>
      )}
    </>
  );
}
