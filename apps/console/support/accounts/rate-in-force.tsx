import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { relayQuery } from '../../api/client.js';
import { useMoneyText } from '../../ui/money.js';

export function RateInForce({ rate }: { rate: string }) {
  const { t } = useTranslation('support');
  const { data } = useQuery(relayQuery);
  const money = useMoneyText(data?.paymentCurrency);
  return <Text size="sm">{t('rate.inForce', { rate: data ? money(rate) : rate })}</Text>;
}
