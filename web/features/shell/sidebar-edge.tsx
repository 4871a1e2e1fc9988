import { type KeyboardEvent, type PointerEvent, useState } from 'react'
import { direction } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import {
  MAX_SIDEBAR_WIDTH,
  MIN_SIDEBAR_WIDTH,
  setSidebarWidth,
  useSidebarState,
} from '../layout/sidebar-state.ts'
import styles from './shell.module.css'

const KEY_STEP = 16

/** The edge that is dragged, or moved with the arrow keys, to size the sidebar. */
export function SidebarEdge() {
  const { width } = useSidebarState()
  const [start, setStart] = useState<{ x: number; width: number } | null>(null)
  const sign = direction() === 'ltr' ? 1 : -1

  function onPointerDown(event: PointerEvent<HTMLElement>) {
    event.preventDefault()
    event.currentTarget.setPointerCapture(event.pointerId)
    setStart({ x: event.clientX, width })
  }

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowRight: KEY_STEP * sign, ArrowLeft: -KEY_STEP * sign }[event.key]
    if (step === undefined) return
    event.preventDefault()
    setSidebarWidth(width + step)
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> takes no focus and no value
    <div
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={m.shell_width_of_the_sidebar()}
      aria-valuenow={width}
      aria-valuemin={MIN_SIDEBAR_WIDTH}
      aria-valuemax={MAX_SIDEBAR_WIDTH}
      className={styles.edge}
      data-dragging={start ? '' : undefined}
      onPointerDown={onPointerDown}
      onPointerMove={(event) => start && setSidebarWidth(start.width + (event.clientX - start.x) * sign)}
      onPointerUp={() => setStart(null)}
      onPointerCancel={() => setStart(null)}
      onKeyDown={onKeyDown}
    />
  )
}
