import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { useChosenInView } from '../../ui/chosen-in-view.js';
import { hasPage } from './navigation.js';
import { usePlace } from './use-place.js';

/** The pages that share a navigation link with this one. */
export function SectionTabs({ session }: { session: Shape<'Session'> }) {
  const { t } = useTranslation('shell');
  const { workspace, address } = usePlace(session);
  const row = useChosenInView<HTMLElement>(address);
  const section = workspace?.links.find((link) => hasPage(link, address));
  if (!section || section.pages.length < 2) return null;
  return (
    <nav ref={row} className="section-tabs" aria-label={t(`nav.${section.label}`)}>
      {section.pages.map(({ to, label }) => (
        <Link
          key={to}
          to={to}
          // The router compares exactly; this includes pages that a listed one leads to.
          activeOptions={{ exact: true }}
          activeProps={{}}
          className={to === address ? 'active' : undefined}
          aria-current={to === address ? 'page' : undefined}
        >
          {t(`nav.${label}`)}
        </Link>
      ))}
    </nav>
  );
}
