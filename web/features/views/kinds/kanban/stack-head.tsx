import { ChevronDown, ChevronRight, Plus } from 'lucide-react'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { formatNumber } from '../../../../i18n.ts'
import { m } from '../../../../messages.gen.ts'
import { IconButton } from '../../../../ui/button.tsx'
import { shortcutLabel } from '../../../../ui/shortcuts.ts'
import { Skeleton } from '../../../../ui/states.tsx'
import { useParts } from './board-context.ts'
import styles from './kanban.module.css'
import { StackName } from './stack-name.tsx'
import type { Stack } from './stacks.ts'

interface StackHeadProps {
  stack: Stack
  /** Null while it is not known. */
  count: number | null
}

/** What a stack is called, how many cards it has, and its menu. */
export function StackHead({ stack, count }: StackHeadProps) {
  const { board, mayAdd, titleOf, summaryOf, onStackMenu, onAdd, onExpand } = useParts()
  const { key, isCollapsed } = stack
  const { button, isActive } = useHeadFocus(stack)
  const title = titleOf(key)
  const summary = isCollapsed ? null : summaryOf(stack)
  const name = [
    title,
    ...(count === null ? [] : [m.common_records_count({ count })]),
    ...(summary ? [`${summary.label} ${summary.value}`] : []),
  ].join(', ')
  return (
    <header className={styles.head} data-stack-grip>
      <button
        ref={button}
        type="button"
        tabIndex={isActive ? 0 : -1}
        className={styles.headButton}
        data-stack-head
        data-testid="stack-head"
        aria-haspopup={isCollapsed ? undefined : 'menu'}
        aria-expanded={isCollapsed ? false : undefined}
        onClick={(event) => (isCollapsed ? onExpand(key) : onStackMenu(key, event.currentTarget))}
      >
        <span className="visually-hidden">{name}</span>
        {isCollapsed && <ChevronRight size={14} className="flip-in-rtl" aria-hidden />}
        <span className={styles.name} aria-hidden>
          <StackName stack={stack} by={board.by} title={title} />
        </span>
        <span className={styles.count} data-testid="stack-count" aria-hidden>
          {count === null ? <Skeleton width={18} height={12} /> : formatNumber(count)}
        </span>
        {!isCollapsed && <ChevronDown size={14} className={styles.caret} aria-hidden />}
      </button>
      {!isCollapsed && mayAdd(key) && (
        <IconButton
          icon={Plus}
          size="small"
          tabIndex={-1}
          data-interactive
          label={m.kanban_new_record_in_stack({ stack: title })}
          shortcut={shortcutLabel('alt+r')}
          onClick={() => onAdd(key, 'top')}
        />
      )}
      {summary && (
        <span className={styles.summary} data-testid="stack-summary">
          {summary.label} <strong>{summary.value}</strong>
        </span>
      )}
    </header>
  )
}

function useHeadFocus({ key }: Stack) {
  const { place } = useParts()
  const button = useRef<HTMLButtonElement>(null)
  const isActive = useSyncExternalStore(place.subscribe, () => place.isAt(key, null))
  useEffect(() => {
    if (isActive && place.takeFocus()) button.current?.focus({ preventScroll: true })
  })
  return { button, isActive }
}
