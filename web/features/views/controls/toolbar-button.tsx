import type { ComponentType, ReactNode } from 'react'
import { useState } from 'react'
import { formatNumber } from '../../../i18n.ts'
import { Popover } from '../../../ui/overlays.ts'
import styles from './toolbar.module.css'

export interface ToolbarButtonProps {
  icon: ComponentType<{ size?: number | string }>
  label: string
  /** Number of active settings; highlights the button. */
  count?: number
  /** Formats the count if a bare number is ambiguous: `3 hidden`. */
  countText?: string
  /** Tooltip with the current setting. */
  tip?: string
  shortcut?: string
  testId?: string
  /** Controlled open state; absent if only the button opens the panel. */
  isOpen?: boolean
  onOpen?: (open: boolean) => void
  /** Renders the panel. */
  children: (close: () => void) => ReactNode
}

/** A toolbar button that opens a panel and indicates its active settings. */
export function ToolbarButton(props: ToolbarButtonProps) {
  const { icon: Icon, label, count = 0, countText, tip, shortcut, testId, children } = props
  const [isOpenHere, setOpenHere] = useState(false)
  const [button, setButton] = useState<HTMLButtonElement | null>(null)
  const isOpen = props.isOpen ?? isOpenHere
  const setOpen = props.onOpen ?? setOpenHere
  const close = () => setOpen(false)
  return (
    <>
      <button
        ref={setButton}
        type="button"
        className={styles.button}
        data-active={count > 0 || undefined}
        data-tip={tip || label}
        data-tip-keys={shortcut}
        data-testid={testId}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon size={15} />
        <span className={styles.buttonLabel} dir="auto">
          {label}
        </span>
        {count > 0 && <span className={styles.count}>{countText ?? formatNumber(count)}</span>}
      </button>
      {isOpen && button && (
        <Popover anchor={button} onClose={close} label={label} className={styles.panel} isSheetOnPhones>
          {children(close)}
        </Popover>
      )}
    </>
  )
}
