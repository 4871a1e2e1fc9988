import type { ReactNode } from 'react'
import { formatNumber } from '../i18n.ts'
import styles from './view.module.css'

interface HiddenCountProps {
  count: number
  /** What is hidden. */
  title?: string
}

/** "+n" for the items of a cell that do not fit. */
export function HiddenCount({ count, title }: HiddenCountProps): ReactNode {
  return (
    <span className={styles.more} dir="ltr" title={title}>
      +{formatNumber(count)}
    </span>
  )
}
