import { useInViewport } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { exactDecimal } from '../../ui/decimal.js';
import { useLocale } from '../../ui/locale.js';
import { useNow } from '../../ui/time/now.js';
import { type KeptImage, useKeptImages } from './kept-images.js';
import { Again, LibraryCard } from './library-card.js';
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
  const now = useNow(MINUTE_MS, (images ?? []).length > 0);
  const [first] = images ?? [];
  return (
    <LibraryCard
      ref={ref}
      thumbnail={<Thumbnail images={images} />}
      opens={{ param: 'charge', value: chargeId }}
      title={name}
      about={t('units.image', { count: Number(units), units: exactDecimal(units, locale) })}
      at={at}
      leftMs={first ? first.expiresMs - now : null}
      cost={settled ?? '0'}
      again={<Again search={{ kind: 'image', model: requestedModel ?? model ?? undefined }} prompt={name} />}
    />
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
