import { Button, Card, Chip, Group, Radio, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useSearch, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { api, relayQuery, useShown } from '../../api/client.js';
import { asFailure } from '../../api/failure.js';
import { FormFault, useFieldError, useSend } from '../../ui/forms/form.js';
import { LeaveGuard } from '../../ui/forms/leave-guard.js';
import { unitSection } from '../../ui/forms/text-fields.js';
import { Money, useMoneyText } from '../../ui/money.js';
import { Section } from '../../ui/page.js';
import { ErrorState } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { type Provider, type TopUpQuote, refreshMoney, useRequestName } from './wallet.js';
import { CREDITS, PAYMENT } from '../../ui/patterns.js';

const USUAL = '10';
const OFTEN = ['10', '20', '50', '100'];
const TYPING_MS = 250;

type Way = 'credits' | 'pay';
type Values = {
  way: Way;
  credits: string;
  pay: string;
  provider: Provider | null;
};
type ValuesForm = UseFormReturnType<Values>;

export function TopUp() {
  const { t } = useTranslation('wallet');
  const { credits } = useSearch({ from: '/user/wallet' });
  return (
    <Section title={t('topUp.title')}>
      <Card withBorder maw="44rem" w="100%">
        <TopUpForm credits={credits} />
      </Card>
    </Section>
  );
}

interface TopUpFormProps {
  credits?: string | undefined;
  /** Called before the page is left for the payment. */
  ordered?: (orderId: string) => void;
}

function useValues(credits: string): ValuesForm {
  const { t } = useTranslation('wallet');
  return useForm<Values>({
    initialValues: {
      way: 'credits',
      credits: CREDITS.test(credits) ? credits : USUAL,
      pay: '13',
      provider: null,
    },
    validate: {
      credits: (value, { way }) =>
        way === 'pay' || CREDITS.test(value.trim()) ? null : t('topUp.unreadable'),
      pay: (value, { way }) =>
        way === 'credits' || PAYMENT.test(value.trim()) ? null : t('topUp.unreadable'),
    },
  });
}

/** Shows price and credits before anything is ordered. */
export function TopUpForm({ credits = USUAL, ordered }: TopUpFormProps) {
  const form = useValues(credits);
  const { way } = form.values;
  const { quote, isOutdated } = useQuote(way, form.values[way]);
  const providers = quote.data?.providers ?? [];
  const { onSubmit, isSending, failure } = useOrder(form, { providers, ordered });
  const fault = quote.error ? asFailure(quote.error) : null;
  const errorOf = useFieldError();
  const isWrong = fault?.param === way;
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <LeaveGuard isDirty={form.isDirty} filledBy={(search) => search['credits']} />
      <Amount form={form} error={isWrong ? errorOf(fault) : null} />
      {fault && !isWrong && <ErrorState error={fault} retry={() => void quote.refetch()} />}
      <Offer quote={isWrong ? undefined : quote.data} />
      <Providers form={form} providers={quote.data?.providers} />
      <FormFault error={failure} />
      <Submit quote={isWrong ? undefined : quote.data} isOutdated={isOutdated} isSending={isSending} />
    </form>
  );
}

/** The last quote stays until the next one arrives. Until then it is outdated. */
function useQuote(way: Way, typed: string) {
  const [wish] = useDebouncedValue(typed.trim(), TYPING_MS);
  const pattern = way === 'credits' ? CREDITS : PAYMENT;
  const query = way === 'credits' ? { credits: wish } : { pay: wish };
  const quote = useShown('/api/topups/quote', { query }, { enabled: pattern.test(wish) });
  // An amount that cannot be read has no quote. The form refuses it when it is sent.
  const isOutdated = pattern.test(typed.trim()) && (quote.isPlaceholderData || wish !== typed.trim());
  return { quote, isOutdated };
}

interface Ordering {
  providers: readonly Provider[];
  ordered: TopUpFormProps['ordered'];
}

function useOrder(form: ValuesForm, { providers, ordered }: Ordering) {
  const navigate = useNavigate();
  const request = useRequestName();
  return useSend({
    form,
    send: async ({ way, provider: chosen, ...amounts }) => {
      const wish = way === 'credits' ? { credits: amounts.credits.trim() } : { pay: amounts.pay.trim() };
      const provider = chosen ?? providers[0] ?? 'stripe';
      const requestId = request.of(JSON.stringify([wish, provider]));
      return (await api.POST('/api/topups', { body: { ...wish, provider, requestId } })).data!;
    },
    done: async ({ id, checkoutUrl }) => {
      form.resetDirty();
      request.forget();
      ordered?.(id);
      await refreshMoney();
      if (checkoutUrl === null) await navigate({ to: '/topups/$orderId', params: { orderId: id } });
      else window.location.assign(checkoutUrl);
    },
  });
}

function Amount({ form, error }: { form: ValuesForm; error: ReactNode }) {
  const { t } = useTranslation('wallet');
  const { way } = form.values;
  const currency = useQuery(relayQuery).data?.paymentCurrency;
  const input = form.getInputProps(way);
  return (
    <Stack gap="sm">
      <WayField form={form} />
      <TextInput
        key={way}
        label={t(`topUp.${way}`)}
        inputMode="decimal"
        autoComplete="off"
        required
        {...unitSection(way === 'credits' ? undefined : currency)}
        {...input}
        error={(input.error as string | undefined) ?? error}
      />
      {way === 'credits' && <OftenBought form={form} />}
    </Stack>
  );
}

function WayField({ form }: { form: ValuesForm }) {
  const { t } = useTranslation('wallet');
  const ways = [
    { value: 'credits', label: t('topUp.byCredits') },
    { value: 'pay', label: t('topUp.byPay') },
  ];
  return <SegmentedControl aria-label={t('topUp.way')} data={ways} {...form.getInputProps('way')} />;
}

function OftenBought({ form }: { form: ValuesForm }) {
  const { t } = useTranslation('wallet');
  const money = useMoneyText();
  return (
    <Chip.Group
      value={form.values.credits}
      onChange={(value) => form.setFieldValue('credits', String(value))}
    >
      <Group gap="xs" role="group" aria-label={t('topUp.often')}>
        {OFTEN.map((amount) => (
          <Chip key={amount} value={amount} size="sm">
            {money(amount)}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  );
}

function Offer({ quote }: { quote: TopUpQuote | undefined }) {
  const { t } = useTranslation('wallet');
  const money = useMoneyText(quote?.currency);
  return (
    <div role="status" className="offer">
      <div>
        <Hint>{t('topUp.youPay')}</Hint>
        <Text size="lg" fw={600} component="div">
          {quote ? <Money value={quote.pay} currency={quote.currency} /> : '–'}
        </Text>
      </div>
      <div>
        <Hint>{t('topUp.youGet')}</Hint>
        <Text size="lg" fw={600} component="div">
          {quote ? <Money value={quote.credits} /> : '–'}
        </Text>
      </div>
      <Text size="sm" c="dimmed" className="offer-rate">
        {quote && t('topUp.rate', { price: money(quote.rate) })}
      </Text>
    </div>
  );
}

function Providers({ form, providers }: { form: ValuesForm; providers: readonly Provider[] | undefined }) {
  const { t } = useTranslation('wallet');
  if (providers?.length === 0) return <Text>{t('topUp.noProvider')}</Text>;
  return (
    <Radio.Group
      label={t('topUp.provider')}
      {...form.getInputProps('provider')}
      value={form.values.provider ?? providers?.[0] ?? null}
    >
      <Stack gap="xs" mt="xs" mih="1.5rem">
        {providers?.map((name) => (
          <Radio
            key={name}
            value={name}
            label={t(`provider.${name}`)}
            description={t(`providerHint.${name}`)}
          />
        ))}
      </Stack>
    </Radio.Group>
  );
}

interface SubmitProps {
  quote: TopUpQuote | undefined;
  /** The quote is for another amount than the one entered, so nothing can be ordered yet. */
  isOutdated: boolean;
  isSending: boolean;
}

function Submit({ quote, isOutdated, isSending }: SubmitProps) {
  const { t } = useTranslation('wallet');
  const money = useMoneyText(quote?.currency);
  return (
    <Button
      type="submit"
      loading={isSending}
      disabled={!quote || isOutdated || quote.providers.length === 0}
      w="fit-content"
    >
      {quote ? t('topUp.submit', { amount: money(quote.pay) }) : t('topUp.submitNothing')}
    </Button>
  );
}
