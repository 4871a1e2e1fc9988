import { Skeleton } from '../../../../ui/states.tsx'
import styles from './kanban.module.css'

/** The outline of a card that is on its way. */
export function CardBone({ index, height }: { index: number; height: number }) {
  return (
    <div className={styles.bone} style={{ blockSize: height }} aria-hidden data-testid="card-bone">
      <Skeleton width={`${45 + ((index * 17) % 40)}%`} height={16} />
      <Skeleton width={`${35 + ((index * 29) % 50)}%`} height={12} />
    </div>
  )
}
