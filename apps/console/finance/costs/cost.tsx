import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Item } from '../../api/client.js';
import { Money } from '../../ui/money.js';
import { COSTS } from '../../ui/decimal.js';
import { mediaTokenNames } from '../../api/token-names.js';

const TOKENS = ['input', 'cachedInput', 'output', ...mediaTokenNames] as const;

/** What a channel charges us for a model, per unit or per type of token. */
export function Cost({ cost }: { cost: Item<'/api/finance/upstream-costs'>['cost'] }) {
  const { t } = useTranslation('costs');
  if (cost === null) return t('versions.withdrawn');
  if ('unitCost' in cost) return <Money value={cost.unitCost} currency={COSTS} />;
  return (
    <Stack gap={0} align="flex-end">
      {TOKENS.filter((name) => cost[name] !== undefined).map((name) => (
        <Text key={name} size="sm" component="div">
          {t(`tokens.${name}`)} <Money value={cost[name]!} currency={COSTS} />
        </Text>
      ))}
    </Stack>
  );
}
