import { SlidersHorizontal } from 'lucide-react'
import type { ReactNode } from 'react'
import { m } from '../../../messages.gen.ts'
import styles from './toolbar.module.css'
import { ToolbarButton } from './toolbar-button.tsx'

export interface ToolbarSheetProps {
  /** Number of active settings. */
  count: number
  isOpen: boolean
  onOpen: (open: boolean) => void
  /** The controls. */
  children: ReactNode
}

/** Narrow windows show all toolbar controls in a bottom sheet, opened by one button. */
export function ToolbarSheet({ count, isOpen, onOpen, children }: ToolbarSheetProps) {
  return (
    <ToolbarButton
      icon={SlidersHorizontal}
      label={m.views_view_settings()}
      count={count}
      isOpen={isOpen}
      onOpen={onOpen}
      testId="controls-button"
    >
      {() => <div className={styles.sheet}>{children}</div>}
    </ToolbarButton>
  )
}
