import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { exactDecimal } from '../../ui/decimal.js';
import { TextLink } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { Money } from '../../ui/money.js';

export function GroupPrice({ group }: { group: Shape<'Group'> }) {
  const { t } = useTranslation('catalog');
  const locale = useLocale();
  if (group.fixedPerCall !== null) {
    return (
      <span>
        <Money value={group.fixedPerCall} /> {t('groups.eachCall')}
      </span>
    );
  }
  if (group.multiplier === null) return <>{t('groups.withdrawn')}</>;
  return (
    <>
      {t('groups.listPrice')} × {exactDecimal(group.multiplier, locale)}
    </>
  );
}

/** Opens a group beside the list of groups. */
export function GroupLink({ name }: { name: string }) {
  return (
    <TextLink to="/admin/groups" search={{ group: name }} size="sm">
      {name}
    </TextLink>
  );
}
