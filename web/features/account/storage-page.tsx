import { HardDrive } from 'lucide-react'
import { m } from '../../messages.gen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { trpc } from '../../trpc.ts'
import { EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx'
import { formatBytes } from '../storage/format-bytes.ts'
import styles from './account.module.css'

/** Every base with the room that it takes, the largest first. */
export function StoragePage() {
  const bases = trpc.storage.bases.useQuery()
  if (bases.error && !bases.data)
    return (
      <ErrorState
        title={m.account_base_sizes_load_failed()}
        error={bases.error}
        onRetry={() => void bases.refetch()}
      />
    )
  if (!bases.data) return <Skeleton height={120} />
  if (bases.data.length === 0) return <EmptyState icon={HardDrive} title={m.account_no_bases_yet()} />
  return (
    <div className={styles.form}>
      <p className={styles.note}>{m.account_base_sizes_hint()}</p>
      <table className={styles.sizes}>
        <thead>
          <tr>
            <th scope="col">{m.common_base()}</th>
            <th scope="col">{m.common_size()}</th>
          </tr>
        </thead>
        <tbody>
          {bases.data.map(({ id, title, bytes }) => (
            <tr key={id}>
              <td>
                <a href={hrefOf(paths.base(id))} dir="auto">
                  {title}
                </a>
              </td>
              <td>{bytes === null ? m.account_cannot_be_read() : formatBytes(bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
