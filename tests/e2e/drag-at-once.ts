import type { Page } from 'playwright-core'

interface Point {
  x: number
  y: number
}

interface DragAtOnce {
  from: Point
  to: Point
  /** The events that the drag listens to. */
  by: 'pointer' | 'mouse'
  isCancelled?: boolean
}

/** Presses, drags and ends in one task, as on a busy machine, so that nothing renders between the start and the end. */
export const dragAtOnce = (page: Page, drag: DragAtOnce): Promise<void> =>
  page.evaluate(async ({ from, to, by, isCancelled }) => {
    const send = (type: string, { x, y }: { x: number; y: number }) => {
      const init = { bubbles: true, cancelable: true, clientX: x, clientY: y }
      const event =
        by === 'mouse'
          ? new MouseEvent(type, init)
          : new PointerEvent(type, { ...init, isPrimary: true, pointerType: 'mouse' })
      document.elementFromPoint(x, y)?.dispatchEvent(event)
    }
    send(`${by}down`, from)
    await new Promise((resolve) => setTimeout(resolve))
    send(`${by}move`, { x: from.x + 9, y: from.y })
    send(`${by}move`, to)
    send(isCancelled ? `${by}cancel` : `${by}up`, to)
  }, drag)
