import { List, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { column, textColumn } from '../../ui/lists/columns.js';
import { ListColumn } from '../../ui/lists/data-list.js';
import { exactDecimal } from '../../ui/decimal.js';
import { useLocale } from '../../ui/locale.js';
import { PlainTable } from '../../ui/lists/plain-table.js';
import { unitIn } from './market.js';
import { PriceWithUnit } from './price.js';

export function ModelGroups({ model }: { model: Shape<'ListedModel'> }) {
  const { t } = useTranslation('visitor');
  const locale = useLocale();
  const columns: ListColumn<Shape<'ListedModel'>['groups'][number]>[] = [
    textColumn('group', t('market.group')),
    column('multiplier', t('market.columns.multiplier'), ({ multiplier, rule }) =>
      rule === 'fixed_per_call' ? t('market.fixed') : `× ${exactDecimal(multiplier, locale)}`,
    ),
    column('price', t('market.columns.price'), ({ price, rule }) => (
      <PriceWithUnit price={price} unit={unitIn(model, rule)} />
    )),
  ];
  return <PlainTable label={t('market.groupsTitle')} columns={columns} rows={model.groups} rowKey="group" />;
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

export function LimitList({ limits }: { limits: Shape<'ListedModel'>['limits'] }) {
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
