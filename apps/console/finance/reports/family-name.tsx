import { useTranslation } from 'react-i18next';
import { families } from '../../api/enumerations.js';

/** The name of a model type, where the server sends it among other values. */
export function FamilyName({ family }: { family: string }) {
  const { t } = useTranslation('charts');
  const known = families.find((each) => each === family);
  return <>{known ? t(`families.${known}`) : family}</>;
}
