import { Skeleton, Text } from '@mantine/core';
import { useReducedMotion } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  Box3,
  DirectionalLight,
  HemisphereLight,
  type Object3D,
  PerspectiveCamera,
  Scene,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';

type Progress = 'loading' | 'shown' | 'failed';

const FIELD_OF_VIEW = 40;

/** Relative to the distance at which the object just fills the view. */
const DISTANCE = 1.6;

function useMesh(src: string) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const isCalm = useReducedMotion(true, { getInitialValueInEffect: false });
  const [progress, setProgress] = useState<Progress>('loading');
  useEffect(() => {
    const leaving = new AbortController();
    let stage: Stage | undefined;
    const show = async () => {
      const file = await fetch(src, { signal: leaving.signal });
      if (!file.ok) throw new Error(`the file answers ${file.status}`);
      const { scene } = await new GLTFLoader().parseAsync(await file.arrayBuffer(), '');
      if (leaving.signal.aborted || !canvas.current) return;
      stage = new Stage(canvas.current, scene, !isCalm);
      setProgress('shown');
    };
    // Without WebGL or with an invalid file, people can still download it.
    show().catch(() => leaving.signal.aborted || setProgress('failed'));
    return () => {
      leaving.abort();
      stage?.close();
    };
  }, [src, isCalm]);
  return { canvas, progress };
}

/** Turned with the pointer, or with Shift and the arrow keys. It rotates unless people prefer reduced motion. */
export function MeshPreview({ src, label }: { src: string; label: string }) {
  const { t } = useTranslation('calls');
  const { canvas, progress } = useMesh(src);
  if (progress === 'failed') return <Text size="sm">{t('task.meshFailed')}</Text>;
  return (
    <figure className="chart" aria-busy={progress === 'loading'}>
      {progress === 'loading' && <Skeleton height={240} />}
      <canvas
        ref={canvas}
        className="preview mesh"
        hidden={progress === 'loading'}
        role="img"
        aria-label={label}
        tabIndex={0}
      />
      <Text component="figcaption" size="xs" c="dimmed">
        {t('task.meshHint')}
      </Text>
    </figure>
  );
}

class Stage {
  private readonly renderer: WebGLRenderer;
  private readonly camera = new PerspectiveCamera(FIELD_OF_VIEW);
  private readonly scene = new Scene();
  private readonly controls: OrbitControls;
  private readonly resized: ResizeObserver;

  /** @throws Error where the browser has no WebGL */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    object: Object3D,
    autoRotate: boolean,
  ) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.scene.add(object, new HemisphereLight('white', 'gray', 2), this.camera);
    const sun = new DirectionalLight('white', 2);
    sun.position.set(1, 1, 1);
    this.camera.add(sun);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.autoRotate = autoRotate;
    this.controls.listenToKeyEvents(canvas);
    this.lookAt(object);
    this.resized = new ResizeObserver(() => this.fit());
    this.resized.observe(canvas);
    this.renderer.setAnimationLoop(() => {
      this.controls.update();
      this.renderer.render(this.scene, this.camera);
    });
  }

  close(): void {
    this.resized.disconnect();
    this.controls.dispose();
    this.renderer.setAnimationLoop(null);
    this.renderer.dispose();
  }

  private lookAt(object: Object3D): void {
    const box = new Box3().setFromObject(object);
    const size = box.getSize(new Vector3()).length() || 1;
    const away = (size / 2 / Math.tan((FIELD_OF_VIEW * Math.PI) / 360)) * DISTANCE;
    box.getCenter(this.controls.target);
    this.camera.position.copy(this.controls.target).add(new Vector3(0.6, 0.4, 1).setLength(away));
    this.camera.near = away / 100;
    this.camera.far = away * 100;
  }

  private fit(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(window.devicePixelRatio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }
}
