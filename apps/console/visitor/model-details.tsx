import { Group, List, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { column, textColumn } from '../ui/lists/columns.js';
import { Column } from '../ui/lists/data-list.js';
import { exactDecimal } from '../ui/decimal.js';
import { useLocale } from '../ui/locale.js';
import { PlainTable } from '../ui/lists/plain-table.js';
import { Section } from '../ui/states.js';
import { Availability } from './market-cards.js';
import type { Model } from './market.js';
import { ModelHistory } from './model-history.js';
import { PriceText } from './price.js';

/** Everything that the price list knows of a model. */
export function ModelDetails({ model }: { model: Model }) {
  const { t } = useTranslation('visitor');
  return (
    <Stack gap="lg">
      <Stack gap="xs">
        <Group>
          <Text c="dimmed">
            {t(`market.families.${model.family}`)} · {model.vendor}
          </Text>
          <Availability available={model.available} />
        </Group>
        <Text component="div" size="lg" fw={600}>
          <PriceText price={model.listPrice} unit={model.unit} />
        </Text>
        {model.aliasOf && <Text>{t('market.aliasOf', { model: model.aliasOf })}</Text>}
      </Stack>
      <Section title={t('market.groupsTitle')}>
        <Groups model={model} />
      </Section>
      <Section title={t('market.limitsTitle')}>
        <ModelLimits limits={model.limits} />
      </Section>
      <Section title={t('market.historyTitle')}>
        <ModelHistory model={model} />
      </Section>
    </Stack>
  );
}

function Groups({ model }: { model: Model }) {
  const { t } = useTranslation('visitor');
  const locale = useLocale();
  const columns: Column<Model['groups'][number]>[] = [
    textColumn('group', t('market.group')),
    column('multiplier', t('market.columns.multiplier'), ({ multiplier, rule }) =>
      rule === 'fixed_per_call' ? t('market.fixed') : `× ${exactDecimal(multiplier, locale)}`,
    ),
    column('price', t('market.columns.price'), ({ price, rule }) => (
      <PriceText price={price} unit={rule === 'fixed_per_call' ? 'call' : model.unit} />
    )),
  ];
  return (
    <PlainTable
      label={t('market.groupsTitle')}
      columns={columns}
      rows={model.groups}
      rowKey={({ group }) => group}
    />
  );
}

const LIMITS = [
  'maxImages',
  'minInputImages',
  'defaultSeconds',
  'minSeconds',
  'maxSeconds',
  'resolutions',
  'aspectRatios',
  'sizes',
  'maxInputTokens',
  'maxOutputTokens',
  'maxChoices',
] as const;

/** The limits of a model as a list of sentences. */
export function ModelLimits({ limits }: { limits: Model['limits'] }) {
  const { t } = useTranslation('visitor');
  const locale = useLocale();
  const set = LIMITS.filter((name) => limits[name] !== undefined);
  if (set.length === 0) return <Text size="sm">{t('market.noLimits')}</Text>;
  return (
    <List size="sm">
      {set.map((name) => {
        const limit = limits[name];
        const value = typeof limit === 'number' ? limit.toLocaleString(locale) : (limit ?? []).join(', ');
        return <List.Item key={name}>{t(`market.limits.${name}`, { value })}</List.Item>;
      })}
    </List>
  );
}
