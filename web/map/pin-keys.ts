/** Pixels that an arrow key moves a pin, and with Shift. */
const STEP_PX = 8
const LONG_STEP_PX = 64

/** Which way an arrow key moves a pin, in pixels of the screen; null for other keys. */
export function stepOf({
  key,
  shiftKey,
}: {
  key: string
  shiftKey: boolean
}): { x: number; y: number } | null {
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key]
  if (!way) return null
  const [x = 0, y = 0] = way.map((one) => one * (shiftKey ? LONG_STEP_PX : STEP_PX))
  return { x, y }
}

/** One step nearer or further; 0 for keys that do not zoom. `=` is `+` without Shift on many keyboards. */
export const zoomOf = ({ key }: { key: string }): number =>
  ({ '+': 1, '=': 1, '-': -1, '−': -1, _: -1 })[key] ?? 0
