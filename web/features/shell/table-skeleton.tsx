import { Skeleton } from '../../ui/states.tsx'
import styles from './table-skeleton.module.css'

const ROWS = Array.from({ length: 12 }, (_, index) => index)

/** The grid's frame while its code or its schema is on the way. */
export function TableSkeleton() {
  return (
    <div className={styles.screen} aria-busy="true">
      <div className={styles.toolbar}>
        <Skeleton width={72} height={18} />
        <Skeleton width={64} height={18} />
        <Skeleton width={64} height={18} />
      </div>
      <div className={styles.header} />
      {ROWS.map((row) => (
        <div key={row} className={styles.row}>
          <Skeleton width={24} height={12} />
          <Skeleton width={140 + ((row * 37) % 60)} height={12} />
          <Skeleton width={100 + ((row * 53) % 80)} height={12} />
        </div>
      ))}
    </div>
  )
}
