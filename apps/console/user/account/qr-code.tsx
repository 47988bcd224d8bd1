import { QRCodeSVG } from 'qrcode.react';

/** Loaded when somebody enrols a device. Scanners want dark on light, in whatever theme. */
export default function QrCode({ value, size, label }: { value: string; size: number; label: string }) {
  return <QRCodeSVG value={value} size={size} marginSize={4} role="img" aria-label={label} />;
}
