import { Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { type Icon, IconBox, IconMessage, IconMovie, IconPhoto, IconVolume } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { SmallPrint } from '../../ui/texts.js';
import { marketQuery } from '../market/market-query.js';
import { Headline } from '../market/price.js';

type Model = Shape<'ListedModel'>;

const ICONS: Record<Model['family'], Icon> = {
  image: IconPhoto,
  video: IconMovie,
  chat: IconMessage,
  speech: IconVolume,
  '3d': IconBox,
};
/** What the relay is for comes first. */
const FAMILIES = ['image', 'video', '3d', 'chat', 'speech'] as const;
const MOST_OF_FAMILY = 2;
const MOST = 8;
const COLUMNS = { base: 1, xs: 2, md: 4 };

export function ModelWall() {
  const { t } = useTranslation('landing');
  const market = useQuery(marketQuery);
  return (
    <Section
      title={t('wall.title')}
      aside={
        <ButtonLink to="/marketplace" variant="default" size="xs">
          {t('wall.all')}
        </ButtonLink>
      }
    >
      <Loaded query={market} lines={10}>
        {(models) => (
          <SimpleGrid cols={COLUMNS} spacing="sm">
            {chosen(models).map((model) => (
              <ModelTile key={model.id} model={model} />
            ))}
          </SimpleGrid>
        )}
      </Loaded>
    </Section>
  );
}

function chosen(models: readonly Model[]): Model[] {
  const callable = models
    .filter(({ available, aliasOf }) => available && aliasOf === null)
    // Models that only edit images come last.
    .sort((a, b) => (a.limits.minInputImages ?? 0) - (b.limits.minInputImages ?? 0));
  return FAMILIES.flatMap((family) =>
    callable.filter((model) => model.family === family).slice(0, MOST_OF_FAMILY),
  ).slice(0, MOST);
}

function ModelLink({ model }: { model: string }) {
  return (
    <TextLink to="/marketplace/$model" params={{ model }} c="inherit" className="tile-link model-name">
      {model}
    </TextLink>
  );
}

function ModelTile({ model }: { model: Model }) {
  const { t } = useTranslation('visitor');
  const FamilyIcon = ICONS[model.family];
  return (
    <Card withBorder component="article" className="tile">
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <FamilyIcon size={24} className="no-shrink tile-icon" aria-hidden />
        <Stack gap="tiny">
          <Title order={3} size="h4">
            <ModelLink model={model.id} />
          </Title>
          <SmallPrint>
            {t(`market.families.${model.family}`)} · {model.vendor}
          </SmallPrint>
          <Text size="sm" component="div">
            <Headline model={model} />
          </Text>
        </Stack>
      </Group>
    </Card>
  );
}
