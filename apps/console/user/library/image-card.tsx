import { Card, Group, Stack } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { exactDecimal } from '../../ui/decimal.js';
import { OpenLink, TextLink } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { Money } from '../../ui/money.js';
import { SmallPrint, TextLine } from '../../ui/texts.js';
import { useNow } from '../../ui/time/now.js';
import { Ago } from '../../ui/time/when.js';
import { TimeLeft } from '../tasks/task-file.js';
import { type KeptImage, useKeptImages } from './kept-images.js';
import { TypeTile } from './type-tile.js';

const MINUTE_MS = 60_000;

/** One card per request, with its images as long as they are kept. */
export function ImageCard({ entry }: { entry: Shape<'UsageEntry'> }) {
  const { t } = useTranslation('calls');
  const locale = useLocale();
  const { chargeId, model, requestedModel, at, settled } = entry;
  const units = entry.deliveredUnits ?? entry.units ?? '0';
  const name = requestedModel ?? model ?? chargeId;
  const { ref, inViewport } = useInViewport<HTMLLIElement>();
  const images = useKeptImages(entry, inViewport);
  return (
    <Card ref={ref} component="li" withBorder>
      <Card.Section>
        <Thumbnail images={images} />
      </Card.Section>
      <Stack gap="xs" mt="sm" flex={1}>
        <OpenLink param="charge" value={chargeId} size="sm" fw={600} c="inherit" className="model-name">
          {name}
        </OpenLink>
        <SmallPrint>
          {t('units.image', { count: Number(units), units: exactDecimal(units, locale) })} · <Ago at={at} />
        </SmallPrint>
        <Expiry images={images ?? []} />
        <Group justify="space-between" mt="auto">
          <TextLine>
            <Money value={settled ?? '0'} />
          </TextLine>
          <Again model={requestedModel ?? model ?? undefined} name={name} />
        </Group>
      </Stack>
    </Card>
  );
}

function Thumbnail({ images }: { images: readonly KeptImage[] | undefined }) {
  const { t } = useTranslation('calls');
  if (images && images.length > 0) return <Images images={images} />;
  return (
    <div className="thumbnail">
      <TypeTile type="image" about={images && t('library.notStored')} />
    </div>
  );
}

function Again({ model, name }: { model: string | undefined; name: string }) {
  const { t } = useTranslation('calls');
  return (
    <TextLink
      to="/playground"
      search={{ kind: 'image', model }}
      size="sm"
      aria-label={t('library.againOf', { prompt: name })}
    >
      {t('library.again')}
    </TextLink>
  );
}

/** Each opens in a tab of its own, where it can be saved. */
function Images({ images }: { images: readonly KeptImage[] }) {
  const { t } = useTranslation('calls');
  return (
    <div className="thumbnail thumbnails">
      {images.map(({ index, src }) => (
        <a key={index} href={src} target="_blank" rel="noreferrer">
          <img src={src} alt={t('library.image', { number: index + 1 })} />
        </a>
      ))}
    </div>
  );
}

function Expiry({ images }: { images: readonly KeptImage[] }) {
  const now = useNow(MINUTE_MS, images.length > 0);
  const [first] = images;
  if (!first) return null;
  return (
    <SmallPrint>
      <TimeLeft ms={first.expiresMs - now} />
    </SmallPrint>
  );
}
