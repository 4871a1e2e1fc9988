/** True where the browser reads bar and QR codes by itself and there may be a camera. */
export const canScan = (): boolean => 'BarcodeDetector' in globalThis && 'mediaDevices' in navigator
