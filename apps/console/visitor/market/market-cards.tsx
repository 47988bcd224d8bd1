import { Badge, Card, Group, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { exactDecimal } from '../../ui/decimal.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { Money } from '../../ui/money.js';
import { EmptyState } from '../../ui/states.js';
import { Hint, Labelled } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { Headline } from './price.js';

const SKELETONS = 6;
const COLUMNS = { base: 1, sm: 2, lg: 3 };

export function MarketCards({ models }: { models: readonly Shape<'ListedModel'>[] | undefined }) {
  if (models?.length === 0) return <NoModels />;
  return (
    <SimpleGrid cols={COLUMNS} aria-busy={models === undefined}>
      {models
        ? models.map((model) => <ModelCard key={model.id} model={model} />)
        : Array.from({ length: SKELETONS }, (_, card) => <Skeleton key={card} height={170} />)}
    </SimpleGrid>
  );
}

export function NoModels() {
  const { t } = useTranslation('visitor');
  return (
    <EmptyState
      {...t('market.empty')}
      action={
        <ButtonLink to="/marketplace" variant="default">
          {t('market.clear')}
        </ButtonLink>
      }
    />
  );
}

/** Whether the configuration has a channel for the model. */
export function Availability({ available }: { available: boolean }) {
  const { t } = useTranslation('visitor');
  return (
    <StatusBadge
      tone={available ? 'good' : 'quiet'}
      {...(available ? { hint: t('market.availableHint') } : {})}
    >
      {available ? t('market.available') : t('market.unavailable')}
    </StatusBadge>
  );
}

/** Prices with several amounts are shown in the details. */
function GroupPrice({
  group: { group, price, multiplier },
}: {
  group: Shape<'ListedModel'>['groups'][number];
}) {
  const locale = useLocale();
  if ('unitPrice' in price && !price.rates) {
    return (
      <Labelled label={group}>
        <Money value={price.unitPrice} />
      </Labelled>
    );
  }
  return `${group} × ${exactDecimal(multiplier, locale)}`;
}

function ModelCard({ model }: { model: Shape<'ListedModel'> }) {
  const { t } = useTranslation('visitor');
  const { group } = useSearch({ from: '/visitor/marketplace' });
  return (
    <Card withBorder component="article" className="tile">
      <Stack gap="xs" h="100%">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Name id={model.id} />
          <Availability available={model.available} />
        </Group>
        <Hint>
          {t(`market.families.${model.family}`)} · {model.vendor}
        </Hint>
        <Text component="div" fw={600}>
          <Headline model={model} group={group} />
        </Text>
        {model.aliasOf && <Text size="sm">{t('market.aliasOf', { model: model.aliasOf })}</Text>}
        {model.nextChangeAt && <Text size="sm">{t('market.changes')}</Text>}
        <GroupPrices groups={model.groups} />
      </Stack>
    </Card>
  );
}

function Name({ id }: { id: string }) {
  return (
    <Title order={2} size="h4" className="model-name">
      <TextLink
        to="/marketplace/$model"
        params={{ model: id }}
        className="tile-link"
        inherit
        c="inherit"
        underline="never"
      >
        {id}
      </TextLink>
    </Title>
  );
}

function GroupPrices({ groups }: Pick<Shape<'ListedModel'>, 'groups'>) {
  return (
    <Group gap="xs" mt="auto">
      {groups.map((each) => (
        <Badge key={each.group} variant="default" tt="none">
          <GroupPrice group={each} />
        </Badge>
      ))}
    </Group>
  );
}
