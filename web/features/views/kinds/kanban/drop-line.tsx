import { useStore } from 'zustand'
import { useParts } from './board-context.ts'
import styles from './kanban.module.css'
import type { StackKey } from './stack-by.ts'

/** The line where dragged cards would land in a stack; `isWhole`: the stack lights up instead. */
export function DropLine({ stackKey, isWhole = false }: { stackKey: StackKey; isWhole?: boolean }) {
  const { drag } = useParts()
  const line = useStore(drag.current, (current) => {
    return current?.kind === 'cards' && current.over?.key === stackKey ? current.over.line : null
  })
  if (line === null) return null
  return (
    <div
      aria-hidden
      className={isWhole ? styles.dropWhole : styles.dropLine}
      style={isWhole ? undefined : { insetBlockStart: line - 5 }}
      data-testid="drop-line"
    />
  )
}
