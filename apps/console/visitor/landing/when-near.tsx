import { Skeleton, VisuallyHidden } from '@mantine/core';
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';

/** How close to the viewport counts as near. */
const NEAR = '10%';
const SKELETON_HEIGHT = 400;

/**
 * What is below the first look, with all that it loads: only when it comes near. Until then its place is kept, so that nothing
 * moves. Whoever goes on by the keyboard may reach it without scrolling, so any key brings it, too.
 */
export function WhenNear({ name, children }: { name: string; children: ReactNode }) {
  const [isNear, setIsNear] = useState(false);
  if (!isNear) return <Ahead name={name} onNear={() => setIsNear(true)} />;
  const place = (
    <div className="ahead">
      <Skeleton height={SKELETON_HEIGHT} />
    </div>
  );
  return <Suspense fallback={place}>{children}</Suspense>;
}

/** Screen readers that jump between headings reach this one, which loads what it stands for. */
function Ahead({ name, onNear }: { name: string; onNear: () => void }) {
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
    addEventListener('beforeprint', bring);
    return () => {
      observer.disconnect();
      removeEventListener('keydown', bring);
      removeEventListener('beforeprint', bring);
    };
  }, []);
  return (
    <div ref={place} className="ahead">
      <VisuallyHidden component="h2">{name}</VisuallyHidden>
    </div>
  );
}
