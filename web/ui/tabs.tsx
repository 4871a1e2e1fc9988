import { type KeyboardEvent, type ReactNode, useId } from 'react'
import { Skeleton } from './states.tsx'
import styles from './tabs.module.css'

interface TabsProps<Id extends string> {
  /** Name of the list. */
  label: string
  tabs: readonly { id: Id; label: ReactNode }[]
  selected: NoInfer<Id>
  onSelect(id: NoInfer<Id>): void
  className?: string
  panelClassName?: string
  /** True if a dialog that opens focuses the selected tab. */
  autoFocus?: boolean
  /** The content of the selected tab. */
  children: ReactNode
}

/**
 * Tabs and the panel of the selected one. The list is one tab stop: arrow keys, Home and End move the focus along it,
 * Enter or a click selects (https://www.w3.org/WAI/ARIA/apg/patterns/tabs/).
 */
export function Tabs<Id extends string>(props: TabsProps<Id>): ReactNode {
  const { label, tabs, selected, onSelect, className = '', panelClassName, autoFocus, children } = props
  const id = useId()
  return (
    <>
      <div role="tablist" aria-label={label} className={`${styles.tabs} ${className}`} onKeyDown={moveFocus}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${id}-${tab.id}`}
            type="button"
            role="tab"
            className={styles.tab}
            aria-selected={tab.id === selected}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === selected ? 0 : -1}
            data-autofocus={(autoFocus && tab.id === selected) || undefined}
            onClick={() => onSelect(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${selected}`}
        className={panelClassName}
      >
        {children}
      </div>
    </>
  )
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')]
  const at = tabs.indexOf(event.target as HTMLElement)
  const forward = getComputedStyle(event.currentTarget).direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
  const next = { Home: 0, End: -1, ArrowLeft: at - 1, ArrowRight: at - 1, [forward]: at + 1 }[event.key]
  if (next === undefined) return
  event.preventDefault()
  tabs.at(next % tabs.length)?.focus()
}

/** Tabs while it is unknown which there are. */
export const TabsSkeleton = ({ className = '' }: { className?: string }): ReactNode => (
  <div className={`${styles.tabs} ${className}`}>
    <span className={styles.tab}>
      <Skeleton width={64} />
    </span>
  </div>
)
