import { Progress, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useLocale } from '../../ui/locale.js';

/** Verified tokens, compared with what the reseller rate needs. */
export function Volume({ verified, threshold }: { verified: string; threshold: string }) {
  const { t } = useTranslation('support');
  const locale = useLocale();
  const count = (text: string) => BigInt(text).toLocaleString(locale);
  const percent = BigInt(threshold) === 0n ? 100n : (BigInt(verified) * 100n) / BigInt(threshold);
  const words = t('rate.volume', { verified: count(verified), threshold: count(threshold) });
  return (
    <Stack gap="tiny">
      <Text size="sm">{words}</Text>
      <Progress.Root>
        <Progress.Section
          value={Math.min(100, Number(percent))}
          aria-label={t('rate.progress')}
          aria-valuetext={words}
        />
      </Progress.Root>
    </Stack>
  );
}
