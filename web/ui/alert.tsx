import { CircleAlert, Info } from 'lucide-react'
import type { ReactNode } from 'react'
import styles from './alert.module.css'

/** A message in a tinted box within a form or screen. Screen readers announce errors at once. */
export function Alert({ tone = 'info', children }: { tone?: 'info' | 'error'; children: ReactNode }) {
  return (
    <div className={styles.alert} data-tone={tone} role={tone === 'error' ? 'alert' : 'note'}>
      {tone === 'error' ? <CircleAlert size={16} /> : <Info size={16} />}
      <div className={styles.text}>{children}</div>
    </div>
  )
}
