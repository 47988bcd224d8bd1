import { Radio, Stack, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import type { Shape } from '../../api/shape.js';
import { exactDecimal } from '../../ui/decimal.js';
import { useLocale } from '../../ui/locale.js';
import { useMoneyText, usePaidFor } from '../../ui/money.js';
import { Loaded } from '../../ui/states.js';
import { marketQuery } from '../../visitor/market.js';
import type { RuleValues } from './token-rules.js';

interface GroupOffer {
  name: string;
  multiplier: string;
  /** Credits for each call, where the group has one price for all. */
  fixedPrice: string | null;
  models: number;
}

/** The group of a key decides which models it reaches and what they cost, so each says both. */
export function GroupField({ form }: { form: UseFormReturnType<RuleValues> }) {
  const { t } = useTranslation('tokens');
  const market = useQuery(marketQuery);
  const own = $api.useQuery('get', '/api/groups').data?.groups;
  return (
    <Loaded query={market} lines={4}>
      {(models) => (
        <Radio.Group
          label={t('fields.group')}
          description={t('fields.groupHint')}
          required
          {...form.getInputProps('group')}
        >
          <Stack gap="xs" mt="xs">
            {groupsOf(models, own ?? []).map((group) => (
              <Radio
                key={group.name}
                value={group.name}
                label={group.name}
                description={<Explained group={group} />}
              />
            ))}
            {models.length === 0 && <Text size="sm">{t('fields.noGroups')}</Text>}
          </Stack>
        </Radio.Group>
      )}
    </Loaded>
  );
}

function Explained({ group: { multiplier, fixedPrice, models } }: { group: GroupOffer }) {
  const { t } = useTranslation('tokens');
  const locale = useLocale();
  const money = useMoneyText();
  const paidFor = usePaidFor();
  const both = (credits: string) => {
    const paid = paidFor(credits);
    return paid === null ? money(credits) : `${money(credits)} (${paid})`;
  };
  const price =
    fixedPrice === null
      ? t('fields.multiplied', { multiplier: exactDecimal(multiplier, locale) })
      : t('fields.fixed', { price: both(fixedPrice) });
  return (
    <>
      {price} {t('count.models', { count: models })}
    </>
  );
}

/** The groups of the price list that the account has, by name. */
function groupsOf(models: readonly Shape<'ListedModel'>[], own: readonly string[]): GroupOffer[] {
  const groups = new Map<string, GroupOffer>();
  for (const { groups: each } of models) {
    for (const { group: name, multiplier, rule, price } of each) {
      const before = groups.get(name);
      const fixedPrice = rule === 'fixed_per_call' && 'unitPrice' in price ? price.unitPrice : null;
      groups.set(name, { name, multiplier, fixedPrice, models: (before?.models ?? 0) + 1 });
    }
  }
  const granted = [...groups.values()].filter(({ name }) => own.includes(name));
  return granted.sort((a, b) => a.name.localeCompare(b.name));
}
