import { Card, Group, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { exactDecimal } from '../../ui/decimal.js';
import { OpenLink, TextLink } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { Money } from '../../ui/money.js';
import { SmallPrint, TextLine } from '../../ui/texts.js';
import { Ago } from '../../ui/when.js';

/** A request for images: what it made and cost. */
export function ImageCard({ entry }: { entry: Shape<'UsageEntry'> }) {
  const { t } = useTranslation('calls');
  const locale = useLocale();
  const { chargeId, model, requestedModel, at, settled } = entry;
  const units = entry.deliveredUnits ?? entry.units ?? '0';
  const name = requestedModel ?? model ?? chargeId;
  return (
    <Card component="li" withBorder>
      <Stack gap="xs">
        <OpenLink param="charge" value={chargeId} size="sm" className="model-name">
          {name}
        </OpenLink>
        <SmallPrint>
          {t('units.picture', { count: Number(units), units: exactDecimal(units, locale) })} · <Ago at={at} />
        </SmallPrint>
        <Group justify="space-between">
          <TextLine>
            <Money value={settled ?? '0'} />
          </TextLine>
          <TextLink
            to="/playground"
            search={{ kind: 'image', model: requestedModel ?? model ?? undefined }}
            size="sm"
            aria-label={t('library.againOf', { prompt: name })}
          >
            {t('library.again')}
          </TextLink>
        </Group>
      </Stack>
    </Card>
  );
}
