import { Group, Radio, Stack, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { exactDecimal } from '../../ui/decimal.js';
import { useLocale } from '../../ui/locale.js';
import { useMoneyText, usePaidFor } from '../../ui/money.js';
import { Hint, SmallPrint } from '../../ui/texts.js';
import type { GroupOffer } from './group-offers.js';
import type { RuleValues } from './token-rules.js';

/** A card has room for this many. */
const MOST_MODELS = 6;

interface GroupFieldProps {
  form: UseFormReturnType<RuleValues>;
  offers: readonly GroupOffer[];
}

/** Each card says which models the group has and what they cost. */
export function GroupField({ form, offers }: GroupFieldProps) {
  const { t } = useTranslation('tokens');
  return (
    <Radio.Group
      label={t('fields.group')}
      description={t('fields.groupHint')}
      required
      {...form.getInputProps('group')}
    >
      <Stack gap="xs" mt="xs">
        {offers.map((offer) => (
          <GroupCard key={offer.name} offer={offer} />
        ))}
        {offers.length === 0 && <Text size="sm">{t('fields.noGroups')}</Text>}
      </Stack>
    </Radio.Group>
  );
}

function GroupCard({ offer }: { offer: GroupOffer }) {
  const { name } = offer;
  const detailsId = useId();
  return (
    <Radio.Card value={name} aria-label={name} aria-describedby={detailsId} p="sm" withBorder>
      <Group wrap="nowrap" align="flex-start">
        <Radio.Indicator />
        <Stack gap="hair">
          <Text size="sm" fw={600}>
            {name}
          </Text>
          <Stack gap="hair" id={detailsId}>
            <Hint>
              <Terms offer={offer} />
            </Hint>
            <SmallPrint>
              <Models offer={offer} />
            </SmallPrint>
          </Stack>
        </Stack>
      </Group>
    </Radio.Card>
  );
}

function Models({ offer: { models } }: { offer: GroupOffer }) {
  const { t } = useTranslation('tokens');
  const left = models.length - MOST_MODELS;
  return (
    <>
      <span className="model-name">{models.slice(0, MOST_MODELS).join(', ')}</span>{' '}
      {left > 0 && t('count.moreModels', { count: left })}
    </>
  );
}

/** The chosen group while the cards are hidden. */
export function GroupOfKey({ offer }: { offer: GroupOffer | undefined }) {
  const { t } = useTranslation('tokens');
  if (!offer) return null;
  return (
    <Hint>
      {t('fields.inGroup', { group: offer.name })} <Terms offer={offer} />
    </Hint>
  );
}

function Terms({ offer: { multiplier, fixedPrice, models } }: { offer: GroupOffer }) {
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
  return t('fields.terms', { models: t('count.models', { count: models.length }), price });
}
