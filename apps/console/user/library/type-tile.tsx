import { Text } from '@mantine/core';
import { IconBox, IconMovie, IconPhoto } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

const ICONS = { image: IconPhoto, video: IconMovie, '3d': IconBox };

interface TypeTileProps {
  type: keyof typeof ICONS;
  /** Such as the format of its file. */
  about?: string | undefined;
}

export function TypeTile({ type, about }: TypeTileProps) {
  const { t } = useTranslation('calls');
  const Icon = ICONS[type];
  return (
    <div className="type-tile" data-type={type}>
      <Icon size={32} stroke={1.4} aria-hidden />
      <Text span size="xs">
        {[t(`families.${type}`), about].filter(Boolean).join(' · ')}
      </Text>
    </div>
  );
}
