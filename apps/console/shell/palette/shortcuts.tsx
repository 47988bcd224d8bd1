import { Checkbox, Group, Kbd, Stack, Text } from '@mantine/core';
import { useMounted } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../ui/forms/dialog.js';
import { useSingleKeys } from './single-keys.js';

const KEYS = [
  { key: '/', what: 'page' },
  { key: '?', what: 'list' },
] as const;

/** The keys that do something on every page. */
export default function Shortcuts({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const { t } = useTranslation('shell');
  const isLoaded = useMounted();
  const [hasSingleKeys, set] = useSingleKeys();
  return (
    <Dialog opened={isLoaded && isOpen} onClose={close} title={t('shortcuts.title')} size="sm">
      <Stack>
        <Shortcut keys={t('palette.keys')} what={t('shortcuts.everywhere')} />
        {KEYS.map(({ key, what }) => (
          <Shortcut key={key} keys={key} what={t(`shortcuts.${what}`)} />
        ))}
        <Checkbox
          label={t('shortcuts.single')}
          description={t('shortcuts.singleHint')}
          checked={hasSingleKeys}
          onChange={({ currentTarget }) => set(currentTarget.checked)}
        />
      </Stack>
    </Dialog>
  );
}

function Shortcut({ keys, what }: { keys: string; what: string }) {
  return (
    <Group justify="space-between">
      <Text size="sm">{what}</Text>
      <Kbd>{keys}</Kbd>
    </Group>
  );
}
