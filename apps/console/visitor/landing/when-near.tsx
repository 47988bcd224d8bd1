import { Skeleton, VisuallyHidden } from '@mantine/core';
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';

/** How far around what is seen something is near, by its size. */
const NEAR = '10%';
const SKELETON_HEIGHT = 400;

/**
 * What is below the first look, with all that it loads: only when it comes near. Until then its place is kept, so that nothing
 * moves. Whoever goes on by the keyboard may reach it without scrolling, so any key brings it, too.
 */
export function WhenNear({ children }: { children: ReactNode }) {
  const [isNear, setIsNear] = useState(false);
  if (!isNear) return <Ahead onNear={() => setIsNear(true)} />;
  const place = (
    <div className="ahead">
      <Skeleton height={SKELETON_HEIGHT} />
    </div>
  );
  return <Suspense fallback={place}>{children}</Suspense>;
}

/** A screen reader goes to what is said here, and so brings it near. */
function Ahead({ onNear }: { onNear: () => void }) {
  const { t } = useTranslation('shell');
  const place = useRef<HTMLDivElement>(null);
  const come = useRef(onNear);
  useEffect(() => {
    const bring = () => come.current();
    const observer = new IntersectionObserver(
      (seen) => seen.some(({ isIntersecting }) => isIntersecting) && bring(),
      { rootMargin: NEAR },
    );
    observer.observe(place.current!);
    addEventListener('keydown', bring);
    return () => {
      observer.disconnect();
      removeEventListener('keydown', bring);
    };
  }, []);
  return (
    <div ref={place} className="ahead">
      <VisuallyHidden>{t('loading')}</VisuallyHidden>
    </div>
  );
}
