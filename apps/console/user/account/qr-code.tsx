import { QRCodeSVG } from 'qrcode.react';

/** Loaded only to enrol a device. Scanners need dark on light in any theme. */
export default function QrCode({ value, size, label }: { value: string; size: number; label: string }) {
  return <QRCodeSVG value={value} size={size} marginSize={4} role="img" aria-label={label} />;
}
