import { type CSSProperties, type ReactNode, useCallback } from 'react'
import type { GridProps } from '../contract.ts'
import { useEngine } from '../engine.ts'
import type { gridEvents } from '../events.ts'
import { type ColumnLayout, HEADER_HEIGHT, ROW_HEIGHTS } from '../layout.ts'
import { useStore } from '../store.ts'
import styles from './receiver.module.css'

interface ReceiverProps {
  props: GridProps
  layout: ColumnLayout
  gridId: string
  /** Absent until input is handled. */
  events: ReturnType<typeof gridEvents> | undefined
}

/**
 * The focused element while cells are selected: an invisible text area over the active cell, because input methods,
 * dead keys, emoji panels and dictation write only into text inputs. It represents the grid to screen readers and
 * points at the active cell.
 */
export function Receiver({ props, layout, gridId, events }: ReceiverProps): ReactNode {
  const engine = useEngine()
  const isComposing = useStore(engine.mode).name === 'composing'
  const height = ROW_HEIGHTS[props.rowHeight]
  useStore(engine.selection)
  // A new function for each render would be called with null while a closing editor gives the focus back.
  const receive = useCallback(
    (element: HTMLTextAreaElement | null) => {
      engine.receiver = element
    },
    [engine],
  )
  return (
    <textarea
      ref={receive}
      className={styles.receiver}
      style={placeOf(engine.active, { engine, layout, height })}
      data-testid="grid-keys"
      data-shortcuts
      data-composing={isComposing || undefined}
      rows={1}
      dir="auto"
      autoComplete="off"
      autoCorrect="off"
      autoCapitalize="off"
      spellCheck={false}
      // On touch devices, only an editor shows the on-screen keyboard.
      inputMode={matchMedia('(hover: none)').matches ? 'none' : 'text'}
      aria-label={props.label}
      aria-controls={gridId}
      aria-multiline={false}
      onKeyDown={events?.onKeyDown}
      onFocus={events?.onFocus}
      onCompositionStart={events?.onCompositionStart}
      onCompositionEnd={events?.onCompositionEnd}
      onInput={events?.onInput}
      onBlur={events?.onBlur}
    />
  )
}

interface Place {
  engine: ReturnType<typeof useEngine>
  layout: ColumnLayout
  height: number
}

/** Positioned over the active cell, so that the input method opens there. */
function placeOf(
  active: { row: number; column: number } | null,
  { engine, layout, height }: Place,
): CSSProperties {
  const { viewport } = engine
  const start = active ? layout.starts[active.column] : undefined
  if (!active || start === undefined) return { insetInlineStart: 0, insetBlockStart: HEADER_HEIGHT }
  const width = (layout.starts[active.column + 1] ?? start) - start
  const inline = active.column < layout.frozen ? start : start - viewport.inline
  const top = engine.lines.topOf(active.row) - viewport.top
  const within = (value: number, most: number) => Math.max(0, Math.min(value, most))
  return {
    insetInlineStart: within(inline, viewport.width.get() - 40),
    insetBlockStart: HEADER_HEIGHT + within(top, viewport.bodyHeight - height),
    inlineSize: width,
    blockSize: height,
  }
}
