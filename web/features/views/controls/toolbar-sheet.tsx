import { SlidersHorizontal } from 'lucide-react'
import type { ReactNode } from 'react'
import { m } from '../../../messages.gen.ts'
import styles from './toolbar.module.css'
import { ToolbarButton } from './toolbar-button.tsx'

export interface ToolbarSheetProps {
  /** How much of the view is set up otherwise than by default. */
  count: number
  isOpen: boolean
  onOpen: (open: boolean) => void
  /** The controls. */
  children: ReactNode
}

/** All controls of a narrow window's toolbar behind one button: a sheet at the bottom, in which each has its line. */
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
