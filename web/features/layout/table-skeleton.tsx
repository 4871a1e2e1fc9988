import { Skeleton } from '../../ui/states.tsx'
import styles from './table-skeleton.module.css'

const ROWS = Array.from({ length: 12 }, (_, index) => index)
const CARDS = ROWS.slice(0, 8)

/** Placeholder of a view while its code or schema loads; a `canvas` has only a toolbar. */
export function TableSkeleton({ shape = 'rows' }: { shape?: 'rows' | 'cards' | 'canvas' }) {
  return (
    <div className={styles.screen} aria-busy="true">
      <div className={styles.toolbar}>
        <Skeleton width={72} height={18} />
        <Skeleton width={64} height={18} />
        <Skeleton width={64} height={18} />
      </div>
      {shape === 'rows' && <RowBones />}
      {shape === 'cards' && (
        <div className={styles.cards}>
          {CARDS.map((card) => (
            <div key={card} className={styles.card}>
              <Skeleton width={`${50 + ((card * 17) % 35)}%`} height={16} />
              <Skeleton width={`${30 + ((card * 23) % 50)}%`} height={12} />
              <Skeleton width={`${30 + ((card * 37) % 50)}%`} height={12} />
            </div>
          ))}
        </div>
      )}
    </div>
  )
}

const RowBones = () => (
  <>
    <div className={styles.header} />
    {ROWS.map((row) => (
      <div key={row} className={styles.row}>
        <Skeleton width={24} height={12} />
        <Skeleton width={140 + ((row * 37) % 60)} height={12} />
        <Skeleton width={100 + ((row * 53) % 80)} height={12} />
      </div>
    ))}
  </>
)
